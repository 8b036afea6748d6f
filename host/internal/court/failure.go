package court

import (
	"errors"

	"github.com/shadowcourt/shadowcourt/host/internal/runtime/invoker"
)

// timed gives the error of a call, or that the time was over: then that is
// the cause, whatever the module did.
func (t *trial) timed(err error) error {
	if err == nil || !t.expired() {
		return err
	}
	var f *Failure
	if !errors.As(err, &f) || f.Cause == invoker.CauseWallClock || f.HostSide {
		return errTTL
	}
	return err
}

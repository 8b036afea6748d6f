package court

import (
	"errors"

	"github.com/shadowcourt/shadowcourt/host/trial"
)

// timed gives the error of a call, or that the time was over: then that is
// the cause, whatever the module did.
func (t *runner) timed(err error) error {
	if err == nil || !t.expired() {
		return err
	}
	var f *trial.Failure
	if !errors.As(err, &f) || f.Code == trial.CauseWallClock || f.HostSide {
		return errTTL
	}
	return err
}

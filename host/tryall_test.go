package host_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket"
)

// Every entry that TryAll reads comes back, also when the context ends meanwhile: what was not tried to the end wraps its cause.
func TestTryAllReportsInterruptedCases(t *testing.T) {
	t.Parallel()
	h := shared(t)
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	read := 0
	endless := func(yield func(docket.Entry, error) bool) {
		for {
			read++
			if !yield(docket.Entry{Case: dispute()}, nil) {
				return
			}
		}
	}
	yielded, interrupted := 0, 0
	for tried := range h.TryAll(ctx, endless, 4) {
		if yielded++; yielded == 5 {
			cancel(cause)
		}
		if tried.Err == nil {
			continue
		}
		interrupted++
		if !errors.Is(tried.Err, cause) || !strings.HasPrefix(tried.Err.Error(), `case "`) {
			t.Errorf("error %v", tried.Err)
		}
	}
	if read != yielded || interrupted == 0 {
		t.Errorf("%d entries were read, %d yielded, %d of them interrupted", read, yielded, interrupted)
	}
	for range h.TryAll(ctx, func(yield func(docket.Entry, error) bool) {
		t.Error("an entry is read after the end of the context")
		yield(docket.Entry{Case: abi.Case{}}, nil)
	}, 2) {
		t.Error("an entry is yielded that nobody read")
	}
}

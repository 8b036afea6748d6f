package court

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestTimeStandsStillWhileATrialWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		limit := &timeLimit{now: time.Now}
		ctx := limit.context(t.Context(), 10*time.Second)
		defer limit.free()
		time.Sleep(6 * time.Second)
		resume := limit.pause()
		time.Sleep(time.Hour)
		resume()
		time.Sleep(3 * time.Second)
		if ctx.Err() != nil || limit.pausedFor() != time.Hour {
			t.Fatalf("after 9 of 10 seconds: %v, paused for %v", ctx.Err(), limit.pausedFor())
		}
		time.Sleep(2 * time.Second)
		if !errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
			t.Fatalf("after 11 seconds: %v", context.Cause(ctx))
		}
		limit.pause()()
		if ctx.Err() == nil {
			t.Error("a limit that has passed does not stay passed")
		}
	})
}

package run

import (
	"context"
	"time"

	"github.com/shadowcourt/shadowcourt/host"
)

// Follow has a host or an auditor follow a folder of modules, which it looks at after each interval. The stop function waits for
// the end of a swap that goes on. A change is taken when two looks saw the same, so that it takes one to two intervals.
func Follow(ctx context.Context, interval time.Duration, follow func(context.Context, host.Watch), w host.Watch) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	ticker := time.NewTicker(interval)
	w.Ticks = ticker.C
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		follow(ctx, w)
	}()
	return func() {
		ticker.Stop()
		cancel()
		<-ended
	}
}

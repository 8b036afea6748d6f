package service

import (
	"context"
	"testing"
)

// What outlives its request is told to end when the process is, and is waited for.
func TestBackgroundEndsWithItsProcess(t *testing.T) {
	t.Parallel()
	s := &Service{stop: make(chan struct{})}
	ctx, cancel := context.WithCancel(t.Context())
	running, ended := make(chan struct{}), false
	s.inBackground(ctx, func(ctx context.Context) {
		close(running)
		<-ctx.Done()
		ended = true
	})
	<-running
	cancel() // the request
	close(s.stop)
	s.background.Wait()
	if !ended {
		t.Error("it was not waited for")
	}
}

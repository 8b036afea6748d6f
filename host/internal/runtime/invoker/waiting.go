package invoker

import "context"

type pauseKey struct{}

// WithPause gives a context under which a trial waits for experiments: pause stops its time limit, and gives what lets it run
// on.
func WithPause(ctx context.Context, pause func() (resume func())) context.Context {
	return context.WithValue(ctx, pauseKey{}, pause)
}

// Pause stops the time limit of the trial, where there is one, until resume is called.
func Pause(ctx context.Context) (resume func()) {
	if pause, ok := ctx.Value(pauseKey{}).(func() (resume func())); ok {
		return pause()
	}
	return func() {}
}

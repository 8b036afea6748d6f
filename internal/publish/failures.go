package publish

import (
	"context"
	"fmt"
)

// mostFailures in a row end the work: the server is gone, or rejects the token.
const mostFailures = 5

// Failures counts requests that failed in a row. Its zero value is ready.
type Failures struct{ inRow int }

// Stopped says why nothing more is tried; nil to go on.
func (f *Failures) Stopped(ctx context.Context) error {
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case f.inRow >= mostFailures:
		return fmt.Errorf("not tried, after %d failures in a row", mostFailures)
	}
	return nil
}

// Count counts what came of a request.
func (f *Failures) Count(err error) {
	if err == nil {
		f.inRow = 0
	} else {
		f.inRow++
	}
}

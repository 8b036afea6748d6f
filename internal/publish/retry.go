package publish

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/shadowcourt/shadowcourt/internal/httplimit"
)

// Limits of waiting for a server that asks for it.
const (
	maxRetries = 3
	maxWait    = time.Minute
)

// Patient is a client like c that waits as a server asks for with Retry-After and status 403 or 429: at most three times a request, a minute
// each. What takes longer is answered as it is.
func Patient(c *http.Client, wait func(context.Context, time.Duration) error) *http.Client {
	return &http.Client{Transport: patient{c, wait}, CheckRedirect: c.CheckRedirect}
}

type patient struct {
	client *http.Client
	wait   func(context.Context, time.Duration) error
}

// RoundTrip sends a request, and sends it again after a wait.
func (p patient) RoundTrip(r *http.Request) (*http.Response, error) {
	for tried := 0; ; tried++ {
		answer, err := p.client.Do(r) //nolint:gosec // the client goes to its own server alone
		if wrapped := (*url.Error)(nil); errors.As(err, &wrapped) {
			err = wrapped.Err // the outer client adds the address
		}
		if err != nil {
			return nil, err
		}
		after, asked := retryAfter(answer)
		if !asked || tried == maxRetries || r.Body != nil && r.GetBody == nil {
			return answer, nil
		}
		_ = answer.Body.Close()
		if err := p.wait(r.Context(), after); err != nil {
			return nil, err
		}
		r = r.Clone(r.Context())
		if r.GetBody != nil {
			if r.Body, err = r.GetBody(); err != nil {
				return nil, err
			}
		}
	}
}

// retryAfter is the time that a server asks to wait, if that is worth it.
func retryAfter(answer *http.Response) (time.Duration, bool) {
	if answer.StatusCode != http.StatusForbidden && answer.StatusCode != http.StatusTooManyRequests {
		return 0, false
	}
	after, ok := httplimit.RetryAfter(answer.Header.Get("Retry-After"), time.Now()) //nolint:forbidigo // the server's dates are by the world's clock
	return after, ok && after <= maxWait
}

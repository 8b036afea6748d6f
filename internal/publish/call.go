package publish

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"time"

	"github.com/shadowcourt/shadowcourt/internal/httplimit"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
)

// api makes requests with JSON to a server. It is safe for concurrent use.
type api struct {
	server *Server
	client *http.Client
}

// newAPI is the API of a server. It waits where the server asks for it, see [patientClient].
func newAPI(s *Server) *api { return &api{s, patientClient(s.Client(), Wait)} }

// apiRequest is one of an [api].
type apiRequest struct {
	Method string
	// Path are the elements of the path below the server's base. Each is escaped.
	Path  []string
	Query url.Values
	// Send is the body, as a value for encoding/json; nil for none.
	Send any
}

// call makes a request and reads the JSON of the answer into got, unless that is nil. What is no success, not JSON or not of got's form is an
// error that names the request.
func (a *api) call(ctx context.Context, r apiRequest, got any) error {
	at := a.server.Base.JoinPath()
	for _, element := range r.Path {
		if element == "" || element == "." || element == ".." {
			return fmt.Errorf("%q is not an element of a path", element)
		}
		at = at.JoinPath(url.PathEscape(element))
	}
	at.RawQuery = r.Query.Encode()
	var body io.Reader = http.NoBody
	if r.Send != nil {
		data, err := json.Marshal(r.Send)
		if err != nil {
			return err
		}
		body = bytes.NewReader(data)
	}
	request, err := http.NewRequestWithContext(ctx, r.Method, at.String(), body)
	if err != nil {
		return err
	}
	request.Header.Set("Accept", "application/json")
	if r.Send != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	answer, err := a.client.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode < 200 || answer.StatusCode > 299 {
		return failedAnswer(answer)
	}
	if got == nil {
		return nil
	}
	named := func(what string) error { return fmt.Errorf("%s %s: %s", r.Method, sanitize.Line(at.Path), what) }
	if kind := answer.Header.Get("Content-Type"); !isJSON(kind) {
		return named(fmt.Sprintf("the answer is %q, not JSON", sanitize.Cut(sanitize.Line(kind), maxQuoted)))
	}
	data, err := io.ReadAll(answer.Body)
	if err != nil {
		return fmt.Errorf("%s %s: %w", r.Method, sanitize.Line(at.Path), err)
	}
	if err := json.Unmarshal(data, got); err != nil {
		return named("the answer has another form than the API describes: " + sanitize.Cut(sanitize.Line(err.Error()), maxQuoted))
	}
	return nil
}

func isJSON(kind string) bool {
	media, _, err := mime.ParseMediaType(kind)
	return err == nil && (media == "application/json" || len(media) > 5 && media[len(media)-5:] == "+json")
}

// Limits of waiting for a server that asks for it.
const (
	maxRetries = 3
	maxWait    = time.Minute
)

// patientClient is a client like c that waits as a server asks for with Retry-After and status 403 or 429: at most three times a request, a minute
// each. What takes longer is answered as it is.
func patientClient(c *http.Client, wait func(context.Context, time.Duration) error) *http.Client {
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

// mostFailures in a row end the work: the server is gone, or rejects the token.
const mostFailures = 5

// failureCount counts requests that failed in a row. Its zero value is ready.
type failureCount struct{ inRow int }

// stopped says why nothing more is tried; nil to go on.
func (f *failureCount) stopped(ctx context.Context) error {
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case f.inRow >= mostFailures:
		return fmt.Errorf("not tried, after %d failures in a row", mostFailures)
	}
	return nil
}

// count counts what came of a request.
func (f *failureCount) count(err error) {
	if err == nil {
		f.inRow = 0
	} else {
		f.inRow++
	}
}

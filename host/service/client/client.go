// Package client talks to the docket service: it submits dockets and reads their trials.
package client

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/shadowcourt/shadowcourt/host/service/wire"
)

// Client is one of a service. Safe for concurrent use.
type Client struct {
	base  *url.URL
	token string
	http  *http.Client
}

// New makes a client of the service at a URL such as https://court.example. The token may be empty for a service on this machine.
func New(server, token string) (*Client, error) {
	base, err := url.Parse(server)
	if err != nil || base.Host == "" || base.Scheme != "https" && base.Scheme != "http" || base.RawQuery != "" || base.Fragment != "" || base.User != nil {
		return nil, fmt.Errorf("%q is no address of a server: use one such as https://court.example", server)
	}
	base.Path = strings.TrimSuffix(base.Path, "/")
	return &Client{base: base, token: token, http: &http.Client{
		// A token goes to nobody else.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

// Error is the answer of the service to a request that it rejects.
type Error struct {
	Status int    `json:"status"`
	Code   string `json:"code"`
	Detail string `json:"detail"`
	Faults []struct {
		Path    string `json:"path"`
		Message string `json:"message"`
	} `json:"errors"`
	Omitted int `json:"omitted"`
	server  string
}

// Error says what the service says, each fault on a line.
func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: ", e.server)
	if e.Detail == "" {
		fmt.Fprintf(&b, "the server answered with status %d", e.Status)
	}
	b.WriteString(e.Detail)
	for _, f := range e.Faults {
		b.WriteString("\n")
		if f.Path != "" {
			b.WriteString(f.Path + ": ")
		}
		b.WriteString(f.Message)
	}
	if e.Omitted > 0 {
		fmt.Fprintf(&b, "\nand %d more", e.Omitted)
	}
	return b.String()
}

// Docket is a docket of the service.
type Docket struct {
	ID     int64  `json:"id"`
	State  string `json:"state"`
	Format string `json:"format"`
	Cases  int    `json:"cases"`
	Tried  int    `json:"tried"`
	Faults int    `json:"faults"`
}

// Submission is how a docket is submitted. Zero fields leave it to the service.
type Submission struct {
	Name, Repository, Revision string
	Format                     string
	Generation                 int64
	NoGroups                   bool // try each failure by itself
	Truth                      bool // take the defect types of an export of ReportPortal for the truth
	Key                        string
}

// Submit sends a docket, compressed. Where the body can be read again from its beginning, and there is a key, it is sent again after
// faults of the connection and when the service asks to wait.
func (c *Client) Submit(ctx context.Context, s *Submission, body io.Reader) (*Docket, error) {
	q := url.Values{}
	for name, value := range map[string]string{"name": s.Name, "repository": s.Repository, "revision": s.Revision, "format": s.Format} {
		if value != "" {
			q.Set(name, value)
		}
	}
	if s.Generation > 0 {
		q.Set("generation", strconv.FormatInt(s.Generation, 10))
	}
	if s.NoGroups {
		q.Set("groups", "false")
	}
	if s.Truth {
		q.Set("truth", "true")
	}
	again, _ := body.(io.Seeker)
	if s.Key == "" {
		again = nil
	}
	for attempt := 1; ; attempt++ {
		d := &Docket{}
		wait, err := c.submit(ctx, q, s.Key, body, d)
		if err == nil {
			return d, nil
		}
		if again == nil || wait == 0 || attempt == maxAttempts || ctx.Err() != nil {
			return nil, err
		}
		if err := sleep(ctx, wait); err != nil {
			return nil, err
		}
		if _, seekErr := again.Seek(0, io.SeekStart); seekErr != nil {
			return nil, err
		}
	}
}

// maxAttempts is how often a request is sent, and pause how long to wait where the service does not say.
const (
	maxAttempts = 5
	pause       = 500 * time.Millisecond
	longestWait = 30 * time.Second
)

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// submit sends a docket once. With an error, wait says after what time it can be sent again; 0: it can't.
func (c *Client) submit(ctx context.Context, q url.Values, key string, body io.Reader, d *Docket) (wait time.Duration, err error) {
	in, out := io.Pipe()
	compressed := make(chan struct{})
	go func() {
		defer close(compressed)
		z := gzip.NewWriter(out)
		_, err := io.Copy(z, body)
		_ = out.CloseWithError(errors.Join(err, z.Close()))
	}()
	defer func() {
		_ = in.Close()
		<-compressed // the body is read by nobody else behind this
	}()
	r, err := c.request(ctx, http.MethodPost, "/api/v1/dockets?"+q.Encode(), in)
	if err != nil {
		return 0, err
	}
	r.Header.Set("Content-Type", "application/octet-stream")
	r.Header.Set("Content-Encoding", "gzip")
	if key != "" {
		r.Header.Set("Idempotency-Key", key)
	}
	response, err := c.http.Do(r)
	if err != nil {
		return pause, err
	}
	defer func() { _ = response.Body.Close() }()
	if err := c.failure(response); err != nil {
		return waitOf(response), err
	}
	return 0, json.NewDecoder(io.LimitReader(response.Body, maxAnswer)).Decode(d)
}

// maxAnswer bounds an ordinary answer, maxLine a line of a stream.
const (
	maxAnswer = 1 << 20
	maxLine   = 256 << 20
)

// waitOf says after what time a rejected request may be sent again; 0: never.
func waitOf(r *http.Response) time.Duration {
	if r.StatusCode != http.StatusServiceUnavailable && r.StatusCode != http.StatusTooManyRequests {
		return 0
	}
	seconds, err := strconv.Atoi(r.Header.Get("Retry-After"))
	if err != nil || seconds < 1 {
		return pause
	}
	return min(time.Duration(seconds)*time.Second, longestWait)
}

func (c *Client) request(ctx context.Context, method, path string, body io.Reader) (*http.Request, error) {
	r, err := http.NewRequestWithContext(ctx, method, c.base.String()+path, body)
	if err == nil && c.token != "" {
		r.Header.Set("Authorization", "Bearer "+c.token)
	}
	return r, err
}

// failure is what an answer says went wrong.
func (c *Client) failure(r *http.Response) error {
	if r.StatusCode < 300 {
		return nil
	}
	e := &Error{}
	text, err := io.ReadAll(io.LimitReader(r.Body, maxAnswer))
	if err != nil || json.Unmarshal(text, e) != nil {
		e = &Error{}
	}
	e.Status, e.server = r.StatusCode, c.base.String()
	return e
}

// get reads an answer in JSON.
func (c *Client) get(ctx context.Context, path string, to any) error {
	r, err := c.request(ctx, http.MethodGet, path, nil)
	if err != nil {
		return err
	}
	response, err := c.http.Do(r)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	if err := c.failure(response); err != nil {
		return err
	}
	if err := json.NewDecoder(io.LimitReader(response.Body, maxAnswer)).Decode(to); err != nil {
		return fmt.Errorf("%s: the answer is not that of a Shadowcourt service: %w", c.base, err)
	}
	return nil
}

// Docket reads a docket.
func (c *Client) Docket(ctx context.Context, id int64) (*Docket, error) {
	d := &Docket{}
	return d, c.get(ctx, "/api/v1/dockets/"+strconv.FormatInt(id, 10), d)
}

// Me is who a token belongs to.
type Me struct {
	Submitter string   `json:"submitter"`
	Name      string   `json:"name"`
	Scopes    []string `json:"scopes"`
}

// Me says who the client is to the service.
func (c *Client) Me(ctx context.Context) (*Me, error) {
	m := &Me{}
	return m, c.get(ctx, "/api/v1/me", m)
}

// Trials reads the trials of a docket in its order while it runs, until all are read: whole ones, or their results alone. A stream that
// breaks off is continued, unless nothing came of it maxAttempts times in a row.
func (c *Client) Trials(ctx context.Context, id int64, whole bool) iter.Seq2[*wire.Line, error] {
	return func(yield func(*wire.Line, error) bool) {
		next, attempts := 1, 0
		for {
			came := false
			more, err := c.trials(ctx, id, next, whole, func(l *wire.Line) bool {
				came, next = true, l.Ordinal+1
				return yield(l, nil)
			})
			if !more {
				return
			}
			if came {
				attempts = 0
			}
			attempts++
			var rejected *Error
			if ctx.Err() != nil || attempts >= maxAttempts || errors.As(err, &rejected) && rejected.Status < http.StatusInternalServerError && rejected.Status != http.StatusTooManyRequests {
				yield(nil, err)
				return
			}
			if sleepErr := sleep(ctx, pause*time.Duration(attempts)); sleepErr != nil {
				yield(nil, sleepErr)
				return
			}
		}
	}
}

// trials reads a stream once. more says that there is more to read, after err.
func (c *Client) trials(ctx context.Context, id int64, from int, whole bool, each func(*wire.Line) bool) (more bool, err error) {
	path := fmt.Sprintf("/api/v1/dockets/%d/trials?wait=true&from=%d&whole=%t", id, from, whole)
	r, err := c.request(ctx, http.MethodGet, path, nil)
	if err != nil {
		return true, err
	}
	response, err := c.http.Do(r)
	if err != nil {
		return true, err
	}
	defer func() { _ = response.Body.Close() }()
	if err := c.failure(response); err != nil {
		return true, err
	}
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue // keeps the connection open
		}
		l := &wire.Line{}
		if err := json.Unmarshal(lines.Bytes(), l); err != nil { //nolint:musttag // the truth bears the names of Go, as in journals
			return true, fmt.Errorf("%s: the answer is not that of a Shadowcourt service of this version: %w", c.base, err)
		}
		if !each(l) {
			return false, nil
		}
	}
	return lines.Err() != nil, lines.Err()
}

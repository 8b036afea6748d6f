package wire

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"
)

// Me is who the service takes the client for.
type Me struct {
	Submitter string   `json:"submitter"`
	Name      string   `json:"name"`
	Scopes    []string `json:"scopes"`
	Via       string   `json:"via"`
}

// Can says whether one of the scopes allows something.
func (m *Me) Can(scope string) bool {
	return slices.Contains(m.Scopes, scope) || slices.Contains(m.Scopes, "operate")
}

// Me asks who the client is to the service. It is the first request to make: it does not wait for a server that is not there.
func (c *Client) Me(ctx context.Context) (*Me, error) {
	m := &Me{}
	if err := c.get(ctx, true, m, nil, "me"); err != nil {
		return nil, err
	}
	if m.Name == "" || m.Via == "" {
		return nil, c.foreign("it does not say who you are")
	}
	return m, nil
}

// SignInAddress gives an address that signs in a browser once. Only the local token of a service is good for it.
func (c *Client) SignInAddress(ctx context.Context) (string, error) {
	var answer struct {
		Address string `json:"address"`
	}
	r, err := c.request(ctx, http.MethodPost, nil, nil)
	if err != nil {
		return "", err
	}
	r.URL.Path = c.base.Path + "/login/address"
	if _, err := c.answer(r, &answer); err != nil {
		return "", err
	}
	address, err := c.base.Parse(answer.Address)
	if err != nil || answer.Address == "" {
		return "", c.foreign("it gives no address to sign in")
	}
	return address.String(), nil
}

// CurrentGeneration is the generation of modules in force.
func (c *Client) CurrentGeneration(ctx context.Context) (int64, error) {
	var answer struct {
		Current int64 `json:"current"`
	}
	err := c.get(ctx, false, &answer, url.Values{"limit": {"1"}}, "generations")
	return answer.Current, err
}

// State of a docket.
type State string

// The states of dockets that ended. There are others.
const (
	Done      State = "done"
	Failed    State = "failed"
	Cancelled State = "cancelled"
)

// Ended says whether a docket in this state has all the trials that it will have.
func (s State) Ended() bool { return s == Done || s == Failed || s == Cancelled }

// maxEntries bounds what a server may say that a docket has; a service takes fewer.
const maxEntries = 1_000_000

// Docket of the service.
type Docket struct {
	ID         int64  `json:"id"`
	Name       string `json:"name"`
	State      State  `json:"state"`
	Format     string `json:"format"`
	Generation int64  `json:"generation"`
	Cases      int    `json:"cases"`
	Tried      int    `json:"tried"`
	Faults     int    `json:"faults"`
}

// valid says whether a docket can be one of a service.
func (d *Docket) valid() bool {
	return d.ID > 0 && d.Cases >= 0 && d.Cases <= maxEntries && d.Tried >= 0 && d.Faults >= 0 && d.State != ""
}

// Docket reads a docket.
func (c *Client) Docket(ctx context.Context, id int64) (*Docket, error) {
	d := &Docket{}
	if err := c.get(ctx, false, d, nil, "dockets", strconv.FormatInt(id, 10)); err != nil {
		return nil, err
	}
	if !d.valid() || d.ID != id {
		return nil, c.foreign("its answer has another form")
	}
	return d, nil
}

// Submission is how a docket is submitted. Empty fields leave it to the service.
type Submission struct {
	Name, Repository, Revision string
	Format                     string
	NoGroups                   bool // try each failure by itself
	Truth                      bool // take the defect types of an export of ReportPortal for the truth
	Remember                   bool // add the verdicts to the casebook
	// Key makes a submission safe to repeat: with it, and the same body, there is one docket. It must be set.
	Key string
}

func (s *Submission) query() url.Values {
	q := url.Values{}
	for name, value := range map[string]string{"name": s.Name, "repository": s.Repository, "revision": s.Revision, "format": s.Format} {
		if value != "" {
			q.Set(name, value)
		}
	}
	for name, set := range map[string]bool{"groups": s.NoGroups, "truth": s.Truth, "remember": s.Remember} {
		if set {
			q.Set(name, strconv.FormatBool(name != "groups"))
		}
	}
	return q
}

// Submit sends a docket, compressed. A submission that was cut off is sent again under the same key. known says that the service had the
// docket before the first attempt.
func (c *Client) Submit(ctx context.Context, s *Submission, body []byte) (d *Docket, known bool, err error) {
	var compressed bytes.Buffer
	z := gzip.NewWriter(&compressed)
	_, err = z.Write(body)
	if err = errors.Join(err, z.Close()); err != nil {
		return nil, false, err
	}
	d = &Docket{}
	cut := false
	err = c.repeat(ctx, false, func() (bool, error) {
		r, err := c.request(ctx, http.MethodPost, s.query(), bytes.NewReader(compressed.Bytes()), "dockets")
		if err != nil {
			return false, err
		}
		r.Header.Set("Content-Type", "application/octet-stream")
		r.Header.Set("Content-Encoding", "gzip")
		r.Header.Set("Idempotency-Key", s.Key)
		r.Header.Set("Expect", "100-continue") // who may not submit hears so before the docket is sent
		status, err := c.answer(r, d)
		if err == nil && !d.valid() {
			err = c.foreign("its answer has another form")
		}
		known = status == http.StatusOK && !cut
		_, lost := errors.AsType[*ConnectionError](err)
		cut = cut || lost // the service may have it all the same
		return false, err
	})
	if err != nil {
		return nil, false, err
	}
	return d, known, nil
}

// Trials reads the entries of a docket in its order while it is tried, until all are read; then d is the docket as it ended. A stream that
// is cut off is continued behind the last entry that came. Of a docket that was cancelled or failed meanwhile, entries may be missing.
func (c *Client) Trials(ctx context.Context, d *Docket, form Form) iter.Seq2[*Line, error] {
	return func(yield func(*Line, error) bool) {
		next, came, wanted := 1, 0, true
		err := c.repeat(ctx, false, func() (progress bool, err error) {
			err = c.trials(ctx, d.ID, next, form, func(l *Line) bool {
				progress, next = true, l.Ordinal+1
				came++
				wanted = yield(l, nil)
				return wanted
			})
			if err != nil || !wanted {
				return progress, err
			}
			return progress, c.ended(ctx, d, next, came)
		})
		if err != nil && wanted {
			yield(nil, err)
		}
	}
}

// ended checks that a stream came to its end because the docket did, and with each entry of it: something between may have cut it off
// without an error. Entries that were left out before the last one do not come any more.
func (c *Client) ended(ctx context.Context, d *Docket, next, came int) error {
	now, err := c.Docket(ctx, d.ID)
	if err != nil {
		return err
	}
	now.Cases = max(now.Cases, d.Cases)
	*d = *now
	switch {
	case !d.State.Ended():
		return &ConnectionError{Server: c.Server(), Err: errors.New("the answer ended before the docket did")}
	case d.State == Done && came < d.Cases:
		return &ConnectionError{
			Server: c.Server(), Final: next > d.Cases,
			Err: fmt.Errorf("docket %d is done, and %d of its %d results are missing", d.ID, d.Cases-came, d.Cases),
		}
	}
	return nil
}

// trials reads a stream once.
func (c *Client) trials(ctx context.Context, id int64, from int, form Form, each func(*Line) bool) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	late := time.AfterFunc(c.patience(), func() { stop(errSlow) })
	defer late.Stop()
	q := url.Values{"wait": {"true"}, "from": {strconv.Itoa(from)}, "form": {string(form)}}
	r, err := c.request(ctx, http.MethodGet, q, nil, "dockets", strconv.FormatInt(id, 10), "trials")
	if err != nil {
		return err
	}
	response, err := c.do(r)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	if kind, _, err := mime.ParseMediaType(response.Header.Get("Content-Type")); err != nil || kind != "application/jsonl" {
		return c.foreign("it gives no trials")
	}
	lines := LineReader{In: bufio.NewReaderSize(response.Body, 64<<10), Most: form.MaxLine()}
	for {
		late.Reset(c.patience())
		text, err := lines.Next()
		late.Stop() // while the line is written
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.Is(err, ErrTooLong):
			return fmt.Errorf("%s: a trial has more than %d bytes", c.Server(), form.MaxLine())
		case err != nil:
			return c.lost(ctx, err)
		case len(bytes.TrimSpace(text)) == 0:
			continue // keeps the connection open
		}
		l, err := Parse(text)
		if err == nil && (l.Docket != id || l.Ordinal < from || l.Ordinal > maxEntries || (l.Result == nil) == (l.Fault == "")) {
			err = errors.New("it is not of this docket, or out of order")
		}
		if err != nil {
			return fmt.Errorf("%s: the trial behind entry %d-%d can't be read: %w; has the service another version than this program?", c.Server(), id, from-1, err)
		}
		from = l.Ordinal + 1
		if !each(l) {
			return nil
		}
	}
}

package web

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/shadowcourt/shadowcourt/internal/service/store"
	"github.com/shadowcourt/shadowcourt/internal/service/wire"
)

// answer is what a handler of the API answers, in memory.
type answer struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (a *answer) Header() http.Header { return a.header }

func (a *answer) WriteHeader(status int) {
	if a.status == 0 {
		a.status = status
	}
}

func (a *answer) Write(p []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	return a.body.Write(p)
}

// The deadlines of the connection are those of the request for the page.
func (a *answer) SetReadDeadline(time.Time) error  { return nil }
func (a *answer) SetWriteDeadline(time.Time) error { return nil }

// call asks the API, in the name of whoever the context identifies. The answer is read into out, nil for none.
func (b *stored) call(ctx context.Context, method, path string, body io.Reader, out any) error {
	r, err := http.NewRequestWithContext(ctx, method, "/api/v1"+path, body)
	if err != nil {
		return err
	}
	r.Header.Set("Accept", "application/json")
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	w := &answer{header: http.Header{}}
	b.sources.API.ServeHTTP(w, r)
	switch {
	case w.status == http.StatusNotFound:
		return ErrNotFound
	case w.status >= http.StatusBadRequest:
		p := &wire.Problem{}
		if err := json.Unmarshal(w.body.Bytes(), p); err != nil {
			return fmt.Errorf("%s %s: the API answered %d without a problem: %w", method, path, w.status, err)
		}
		return p
	case out == nil:
		return nil
	}
	if err := json.Unmarshal(w.body.Bytes(), out); err != nil {
		return fmt.Errorf("%s %s: the answer of the API: %w", method, path, err)
	}
	return nil
}

// send is call with a JSON body.
func (b *stored) send(ctx context.Context, path string, in, out any) error {
	data, err := json.Marshal(in)
	if err != nil {
		return err
	}
	return b.call(ctx, http.MethodPost, path, bytes.NewReader(data), out)
}

func (b *stored) Submit(ctx context.Context, u Upload) (int64, error) {
	q := url.Values{}
	for name, value := range map[string]string{"name": u.Name, "repository": u.Repository, "revision": u.Revision, "format": u.Format} {
		if value != "" {
			q.Set(name, value)
		}
	}
	var d struct {
		ID int64 `json:"id"`
	}
	err := b.call(ctx, http.MethodPost, "/dockets?"+q.Encode(), u.Body, &d)
	return d.ID, err
}

func (b *stored) Cancel(ctx context.Context, docket int64) error {
	return b.call(ctx, http.MethodDelete, "/dockets/"+strconv.FormatInt(docket, 10), nil, nil)
}

// correction is what the API tells of one.
type correction struct {
	ID     int64 `json:"id"`
	Trials int   `json:"trials"`
}

func (b *stored) Correct(ctx context.Context, c Correcting) (*Corrected, error) {
	done := &Corrected{}
	type body struct {
		Label  string   `json:"label"`
		Trials []string `json:"trials,omitempty"`
		Group  string   `json:"group,omitempty"`
	}
	add := func(path string, in body) error {
		var one correction
		if err := b.send(ctx, path, in, &one); err != nil {
			return err
		}
		done.IDs, done.Cases = append(done.IDs, one.ID), done.Cases+one.Trials
		return nil
	}
	query := filterQuery(&c.Filter)
	for _, group := range c.Groups {
		if err := add("/corrections"+query, body{Label: c.Label, Group: group}); err != nil {
			return nil, err
		}
	}
	if len(c.Entries) == 0 {
		return done, nil
	}
	in := body{Label: c.Label}
	for _, id := range c.Entries {
		in.Trials = append(in.Trials, id.String())
	}
	return done, add("/corrections", in)
}

// filterQuery has the API correct what the page showed of a group.
func filterQuery(f *InboxQuery) string {
	q := url.Values{}
	for name, value := range map[string]string{"repository": f.Repository, "label": f.Label, "status": f.Status, "text": f.Text} {
		if value != "" {
			q.Set(name, value)
		}
	}
	if !f.Since.IsZero() {
		q.Set("since", f.Since.UTC().Format(time.RFC3339Nano))
	}
	if len(q) == 0 {
		return ""
	}
	return "?" + q.Encode()
}

func (b *stored) Undo(ctx context.Context, id int64) (int, error) {
	var one correction
	err := b.call(ctx, http.MethodDelete, "/corrections/"+strconv.FormatInt(id, 10), nil, &one)
	return one.Trials, err
}

func (b *stored) Propose(ctx context.Context, p Proposal) (int64, error) {
	modules := map[string][]byte{}
	for _, m := range p.Modules {
		modules[m.Name] = m.Wasm
	}
	in := struct {
		Modules map[string][]byte `json:"modules,omitempty"`
		Canary  map[string][]byte `json:"canary,omitempty"`
		Share   float64           `json:"share,omitempty"`
		Note    string            `json:"note,omitempty"`
	}{Modules: modules, Note: p.Note}
	if p.Candidate {
		in.Modules, in.Canary, in.Share = nil, modules, p.Share
	}
	var g struct {
		ID int64 `json:"id"`
	}
	err := b.send(ctx, "/generations", in, &g)
	return g.ID, err
}

func (b *stored) Activate(ctx context.Context, generation int64) error {
	return b.call(ctx, http.MethodPost, "/generations/"+strconv.FormatInt(generation, 10)+"/activate", nil, nil)
}

func (b *stored) Abandon(ctx context.Context, activation int64) error {
	return b.call(ctx, http.MethodDelete, "/activations/"+strconv.FormatInt(activation, 10), nil, nil)
}

func (b *stored) Tokens(ctx context.Context) ([]Token, error) {
	rows, err := b.sources.Store.Tokens(ctx)
	list := make([]Token, len(rows))
	for i := range rows {
		t := &rows[i]
		list[i] = Token{ID: strconv.FormatInt(t.ID, 10), Name: t.Name, Submitter: t.Submitter, Scopes: t.Scopes, Repositories: t.Repositories, Created: t.Created, Used: t.Used, Revoked: !t.Revoked.IsZero()}
	}
	return list, err
}

func (b *stored) AddToken(ctx context.Context, name string, scopes, repositories []string) (string, error) {
	in := struct {
		Name         string   `json:"name"`
		Scopes       []string `json:"scopes"`
		Repositories []string `json:"repositories,omitempty"`
	}{name, scopes, repositories}
	var out struct {
		Secret string `json:"secret"`
	}
	err := b.send(ctx, "/tokens", in, &out)
	return out.Secret, err
}

func (b *stored) RevokeToken(ctx context.Context, id string) error {
	return b.call(ctx, http.MethodDelete, "/tokens/"+url.PathEscape(id), nil, nil)
}

// activation reads the latest one, nil where there was none.
func (b *stored) activation(ctx context.Context) (*Activation, error) {
	list, err := b.sources.Store.Activations(ctx, 1)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	a, err := b.sources.Store.Activation(ctx, list[0].ID)
	if err != nil {
		return nil, err
	}
	out := &Activation{ID: a.ID, Generation: a.Generation, Author: a.Author, Pending: a.State == store.Pending, Rejected: a.State == store.Rejected, Reason: a.Reason, Finished: a.Finished}
	for _, l := range a.Loads {
		out.Workers++
		out.Loaded += one(l.Loaded && l.Fault == "")
	}
	return out, nil
}

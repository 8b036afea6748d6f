// Package gitlab shows answers on GitLab: as a note on a merge request, and as variables for later jobs.
package gitlab

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/shadowcourt/shadowcourt/internal/answers"
	"github.com/shadowcourt/shadowcourt/internal/publish"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
)

// Client speaks to version 4 of the API.
type Client struct {
	server *publish.Server
	http   *http.Client
}

// Open makes a client of a server, whose Base is such as https://gitlab.example/api/v4. wait is how it waits where the server asks for it.
func Open(s *publish.Server, wait func(context.Context, time.Duration) error) *Client {
	s.Header, s.Prefix = "PRIVATE-TOKEN", ""
	return &Client{s, publish.Patient(s.Client(), wait)}
}

// statusError is an answer that is not a success.
type statusError struct {
	error

	status int
}

func (e *statusError) Unwrap() error { return e.error }

// do sends a request and reads the answer into out, unless that is nil.
func (c *Client) do(ctx context.Context, method, path string, in, out any) error {
	body := io.Reader(http.NoBody)
	if in != nil {
		data, err := json.Marshal(in)
		if err != nil {
			return err
		}
		body = bytes.NewReader(data)
	}
	r, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(c.server.Base.String(), "/")+path, body)
	if err != nil {
		return err
	}
	if in != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	answer, err := c.http.Do(r)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode < 200 || answer.StatusCode > 299 {
		return &statusError{publish.Failed(answer), answer.StatusCode}
	}
	if out == nil {
		return nil
	}
	data, err := io.ReadAll(answer.Body)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, out); err != nil {
		return fmt.Errorf("%s %s: not an answer of GitLab: %s", method, sanitize.Line(path), sanitize.Line(err.Error()))
	}
	return nil
}

type user struct {
	ID int64 `json:"id"`
}

// Self names the token's user: by number, since names can change hands.
func (c *Client) Self(ctx context.Context) (string, error) {
	var u user
	if err := c.do(ctx, http.MethodGet, "/user", nil, &u); err != nil {
		return "", err
	}
	if u.ID <= 0 {
		return "", errors.New("the server does not say whose token it is")
	}
	return strconv.FormatInt(u.ID, 10), nil
}

// MergeRequest is a merge request as a board. The project is its number or its path.
func (c *Client) MergeRequest(project string, number int) publish.Board {
	return &notes{c, "/projects/" + url.PathEscape(project) + "/merge_requests/" + strconv.Itoa(number) + "/notes"}
}

type notes struct {
	client *Client
	path   string
}

type note struct {
	ID     int64  `json:"id"`
	Body   string `json:"body"`
	Author user   `json:"author"`
	System bool   `json:"system"`
}

func (n *note) comment() publish.Comment {
	return publish.Comment{ID: n.ID, Author: strconv.FormatInt(n.Author.ID, 10), Body: n.Body}
}

const perPage = 100

func (n *notes) Comments(ctx context.Context) ([]publish.Comment, error) {
	var all []publish.Comment
	for page := 1; ; page++ {
		var list []note
		err := n.client.do(ctx, http.MethodGet, n.path+"?sort=asc&order_by=created_at&per_page="+strconv.Itoa(perPage)+"&page="+strconv.Itoa(page), nil, &list)
		if err != nil {
			return nil, err
		}
		for i := range list {
			c := list[i].comment()
			if list[i].System {
				c.Author = ""
			}
			all = append(all, c)
		}
		switch {
		case len(list) < perPage:
			return all, nil
		case len(all) >= publish.MaxComments:
			return nil, publish.ErrTooMany
		}
	}
}

type text struct {
	Body string `json:"body"`
}

func (n *notes) Post(ctx context.Context, body string) (publish.Comment, error) {
	var posted note
	err := forbidden(n.client.do(ctx, http.MethodPost, n.path, text{NoteBody(body)}, &posted))
	return posted.comment(), err
}

func (n *notes) Edit(ctx context.Context, id int64, body string) error {
	return forbidden(n.client.do(ctx, http.MethodPut, n.path+"/"+strconv.FormatInt(id, 10), text{NoteBody(body)}, nil))
}

func (n *notes) Remove(ctx context.Context, id int64) error {
	err := n.client.do(ctx, http.MethodDelete, n.path+"/"+strconv.FormatInt(id, 10), nil, nil)
	if e, ok := errors.AsType[*statusError](err); ok && e.status == http.StatusNotFound {
		return nil
	}
	return forbidden(err)
}

func forbidden(err error) error {
	if e, ok := errors.AsType[*statusError](err); ok && e.status == http.StatusForbidden {
		return fmt.Errorf("%w: %w", publish.ErrForbidden, err)
	}
	return err
}

// NoteBody makes Markdown fit for a note. A line that begins with a slash is a command to GitLab, such as /close. GitLab passes over code blocks
// only where they look as its own rules have it, and a message can hold what ends one there. So no line begins with a slash: a dot goes before it.
func NoteBody(markdown string) string {
	lines := strings.Split(markdown, "\n")
	for i, line := range lines {
		if rest := strings.TrimLeft(line, " \t\u00a0\r\v\f"); strings.HasPrefix(rest, "/") {
			lines[i] = line[:len(line)-len(rest)] + "·" + rest
		}
	}
	return strings.Join(lines, "\n")
}

// Outputs writes variables in the form of GitLab's dotenv reports, such as SHADOWCOURT_VERDICT.
func Outputs(w io.Writer, d *answers.Document) error {
	return publish.WriteOutputs(w, publish.Outputs(d), func(name string) string {
		return "SHADOWCOURT_" + strings.ReplaceAll(strings.ToUpper(name), "-", "_")
	})
}

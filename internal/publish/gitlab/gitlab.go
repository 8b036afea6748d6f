// Package gitlab shows answers on GitLab: as a note on a merge request, and as variables for later jobs.
package gitlab

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/internal/answers"
	"github.com/shadowcourt/shadowcourt/internal/publish"
)

// Client speaks to version 4 of the API.
type Client struct{ api *publish.API }

// Open makes a client of a server, whose Base is such as https://gitlab.example/api/v4.
func Open(s *publish.Server) *Client {
	s.Header, s.Prefix = "PRIVATE-TOKEN", ""
	return &Client{publish.NewAPI(s)}
}

type user struct {
	ID int64 `json:"id"`
}

// Self names the token's user: by number, since names can change hands.
func (c *Client) Self(ctx context.Context) (string, error) {
	var u user
	if err := c.api.Call(ctx, publish.Request{Method: http.MethodGet, Path: []string{"user"}}, &u); err != nil {
		return "", err
	}
	if u.ID <= 0 {
		return "", errors.New("the server does not say whose token it is")
	}
	return strconv.FormatInt(u.ID, 10), nil
}

// MergeRequest is a merge request as a board. The project is its number or its path.
func (c *Client) MergeRequest(project string, number int) publish.Board {
	return &notes{c.api, []string{"projects", project, "merge_requests", strconv.Itoa(number), "notes"}}
}

type notes struct {
	api  *publish.API
	path []string
}

// call makes a request to all notes, or to one of a number.
func (n *notes) call(ctx context.Context, method string, id int64, query url.Values, send, got any) error {
	path := n.path
	if id != 0 {
		path = append(slices.Clip(path), strconv.FormatInt(id, 10))
	}
	err := n.api.Call(ctx, publish.Request{Method: method, Path: path, Query: query, Send: send}, got)
	if e, ok := errors.AsType[*publish.StatusError](err); ok && e.Status == http.StatusForbidden && method != http.MethodGet {
		return fmt.Errorf("%w: %w", publish.ErrForbidden, err)
	}
	return err
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
		query := url.Values{"sort": {"asc"}, "order_by": {"created_at"}, "per_page": {strconv.Itoa(perPage)}, "page": {strconv.Itoa(page)}}
		if err := n.call(ctx, http.MethodGet, 0, query, nil, &list); err != nil {
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
	err := n.call(ctx, http.MethodPost, 0, nil, text{NoteBody(body)}, &posted)
	return posted.comment(), err
}

func (n *notes) Edit(ctx context.Context, id int64, body string) error {
	return n.call(ctx, http.MethodPut, id, nil, text{NoteBody(body)}, nil)
}

func (n *notes) Remove(ctx context.Context, id int64) error {
	err := n.call(ctx, http.MethodDelete, id, nil, nil, nil)
	if e, ok := errors.AsType[*publish.StatusError](err); ok && e.Status == http.StatusNotFound {
		return nil
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

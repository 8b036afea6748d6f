package publish

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
)

// GitLab speaks to version 4 of the API.
type GitLab struct{ api *api }

// OpenGitLab makes a client of a server, whose Base is such as https://gitlab.example/api/v4.
func OpenGitLab(s *Server) *GitLab {
	s.Header, s.Prefix = "PRIVATE-TOKEN", ""
	return &GitLab{newAPI(s)}
}

type labUser struct {
	ID int64 `json:"id"`
}

// Self names the token's user: by number, since names can change hands.
func (c *GitLab) Self(ctx context.Context) (string, error) {
	var u labUser
	if err := c.api.call(ctx, apiRequest{Method: http.MethodGet, Path: []string{"user"}}, &u); err != nil {
		return "", err
	}
	if u.ID <= 0 {
		return "", errors.New("the server does not say whose token it is")
	}
	return strconv.FormatInt(u.ID, 10), nil
}

// MergeRequest is a merge request as a board. The project is its number or its path.
func (c *GitLab) MergeRequest(project string, number int) Board {
	return &labNotes{c.api, []string{"projects", project, "merge_requests", strconv.Itoa(number), "notes"}}
}

type labNotes struct {
	api  *api
	path []string
}

// call makes a request to all notes, or to one of a number.
func (n *labNotes) call(ctx context.Context, method string, id int64, query url.Values, send, got any) error {
	path := n.path
	if id != 0 {
		path = append(slices.Clip(path), strconv.FormatInt(id, 10))
	}
	err := n.api.call(ctx, apiRequest{Method: method, Path: path, Query: query, Send: send}, got)
	if e, ok := errors.AsType[*statusError](err); ok && e.status == http.StatusForbidden && method != http.MethodGet {
		return fmt.Errorf("%w: %w", ErrForbidden, err)
	}
	return err
}

type labNote struct {
	ID     int64   `json:"id"`
	Body   string  `json:"body"`
	Author labUser `json:"author"`
	System bool    `json:"system"`
}

func (n *labNote) comment() Comment {
	return Comment{ID: n.ID, Author: strconv.FormatInt(n.Author.ID, 10), Body: n.Body}
}

func (n *labNotes) Comments(ctx context.Context) ([]Comment, error) {
	var all []Comment
	for page := 1; ; page++ {
		var list []labNote
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
		case len(all) >= maxComments:
			return nil, errTooMany
		}
	}
}

type labText struct {
	Body string `json:"body"`
}

func (n *labNotes) Post(ctx context.Context, body string) (Comment, error) {
	var posted labNote
	err := n.call(ctx, http.MethodPost, 0, nil, labText{NoteBody(body)}, &posted)
	return posted.comment(), err
}

func (n *labNotes) Edit(ctx context.Context, id int64, body string) error {
	return n.call(ctx, http.MethodPut, id, nil, labText{NoteBody(body)}, nil)
}

func (n *labNotes) Remove(ctx context.Context, id int64) error {
	err := n.call(ctx, http.MethodDelete, id, nil, nil, nil)
	if e, ok := errors.AsType[*statusError](err); ok && e.status == http.StatusNotFound {
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

// GitLabOutputs writes variables in the form of GitLab's dotenv reports, such as SHADOWCOURT_VERDICT.
func GitLabOutputs(w io.Writer, d *answers.Document) error {
	return writeOutputs(w, d, func(name string) string {
		return "SHADOWCOURT_" + strings.ReplaceAll(strings.ToUpper(name), "-", "_")
	})
}

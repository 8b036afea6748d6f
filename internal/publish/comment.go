package publish

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/internal/answers"
	"github.com/shadowcourt/shadowcourt/internal/render"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
)

// ErrForbidden says that the token may not write, as that of a run for a pull request from a fork.
var ErrForbidden = errors.New("the token may not write here")

// maxComments is how many comments of a change are read at most.
const maxComments = 3000

// errTooMany says that a change has more than [maxComments].
var errTooMany = errors.New("there are more than 3000 comments: no comment was written, since the one to update may be behind them")

// Comment is one on a change. Author is a name that nobody else on the server has.
type Comment struct {
	ID     int64
	Author string
	Body   string
}

// Notes are the comments on a change.
type Notes struct {
	api    *api
	host   string     // a key of hosts
	path   []string   // of all comments
	single []string   // of one, before its number
	query  url.Values // of the list
}

// hosts are what tells code hosts apart.
var hosts = map[string]struct {
	edit string // the method
	body func(markdown string) string
}{
	"GitHub": {http.MethodPatch, func(markdown string) string { return markdown }},
	"GitLab": {http.MethodPut, NoteBody},
}

// hostUser is a user: GitHub's have names that are theirs, GitLab's numbers.
type hostUser struct {
	ID    int64  `json:"id"`
	Login string `json:"login"`
}

func (u *hostUser) name() string {
	switch {
	case u == nil:
		return ""
	case u.Login != "":
		return u.Login
	case u.ID > 0:
		return strconv.FormatInt(u.ID, 10)
	}
	return ""
}

// hostComment is a comment of GitHub, or a note of GitLab.
type hostComment struct {
	ID     int64     `json:"id"`
	Body   string    `json:"body"`
	User   *hostUser `json:"user"`
	Author *hostUser `json:"author"`
	System bool      `json:"system"`
}

func (c *hostComment) comment() Comment {
	out := Comment{ID: c.ID, Author: cmp.Or(c.User.name(), c.Author.name()), Body: c.Body}
	if c.System {
		out.Author = ""
	}
	return out
}

// actionsBot is who writes with the token that GitHub Actions gives to a job.
const actionsBot = "github-actions[bot]"

// Self is the name of the token's user. Tokens of GitHub's apps can't ask: then it is actionsBot.
func (n *Notes) Self(ctx context.Context) (string, error) {
	var u hostUser
	err := n.api.call(ctx, apiRequest{Method: http.MethodGet, Path: []string{"user"}}, &u)
	switch {
	case err == nil && u.name() != "":
		return u.name(), nil
	case err == nil:
		return "", errors.New("the server does not say whose token it is")
	case n.host == "GitHub" && statusOf(err) == http.StatusForbidden:
		return actionsBot, nil
	}
	return "", err
}

const perPage = 100

// comments are all, of at most maxComments; more are errTooMany.
func (n *Notes) comments(ctx context.Context) ([]Comment, error) {
	var all []Comment
	n.query.Set("per_page", strconv.Itoa(perPage))
	for page := 1; ; page++ {
		var list []hostComment
		n.query.Set("page", strconv.Itoa(page))
		if err := n.api.call(ctx, apiRequest{Method: http.MethodGet, Path: n.path, Query: n.query}, &list); err != nil {
			return nil, err
		}
		for i := range list {
			all = append(all, list[i].comment())
		}
		switch {
		case len(list) < perPage:
			return all, nil
		case len(all) >= maxComments:
			return nil, errTooMany
		}
	}
}

// post gives the new comment as the server stored it. An answer of 403 is ErrForbidden, for edit and remove as well.
func (n *Notes) post(ctx context.Context, body string) (Comment, error) {
	var posted hostComment
	err := n.write(ctx, apiRequest{Method: http.MethodPost, Path: n.path, Send: n.text(body)}, &posted)
	return posted.comment(), err
}

func (n *Notes) edit(ctx context.Context, id int64, body string) error {
	return n.write(ctx, apiRequest{Method: hosts[n.host].edit, Path: n.one(id), Send: n.text(body)}, nil)
}

// remove is done, too, where the comment is gone already.
func (n *Notes) remove(ctx context.Context, id int64) error {
	err := n.write(ctx, apiRequest{Method: http.MethodDelete, Path: n.one(id)}, nil)
	if statusOf(err) == http.StatusNotFound {
		return nil
	}
	return err
}

func (n *Notes) write(ctx context.Context, r apiRequest, got any) error {
	err := n.api.call(ctx, r, got)
	if statusOf(err) == http.StatusForbidden {
		return fmt.Errorf("%w: %w", ErrForbidden, err)
	}
	return err
}

func (n *Notes) text(body string) any { return map[string]string{"body": hosts[n.host].body(body)} }

func (n *Notes) one(id int64) []string {
	return append(slices.Clip(n.single), strconv.FormatInt(id, 10))
}

// Note is what to say on a change: one comment, which carries Marker as its last line.
type Note struct {
	Marker, Body string
	// Quiet updates a comment that is there, and posts none.
	Quiet bool
}

// Kept says what became of a note.
type Kept struct {
	ID      int64  // of the comment; 0 where there is none
	Did     string // posted, updated, unchanged, or empty where there is none
	Removed int    // other comments with the marker
}

// Keep shows a note once: it updates the latest comment with the marker by the author, or posts one, and removes others with the
// marker by the same author. Comments of other authors stay as they are, whatever marker they have. It may be called again, and at the same time
// by several programs: all of them keep the latest comment.
func Keep(ctx context.Context, b *Notes, author string, n Note) (Kept, error) {
	all, err := b.comments(ctx)
	if err != nil {
		return Kept{}, err
	}
	body := strings.TrimRight(n.Body, "\n") + "\n\n" + n.Marker
	if last, rest := n.own(all, author); last != nil {
		kept := Kept{ID: last.ID, Did: "unchanged"}
		if plain(last.Body) != plain(body) {
			if err := b.edit(ctx, last.ID, body); err != nil {
				return Kept{}, err
			}
			kept.Did = "updated"
		}
		return kept, b.removeAll(ctx, rest, &kept)
	}
	if n.Quiet {
		return Kept{}, nil
	}
	posted, err := b.post(ctx, body)
	if err != nil {
		return Kept{}, err
	}
	kept := Kept{ID: posted.ID, Did: "posted"}
	if all, err = b.comments(ctx); err != nil {
		return kept, err
	}
	// The token's name is certain now. Of those that were posted at the same time the latest stays, whoever looks.
	last, rest := n.own(all, posted.Author)
	if last != nil {
		kept.ID = last.ID
	}
	return kept, b.removeAll(ctx, rest, &kept)
}

func (n *Notes) removeAll(ctx context.Context, ids []int64, kept *Kept) error {
	for _, id := range ids {
		if err := n.remove(ctx, id); err != nil {
			return err
		}
		kept.Removed++
	}
	return nil
}

// own are the comments with the marker by an author: the latest, and the others.
func (n *Note) own(all []Comment, author string) (last *Comment, rest []int64) {
	for i := range all {
		c := &all[i]
		if author == "" || !strings.EqualFold(c.Author, author) || !strings.HasSuffix("\n"+plain(c.Body), "\n"+n.Marker) {
			continue
		}
		switch {
		case last == nil:
			last = c
		case c.ID > last.ID:
			last, rest = c, append(rest, last.ID)
		case c.ID < last.ID:
			rest = append(rest, c.ID)
		}
	}
	return last, rest
}

// plain is a body without what servers change in it.
func plain(body string) string { return strings.TrimSpace(strings.ReplaceAll(body, "\r\n", "\n")) }

// Markdown is a document as Markdown: the first line says whether anything is yours, the last one names the commit and the job, where that has a
// name, with a link to the run. Its texts are escaped. Of the run nothing is taken from the document, which may be that of a fork.
func Markdown(d *answers.Document, run Run, job string) (string, error) {
	var b bytes.Buffer
	err := render.WriteAnswers(d, func(trees render.AnswerTrees) render.AnswerWriter { return render.NewAnswerMarkdown(&b, trees) })
	if err != nil {
		return "", err
	}
	last := "\nCommit " + sanitize.MarkdownCode(short(run.Head, d.Head))
	if run.Link != "" {
		last += ", [run](<" + inLink.Replace(run.Link) + ">)"
	}
	if job != "" {
		last += ", job " + sanitize.Markdown(job)
	}
	b.WriteString(last + "\n")
	return b.String(), nil
}

// inLink escapes what would end an address in angle brackets.
var inLink = strings.NewReplacer("<", "%3C", ">", "%3E", "\\", "%5C", " ", "%20", "|", "%7C")

func short(commits ...string) string {
	const digits = 12
	for _, c := range commits {
		if c != "" {
			return c[:min(digits, len(c))]
		}
	}
	return ""
}

// writeOutputs writes NAME=VALUE lines for later steps of a pipeline: conclusion, yours, open, not-yours and verdict, which is yours, open or none.
// name changes a name.
func writeOutputs(w io.Writer, d *answers.Document, name func(string) string) error {
	verdict := "none"
	switch {
	case d.Yours > 0:
		verdict = "yours"
	case d.Open+d.Unanswered > 0:
		verdict = "open"
	}
	var b strings.Builder
	for _, o := range [][2]string{
		{"conclusion", sanitize.Line(d.Conclusion)},
		{"yours", strconv.Itoa(d.Yours)},
		{"open", strconv.Itoa(d.Open)},
		{"not-yours", strconv.Itoa(d.NotYours)},
		{"verdict", verdict},
	} {
		b.WriteString(name(o[0]) + "=" + o[1] + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Recount gives a document with the conclusion that its own failures have, in our words.
func Recount(d *answers.Document) (counted *answers.Document, err error) {
	err = render.WriteAnswers(d, func(trees render.AnswerTrees) render.AnswerWriter {
		return render.NewAnswerDocument(trees, func(again *answers.Document) error {
			counted = again
			return nil
		})
	})
	return counted, err
}

var nameOfNote = regexp.MustCompile(`^[A-Za-z0-9_.]+([ -][A-Za-z0-9_.]+)*$`)

// Marker is the hidden line by which a comment is found again. The name tells the comments of several jobs apart.
func Marker(name string) (string, error) {
	const most = 60
	if len(name) > most || !nameOfNote.MatchString(name) {
		return "", fmt.Errorf("--name %q: use at most %d letters, digits, dots and underscores, with single blanks or hyphens between them", sanitize.Line(name), most)
	}
	return "<!-- shadowcourt:" + name + " -->", nil
}

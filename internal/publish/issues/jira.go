package issues

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/internal/publish"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
)

// Jira has the issues of a project of Jira Cloud: it takes version 3 of the API, in which texts are documents, so that none of theirs is markup.
type Jira struct {
	api     *publish.API
	project string
	kind    string // of issues
}

var (
	projectKey = regexp.MustCompile(`^[A-Z][0-9A-Z_]{1,79}$`)
	issueKey   = regexp.MustCompile(`^[A-Z][0-9A-Z_]{1,79}-[1-9][0-9]{0,18}$`)
)

// NewJira is the tracker of a project, by its key. Issues are opened as those of a kind, such as Bug.
func NewJira(api *publish.API, project, kind string) (*Jira, error) {
	if !projectKey.MatchString(project) {
		return nil, fmt.Errorf("%q is not the key of a project, such as CART", sanitize.Line(project))
	}
	if kind == "" || len(kind) > maxTitle {
		return nil, errors.New("the type of issues is empty or too long: use one of the project, such as Bug")
	}
	return &Jira{api, project, kind}, nil
}

// jiraIssue is what is read of an issue.
type jiraIssue struct {
	Key    string `json:"key"`
	Fields struct {
		Labels []string `json:"labels"`
		Status struct {
			Name     string `json:"name"`
			Category struct {
				Key string `json:"key"`
			} `json:"statusCategory"`
		} `json:"status"`
		Resolution *struct {
			Name string `json:"name"`
		} `json:"resolution"`
		Description json.RawMessage `json:"description"`
	} `json:"fields"`
}

var jiraFields = []string{"labels", "status", "resolution"} //nolint:gochecknoglobals // a list

// done are resolutions and statuses that say that something was fixed. Any other is a decision: Won't Do, Duplicate, Cannot Reproduce.
var done = []string{"done", "fixed", "resolved", "complete", "completed", "closed"} //nolint:gochecknoglobals // a list

func (i *jiraIssue) issue() Issue {
	out := Issue{Ref: i.Key}
	if i.Fields.Status.Category.Key != "done" {
		return out
	}
	how := i.Fields.Status.Name
	if i.Fields.Resolution != nil {
		how = i.Fields.Resolution.Name
	}
	if slices.Contains(done, strings.ToLower(how)) {
		out.State = Closed
	} else {
		out.State, out.Why = Decided, "closed as "+sanitize.Cut(how, maxTitle)+": a person's decision stands"
	}
	return out
}

func jiraLabel(fingerprint string) string { return "sc-" + fingerprint }

// Known implements [Tracker]: it searches for the labels of the fingerprints.
func (j *Jira) Known(ctx context.Context, fingerprints []string) (map[string]Issue, error) {
	known := map[string]Issue{}
	for some := range slices.Chunk(fingerprints, perPage) {
		if err := j.search(ctx, some, known); err != nil {
			return nil, err
		}
	}
	return known, nil
}

func (j *Jira) search(ctx context.Context, fingerprints []string, known map[string]Issue) error {
	labels := map[string]string{}
	var quoted []string
	for _, f := range fingerprints {
		labels[jiraLabel(f)] = f
		quoted = append(quoted, strconv.Quote(jiraLabel(f)))
	}
	send := map[string]any{
		"jql": fmt.Sprintf("project = %q AND labels IN (%s)", j.project, strings.Join(quoted, ", ")), "fields": jiraFields, "maxResults": perPage,
	}
	for range notePages {
		var page struct {
			Issues []jiraIssue `json:"issues"`
			Next   string      `json:"nextPageToken"`
		}
		if err := j.call(ctx, publish.Request{Method: http.MethodPost, Path: []string{"search", "jql"}, Send: send}, &page); err != nil {
			return err
		}
		for n := range page.Issues {
			i := &page.Issues[n]
			if err := j.check(i); err != nil {
				return err
			}
			for _, label := range i.Fields.Labels {
				f, asked := labels[label]
				if before, there := known[f]; asked && (!there || rank(i.issue().State) > rank(before.State)) {
					known[f] = i.issue()
				}
			}
		}
		if page.Next == "" {
			return nil
		}
		send["nextPageToken"] = page.Next
	}
	return fmt.Errorf("more than %d issues of %d fingerprints", perPage*notePages, len(fingerprints))
}

// check rejects a key that is none, which would get into the path of a request.
func (j *Jira) check(i *jiraIssue) error {
	if !issueKey.MatchString(i.Key) {
		return fmt.Errorf("the server answered with an issue %q, which is not a key such as %s-7", sanitize.Cut(sanitize.Line(i.Key), maxTitle), j.project)
	}
	return nil
}

func (j *Jira) call(ctx context.Context, r publish.Request, got any) error {
	r.Path = append([]string{"rest", "api", "3"}, r.Path...)
	return j.api.Call(ctx, r, got)
}

func (j *Jira) read(ctx context.Context, key string, fields ...string) (*jiraIssue, error) {
	var i jiraIssue
	r := publish.Request{Method: http.MethodGet, Path: []string{"issue", key}, Query: url.Values{"fields": {strings.Join(append(fields, jiraFields...), ",")}}}
	if err := j.call(ctx, r, &i); err != nil {
		return nil, err
	}
	if i.Key != key { // it was moved to another project
		return nil, fmt.Errorf("read %s: the server answered with issue %q", key, sanitize.Cut(sanitize.Line(i.Key), maxTitle))
	}
	return &i, nil
}

// Read implements [Tracker].
func (j *Jira) Read(ctx context.Context, i Issue) (Issue, error) {
	read, err := j.read(ctx, i.Ref)
	if err != nil {
		return i, err
	}
	return read.issue(), nil
}

func jiraMark(head string) string { return "shadowcourt:head=" + head }

// Seen implements [Tracker].
func (j *Jira) Seen(ctx context.Context, i Issue, head string) (bool, error) {
	mark := []byte(jiraMark(head))
	read, err := j.read(ctx, i.Ref, "description")
	if err != nil {
		return false, err
	}
	if bytes.Contains(read.Fields.Description, mark) {
		return true, nil
	}
	at := 0
	for range notePages {
		var page struct {
			Comments []struct {
				Body json.RawMessage `json:"body"`
			} `json:"comments"`
			Total int `json:"total"`
		}
		query := url.Values{"startAt": {strconv.Itoa(at)}, "maxResults": {strconv.Itoa(perPage)}, "orderBy": {"-created"}}
		if err := j.call(ctx, publish.Request{Method: http.MethodGet, Path: []string{"issue", i.Ref, "comment"}, Query: query}, &page); err != nil {
			return false, err
		}
		for _, c := range page.Comments {
			if bytes.Contains(c.Body, mark) {
				return true, nil
			}
		}
		if at += len(page.Comments); len(page.Comments) == 0 || at >= page.Total {
			return false, nil
		}
	}
	return false, fmt.Errorf("%s has more than %d comments: close it, and let another be opened", i.Ref, perPage*notePages)
}

// maxSummary is how many characters Jira takes.
const maxSummary = 250

// Open implements [Tracker].
func (j *Jira) Open(ctx context.Context, d *Draft) (Issue, string, error) {
	summary := []rune(sanitize.Line(d.Finding.Title()))
	fields := map[string]any{
		"project": map[string]string{"key": j.project}, "issuetype": map[string]string{"name": j.kind},
		"summary":     string(summary[:min(len(summary), maxSummary)]),
		"description": adf(append(d.Finding.text(d.Document), part{code: []string{jiraMark(d.Document.Head)}})),
		"labels":      []string{Label, jiraLabel(d.Finding.Fingerprint)},
	}
	note := ""
	if len(d.Assignees) > 0 {
		fields["assignee"] = map[string]string{"accountId": d.Assignees[0]}
		if len(d.Assignees) > 1 {
			note = "assigned to " + d.Assignees[0] + ": Jira takes one"
		}
	}
	var made struct {
		Key string `json:"key"`
	}
	if err := j.call(ctx, publish.Request{Method: http.MethodPost, Path: []string{"issue"}, Send: map[string]any{"fields": fields}}, &made); err != nil {
		return Issue{}, "", err
	}
	i := &jiraIssue{Key: made.Key}
	return Issue{Ref: made.Key}, note, j.check(i)
}

// Reopen implements [Tracker]: by the first transition to a status that is to be done, else to one in progress.
func (j *Jira) Reopen(ctx context.Context, i Issue) error {
	var list struct {
		Transitions []struct {
			ID string `json:"id"`
			To struct {
				Category struct {
					Key string `json:"key"`
				} `json:"statusCategory"`
			} `json:"to"`
		} `json:"transitions"`
	}
	path := []string{"issue", i.Ref, "transitions"}
	if err := j.call(ctx, publish.Request{Method: http.MethodGet, Path: path}, &list); err != nil {
		return err
	}
	for _, category := range []string{"new", "indeterminate"} {
		for _, t := range list.Transitions {
			if t.To.Category.Key == category && len(t.ID) <= maxTitle {
				send := map[string]any{"transition": map[string]string{"id": t.ID}}
				return j.call(ctx, publish.Request{Method: http.MethodPost, Path: path, Send: send}, nil)
			}
		}
	}
	return fmt.Errorf("reopen %s: its workflow has no transition to an open status for this user", i.Ref)
}

// Comment implements [Tracker].
func (j *Jira) Comment(ctx context.Context, i Issue, parts []part, head string) error {
	send := map[string]any{"body": adf(append(parts, part{code: []string{jiraMark(head)}}))}
	return j.call(ctx, publish.Request{Method: http.MethodPost, Path: []string{"issue", i.Ref, "comment"}, Send: send}, nil)
}

// Account implements [Tracker]: Jira doesn't know the names of CODEOWNERS.
func (*Jira) Account(string) string { return "" }

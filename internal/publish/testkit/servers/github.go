package servers

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// Issue is one of the repository acme/cart, or of the project CART.
type Issue struct {
	Number    int
	Title     string
	Body      string
	State     string // open or closed
	Reason    string // completed, not_planned
	Locked    bool
	Labels    []string
	Assignees []string
	Comments  []string
}

// GitHub has the issues of a repository.
type GitHub struct {
	Server
	// NoAssignee has the server reject assignees, and NoLabels drop labels, as GitHub does where the token may not set them.
	NoAssignee, NoLabels bool

	mu     sync.Mutex
	issues []*Issue
}

// NewGitHub begins a server for a token.
func NewGitHub(t testing.TB, token string) *GitHub {
	t.Helper()
	g := &GitHub{}
	g.serve(t, "github.json", "", "Bearer "+token,
		func(r *http.Request, path string, body []byte) reply { return g.answer(t, r, path, body) })
	return g
}

// Issues are copies of all issues.
func (g *GitHub) Issues() (all []Issue) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, i := range g.issues {
		all = append(all, *i)
	}
	return all
}

// Change changes an issue, as a person does.
func (g *GitHub) Change(number int, by func(*Issue)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	by(g.issues[number-1])
}

// Add adds an issue of somebody.
func (g *GitHub) Add(i Issue) {
	g.mu.Lock()
	defer g.mu.Unlock()
	i.Number = len(g.issues) + 1
	g.issues = append(g.issues, &i)
}

func (g *GitHub) answer(t testing.TB, r *http.Request, path string, body []byte) reply {
	t.Helper()
	g.mu.Lock()
	defer g.mu.Unlock()
	const top = "/repos/acme/cart/issues"
	parts := strings.Split(strings.TrimPrefix(strings.TrimPrefix(path, top), "/"), "/")
	if !strings.HasPrefix(path, top) {
		return fault(http.StatusNotFound, "Not Found")
	}
	if parts[0] == "" && r.Method == http.MethodGet {
		query := r.URL.Query()
		var list []any
		for _, i := range slices.Backward(g.issues) {
			if query.Get("state") == "all" && slices.Contains(i.Labels, query.Get("labels")) {
				list = append(list, g.issue(i))
			}
		}
		return g.page(r, list)
	}
	if parts[0] == "" {
		var in struct {
			Title     string   `json:"title"`
			Body      string   `json:"body"`
			Labels    []string `json:"labels"`
			Assignees []string `json:"assignees"`
		}
		decode(t, body, &in)
		if g.NoAssignee && len(in.Assignees) > 0 {
			return fault(http.StatusUnprocessableEntity, "Validation Failed")
		}
		i := &Issue{Number: len(g.issues) + 1, Title: in.Title, Body: in.Body, State: "open", Labels: in.Labels, Assignees: in.Assignees}
		if g.NoLabels {
			i.Labels = nil
		}
		g.issues = append(g.issues, i)
		return answer(http.StatusCreated, g.issue(i))
	}
	number, err := strconv.Atoi(parts[0])
	if err != nil || number < 1 || number > len(g.issues) {
		return fault(http.StatusNotFound, "Not Found")
	}
	i := g.issues[number-1]
	switch {
	case len(parts) == 1 && r.Method == http.MethodGet:
		return answer(http.StatusOK, g.issue(i))
	case len(parts) == 1:
		var in struct {
			State  string `json:"state"`
			Reason string `json:"state_reason"`
		}
		decode(t, body, &in)
		i.State, i.Reason = in.State, in.Reason
		return answer(http.StatusOK, g.issue(i))
	case r.Method == http.MethodGet:
		list := []any{}
		for n := range i.Comments {
			list = append(list, g.comment(i, n))
		}
		return g.page(r, list)
	}
	var in struct {
		Body string `json:"body"`
	}
	decode(t, body, &in)
	i.Comments = append(i.Comments, in.Body)
	return answer(http.StatusCreated, g.comment(i, len(i.Comments)-1))
}

// page cuts a list as the query asks, and links the next one.
func (g *GitHub) page(r *http.Request, list []any) reply {
	n, _ := strconv.Atoi(r.URL.Query().Get("page"))
	size, _ := strconv.Atoi(r.URL.Query().Get("per_page"))
	n, size = max(n, 1), max(size, 1)
	from := min((n-1)*size, len(list))
	to := min(n*size, len(list))
	a := answer(http.StatusOK, append([]any{}, list[from:to]...))
	if to < len(list) {
		a.link = fmt.Sprintf("<%s%s?page=%d>; rel=\"next\"", g.URL, r.URL.Path, n+1)
	}
	return a
}

func (g *GitHub) issue(i *Issue) object {
	var reason any
	if i.Reason != "" {
		reason = i.Reason
	}
	labels := []object{}
	for _, l := range i.Labels {
		labels = append(labels, object{"name": l})
	}
	at := g.URL + "/repos/acme/cart/issues/" + strconv.Itoa(i.Number)
	return object{
		"id": i.Number, "node_id": "n", "number": i.Number, "title": i.Title, "body": i.Body, "state": i.State, "state_reason": reason, "locked": i.Locked,
		"labels": labels, "assignee": nil, "milestone": nil, "closed_at": nil, "comments": len(i.Comments), "user": nil,
		"created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z", "url": at, "html_url": at, "comments_url": at, "events_url": at,
		"labels_url": at, "repository_url": at,
	}
}

func (g *GitHub) comment(i *Issue, n int) object {
	at := g.URL + "/comments/" + strconv.Itoa(n)
	return object{
		"id": n + 1, "node_id": "n", "body": i.Comments[n], "user": nil, "html_url": at, "issue_url": at, "url": at,
		"created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z",
	}
}

package testkit

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// Hook may answer a request in a server's place, as its description may not have it; nil has the server answer.
type Hook func(r *http.Request, path string) http.HandlerFunc

// Server is what all servers have in common.
type Server struct {
	*httptest.Server

	Hook Hook

	mu     sync.Mutex
	asked  []string
	writes []string
}

// serve begins a server that ends with the test.
func (s *Server) serve(t testing.TB, description, prefix, authorization string, answer func(r *http.Request, path string, body []byte) serverReply) {
	t.Helper()
	s.Server = httptest.NewServer(describe(t, description).Serve(t, prefix, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if a, ok := r.Context().Value(replyKey{}).(serverReply); ok {
			a.write(w)
		}
	}), func(w http.ResponseWriter, r *http.Request) bool {
		path := strings.TrimPrefix(r.URL.Path, prefix)
		if got := r.Header.Get("Authorization"); got != authorization {
			t.Errorf("%s %s is authorized by %q", r.Method, path, got)
		}
		s.note(r.Method+" "+path, r.Method != http.MethodGet)
		if s.Hook != nil {
			if instead := s.Hook(r, path); instead != nil {
				instead(w, r)
				return true
			}
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		a := answer(r, path, body)
		if a.status > 299 { // descriptions don't have all faults
			a.write(w)
			return true
		}
		*r = *r.WithContext(context.WithValue(r.Context(), replyKey{}, a)) // the handler gives it, and it is checked
		return false
	}))
	t.Cleanup(s.Close)
}

type replyKey struct{}

func (s *Server) note(request string, write bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, request)
	if write {
		s.writes = append(s.writes, request)
	}
}

// Writes are the requests that would change something, since the last call.
func (s *Server) Writes() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	writes := s.writes
	s.writes = nil
	return writes
}

// Requests are all requests.
func (s *Server) Requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked)
}

// serverReply is what a server answers. A nil body stands for none.
type serverReply struct {
	status int
	body   any
	link   string
}

func (a serverReply) write(w http.ResponseWriter) {
	if a.link != "" {
		w.Header().Set("Link", a.link)
	}
	if a.body == nil {
		w.WriteHeader(a.status)
		return
	}
	w.Header().Set("Content-Type", "application/json;charset=UTF-8")
	w.WriteHeader(a.status)
	_ = json.NewEncoder(w).Encode(a.body)
}

type fields = map[string]any

func answer(status int, body any) serverReply { return serverReply{status: status, body: body} }

func fault(status int, message string) serverReply { return answer(status, fields{"message": message}) }

func decode(t testing.TB, body []byte, into any) {
	t.Helper()
	if err := json.Unmarshal(body, into); err != nil {
		t.Error(err)
	}
}

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

// Issues has the issues of a repository.
type Issues struct {
	Server
	// NoAssignee has the server reject assignees, and NoLabels drop labels, as GitHub does where the token may not set them.
	NoAssignee, NoLabels bool

	mu     sync.Mutex
	issues []*Issue
}

// NewIssues begins a server for a token.
func NewIssues(t testing.TB, token string) *Issues {
	t.Helper()
	g := &Issues{}
	g.serve(t, "github.json", "", "Bearer "+token,
		func(r *http.Request, path string, body []byte) serverReply { return g.answer(t, r, path, body) })
	return g
}

// Issues are copies of all issues.
func (g *Issues) Issues() (all []Issue) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, i := range g.issues {
		all = append(all, *i)
	}
	return all
}

// Change changes an issue, as a person does.
func (g *Issues) Change(number int, by func(*Issue)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	by(g.issues[number-1])
}

// Add adds an issue of somebody.
func (g *Issues) Add(i Issue) {
	g.mu.Lock()
	defer g.mu.Unlock()
	i.Number = len(g.issues) + 1
	g.issues = append(g.issues, &i)
}

func (g *Issues) answer(t testing.TB, r *http.Request, path string, body []byte) serverReply {
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
func (g *Issues) page(r *http.Request, list []any) serverReply {
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

func (g *Issues) issue(i *Issue) fields {
	var reason any
	if i.Reason != "" {
		reason = i.Reason
	}
	labels := []fields{}
	for _, l := range i.Labels {
		labels = append(labels, fields{"name": l})
	}
	at := g.URL + "/repos/acme/cart/issues/" + strconv.Itoa(i.Number)
	return fields{
		"id": i.Number, "node_id": "n", "number": i.Number, "title": i.Title, "body": i.Body, "state": i.State, "state_reason": reason, "locked": i.Locked,
		"labels": labels, "assignee": nil, "milestone": nil, "closed_at": nil, "comments": len(i.Comments), "user": nil,
		"created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z", "url": at, "html_url": at, "comments_url": at, "events_url": at,
		"labels_url": at, "repository_url": at,
	}
}

func (g *Issues) comment(i *Issue, n int) fields {
	at := g.URL + "/comments/" + strconv.Itoa(n)
	return fields{
		"id": n + 1, "node_id": "n", "body": i.Comments[n], "user": nil, "html_url": at, "issue_url": at, "url": at,
		"created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z",
	}
}

// Defect is the issue of a test item.
type Defect struct {
	Type           string           `json:"issueType"`
	Comment        string           `json:"comment,omitempty"`
	AutoAnalyzed   bool             `json:"autoAnalyzed"`
	IgnoreAnalyzer bool             `json:"ignoreAnalyzer"`
	Tickets        []map[string]any `json:"externalSystemIssues,omitempty"`
}

// ReportPortal has the project cart.
type ReportPortal struct {
	Server

	mu    sync.Mutex
	items map[int64]*Defect
}

// NewReportPortal begins a server with items that failed, for a token.
func NewReportPortal(t testing.TB, token string, items map[int64]*Defect) *ReportPortal {
	t.Helper()
	p := &ReportPortal{items: items}
	p.serve(t, "reportportal.json", "/api", "Bearer "+token,
		func(r *http.Request, path string, body []byte) serverReply { return p.answer(t, r, path, body) })
	return p
}

// Item is the defect of an item.
func (p *ReportPortal) Item(id int64) Defect {
	p.mu.Lock()
	defer p.mu.Unlock()
	return *p.items[id]
}

// Decide sets the defect of an item, as a person does.
func (p *ReportPortal) Decide(id int64, d Defect) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.items[id] = &d
}

func (p *ReportPortal) answer(t testing.TB, r *http.Request, path string, body []byte) serverReply {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case path == "/v1/cart/settings":
		sub := func(locator, group, name string) fields {
			return fields{"id": 1, "locator": locator, "typeRef": group, "longName": name}
		}
		return answer(http.StatusOK, fields{"project": 1, "subTypes": fields{
			"PRODUCT_BUG":    []fields{sub("pb001", "PRODUCT_BUG", "Product Bug"), sub("pb_1h7", "PRODUCT_BUG", "Rounding")},
			"AUTOMATION_BUG": []fields{sub("ab001", "AUTOMATION_BUG", "Automation Bug")},
			"SYSTEM_ISSUE":   []fields{sub("si001", "SYSTEM_ISSUE", "System Issue")},
			"NO_DEFECT":      []fields{sub("nd001", "NO_DEFECT", "No Defect")},
			"TO_INVESTIGATE": []fields{sub("ti001", "TO_INVESTIGATE", "To Investigate"), sub("ti_9", "TO_INVESTIGATE", "With the vendor")},
		}})
	case r.Method == http.MethodPut:
		var in struct {
			Issues []struct {
				ID    int64  `json:"testItemId"`
				Issue Defect `json:"issue"`
			} `json:"issues"`
		}
		decode(t, body, &in)
		written := []Defect{}
		for i := range in.Issues {
			d := in.Issues[i].Issue
			d.Comment = strings.TrimSpace(d.Comment) // as the server does
			p.items[in.Issues[i].ID] = &d
			written = append(written, d)
		}
		return answer(http.StatusOK, written)
	}
	id, err := strconv.ParseInt(path[strings.LastIndexByte(path, '/')+1:], 10, 64)
	if d := p.items[id]; err == nil && d != nil {
		return answer(http.StatusOK, fields{"id": id, "name": "test " + strconv.FormatInt(id, 10), "status": "FAILED", "type": "STEP", "hasChildren": false, "hasStats": true, "issue": d})
	}
	return fault(http.StatusNotFound, "Test Item not found")
}

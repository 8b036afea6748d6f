package testkit

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// Comment is one on a pull request or a merge request.
type Comment struct {
	ID     int
	Author string // of GitLab the number of the user
	Body   string
}

// Host is a code host with one pull request, that of number 1, and one user of a token.
type Host struct {
	URL   string // of the API
	Me    string // the name of the token's user, of GitLab the number
	Token string
	// NotMine answers whose token it is with 403, as GitHub does to tokens of apps.
	NotMine bool
	// Before may answer a request in the place of the server.
	Before func(w http.ResponseWriter, r *http.Request) bool
	// Pulls are the heads of open pull requests by OWNER:BRANCH.
	Pulls map[string]string

	mu       sync.Mutex
	next     int
	comments []Comment
	log      []string
	bearer   string // before the token
	header   string
	describe *description
	object   func(h *Host, c Comment) map[string]any
}

// Add adds a comment, and gives its id.
func (h *Host) Add(author, body string) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.next++
	h.comments = append(h.comments, Comment{h.next, author, body})
	return h.next
}

// Comments are all that there are.
func (h *Host) Comments() []Comment {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.comments)
}

// Log are the requests, such as "GET /user".
func (h *Host) Log() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.log)
}

// Writes are the requests that change something.
func (h *Host) Writes() (list []string) {
	for _, line := range h.Log() {
		if !strings.HasPrefix(line, http.MethodGet+" ") {
			list = append(list, line)
		}
	}
	return list
}

func reply(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if v != nil {
		_ = json.NewEncoder(w).Encode(v)
	}
}

func message(text string) map[string]any { return map[string]any{"message": text} }

// serve begins the server.
func (h *Host) serve(t testing.TB, mux *http.ServeMux) {
	t.Helper()
	checked := h.describe.Serve(t, "", mux, func(w http.ResponseWriter, r *http.Request) bool {
		if r.Header.Get(h.header) != h.bearer+h.Token {
			reply(w, http.StatusUnauthorized, message("Bad credentials"))
			return true
		}
		return h.Before != nil && h.Before(w, r)
	})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.mu.Lock()
		h.log = append(h.log, r.Method+" "+r.URL.RequestURI())
		h.mu.Unlock()
		checked.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	h.URL = s.URL
}

// list answers with a page of the comments.
func (h *Host) list(w http.ResponseWriter, r *http.Request) {
	page, size := 1, 30
	if n, err := strconv.Atoi(r.URL.Query().Get("page")); err == nil {
		page = n
	}
	if n, err := strconv.Atoi(r.URL.Query().Get("per_page")); err == nil {
		size = n
	}
	out := []any{}
	all := h.Comments()
	from := min((page-1)*size, len(all))
	for _, c := range all[from:min(from+size, len(all))] {
		out = append(out, h.object(h, c))
	}
	reply(w, http.StatusOK, out)
}

func (h *Host) post(w http.ResponseWriter, r *http.Request) {
	id := h.Add(h.Me, bodyOf(r))
	for _, c := range h.Comments() {
		if c.ID == id {
			reply(w, http.StatusCreated, h.object(h, c))
		}
	}
}

// change replaces or removes a comment.
func (h *Host) change(id string, done func(c Comment), with func(*Comment) bool) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := range h.comments {
		c := &h.comments[i]
		if strconv.Itoa(c.ID) == id {
			keep := with(c)
			done(*c)
			if !keep {
				h.comments = slices.Delete(h.comments, i, i+1)
			}
			return true
		}
	}
	return false
}

func bodyOf(r *http.Request) string {
	var in struct {
		Body string `json:"body"`
	}
	_ = json.NewDecoder(r.Body).Decode(&in)
	return in.Body
}

func (h *Host) edit(w http.ResponseWriter, r *http.Request, id string) {
	body := bodyOf(r)
	found := h.change(id, func(c Comment) { reply(w, http.StatusOK, h.object(h, c)) }, func(c *Comment) bool {
		c.Body = body
		return true
	})
	if !found {
		reply(w, http.StatusNotFound, message("Not Found"))
	}
}

func (h *Host) remove(w http.ResponseWriter, id string) {
	if !h.change(id, func(Comment) { reply(w, http.StatusNoContent, nil) }, func(*Comment) bool { return false }) {
		http.Error(w, "", http.StatusNotFound)
	}
}

// NewGitHub is a server of GitHub with the repository acme/shop.
func NewGitHub(t testing.TB, me, token string) *Host {
	t.Helper()
	h := &Host{Me: me, Token: token, header: "Authorization", bearer: "Bearer ", describe: describe(t, "github.json"), object: ofGitHub}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /user", func(w http.ResponseWriter, _ *http.Request) {
		if h.NotMine {
			reply(w, http.StatusForbidden, message("Resource not accessible by integration"))
			return
		}
		u := h.describe.Sample("public-user")
		u["login"] = h.Me
		reply(w, http.StatusOK, u)
	})
	mux.HandleFunc("GET /repos/acme/shop/issues/1/comments", h.list)
	mux.HandleFunc("POST /repos/acme/shop/issues/1/comments", h.post)
	mux.HandleFunc("PATCH /repos/acme/shop/issues/comments/{id}", func(w http.ResponseWriter, r *http.Request) { h.edit(w, r, r.PathValue("id")) })
	mux.HandleFunc("DELETE /repos/acme/shop/issues/comments/{id}", func(w http.ResponseWriter, r *http.Request) { h.remove(w, r.PathValue("id")) })
	mux.HandleFunc("GET /repos/acme/shop/pulls", func(w http.ResponseWriter, r *http.Request) {
		list := []any{}
		if sha := h.Pulls[r.URL.Query().Get("head")]; sha != "" {
			p := h.describe.Sample("pull-request-simple")
			p["number"] = 1
			object(p["head"])["sha"] = sha
			list = append(list, p)
		}
		reply(w, http.StatusOK, list)
	})
	h.serve(t, mux)
	return h
}

func ofGitHub(h *Host, c Comment) map[string]any {
	o, u := h.describe.Sample("issue-comment"), h.describe.Sample("simple-user")
	u["login"] = c.Author
	o["id"], o["body"], o["user"] = c.ID, c.Body, u
	return o
}

// NewGitLab is a server of GitLab with the project 7.
func NewGitLab(t testing.TB, me, token string) *Host {
	t.Helper()
	h := &Host{Me: me, Token: token, header: "PRIVATE-TOKEN", describe: describe(t, "gitlab.json"), object: ofGitLab}
	const notes = "/projects/7/merge_requests/1/notes"
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/v4/user", func(w http.ResponseWriter, _ *http.Request) {
		id, _ := strconv.Atoi(h.Me)
		reply(w, http.StatusOK, map[string]any{"id": id, "username": "court"})
	})
	mux.HandleFunc("GET /api/v4"+notes, h.list)
	mux.HandleFunc("POST /api/v4"+notes, h.post)
	mux.HandleFunc("PUT /api/v4"+notes+"/{note}", func(w http.ResponseWriter, r *http.Request) { h.edit(w, r, r.PathValue("note")) })
	mux.HandleFunc("DELETE /api/v4"+notes+"/{note}", func(w http.ResponseWriter, r *http.Request) { h.remove(w, r.PathValue("note")) })
	h.serve(t, mux)
	h.URL += "/api/v4"
	return h
}

func ofGitLab(_ *Host, c Comment) map[string]any {
	id, _ := strconv.Atoi(c.Author)
	return map[string]any{
		"id": c.ID, "body": c.Body, "author": map[string]any{"id": id, "username": "user" + c.Author}, "system": false,
		"created_at": "2026-01-31T12:00:00Z", "updated_at": "2026-01-31T12:00:00Z", "project_id": 7,
	}
}

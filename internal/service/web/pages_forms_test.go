package web_test

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/internal/service/auth"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

func TestTokensByForm(t *testing.T) {
	t.Parallel()
	s := newService(t, serviceOptions{scopes: []auth.Scope{auth.Operate}})
	status, body := s.post("/settings/tokens", url.Values{"name": {"ci"}, "scope": {"submit", "review"}})
	must.Equal(t, status, http.StatusOK, "a token")
	var secret string
	every(parsed(t, "/settings/tokens", body), func(n *html.Node) {
		if attribute(n, "id") == "secret" {
			secret = text(n)
		}
	})
	if auth.CheckToken(secret) != nil || strings.Contains(s.ok("/settings"), secret) {
		t.Errorf("the token is %q, and shown again", secret)
	}
	list, err := s.store.Tokens(t.Context())
	if err != nil || list[0].Name != "ci" || strings.Join(list[0].Scopes, " ") != "submit review" {
		t.Fatalf("the tokens are %+v, %v", list, err)
	}
	s.posted(fmt.Sprintf("/settings/tokens/%d/revoke", list[0].ID), nil)
	if list, err = s.store.Tokens(t.Context()); err != nil || list[0].Revoked.IsZero() {
		t.Errorf("the token is not revoked: %+v, %v", list[0], err)
	}
	for name, form := range map[string]url.Values{"no name": {"scope": {"submit"}}, "no scope": {"name": {"x"}}, "another scope": {"name": {"x"}, "scope": {"all"}}} {
		if status, _ := s.post("/settings/tokens", form); status != http.StatusUnprocessableEntity {
			t.Errorf("%s gives %d", name, status)
		}
	}
}

func TestTrialShowsItsCorrections(t *testing.T) {
	t.Parallel()
	s := filled(t, serviceOptions{})
	history := func() []string {
		var list []string
		for _, n := range nodes(nodes(parsed(t, "/trials/1-4", s.ok("/trials/1-4")), ".history")[0], "li") {
			list = append(list, text(n))
		}
		return list
	}
	s.posted("/corrections", url.Values{"label": {"si001"}, "entry": {"1-4"}})
	s.posted("/corrections", url.Values{"label": {"nd001"}, "entry": {"1-4"}})
	s.posted("/corrections/undo", url.Values{"correction": {"1"}})
	s.posted("/corrections", url.Values{"label": {"pb001"}, "entry": {"1-4"}})
	if got := history(); len(got) != 3 || !strings.Contains(got[1], "just now, replaced by a later one") || !strings.Contains(got[2], "just now, in force") {
		t.Errorf("the history is %q", got)
	}
	s.posted("/corrections/undo", url.Values{"correction": {"3"}})
	if got := text(nodes(parsed(t, "/trials/1-4", s.ok("/trials/1-4")), ".corrected")[0]); got != "Corrected to no defect, flaky by local, just now" {
		t.Errorf("the page says %q", got)
	}
	if got := history(); len(got) != 3 || !strings.Contains(got[0], "product bug → system issue by local, just now, taken back") {
		t.Errorf("the history is %q", got)
	}
}

func TestChangesAreToldUntilTheServerStops(t *testing.T) {
	t.Parallel()
	stop := make(chan struct{})
	s := newService(t, serviceOptions{stop: stop})
	r := must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+"/changes", nil))(t)
	answer, err := s.client.Do(r)
	must.Do(t, err)
	defer func() { _ = answer.Body.Close() }()
	lines := bufio.NewScanner(answer.Body)
	next := func(want string) {
		t.Helper()
		for lines.Scan() {
			if lines.Text() == want {
				return
			}
		}
		t.Fatalf("the stream ended before %q: %v", want, lines.Err())
	}
	next("data: {}") // at once, so that a page that comes back fetches what it missed
	s.submit("nightly", "example.org/app", demoEntries(t)[:1])
	next(`data: {"docket":1}`)
	s.addGeneration("another judge", nil)
	next(`data: {"modules":true}`)
	close(stop)
	must.Get(io.Copy(io.Discard, answer.Body))(t, "the stream ended with")
}

func TestListsHavePages(t *testing.T) {
	t.Parallel()
	s := newService(t, serviceOptions{})
	entries := copies(demoEntries(t)[3], 120)
	for i := range entries {
		entries[i].Case.Documents = []abi.Document{{Name: "log", Text: fmt.Sprintf("--- FAIL: Test%d\npanic: number %d of its own kind %s\n", i, i, strings.Repeat("x", i))}}
		entries[i].Case.Subject = fmt.Sprintf("Test%d fails", i)
	}
	s.try(s.submit("large", "", entries), nil)
	for _, first := range []string{"/dockets/1", "/"} {
		seen, pages := map[string]bool{}, 0
		for path := first; path != ""; pages++ {
			root := parsed(t, path, s.ok(path))
			for _, n := range nodes(root, "a") {
				if href := attribute(n, "href"); regexp.MustCompile(`^/trials/\d+-\d+$`).MatchString(href) {
					seen[href] = true
				}
			}
			path = ""
			for _, n := range nodes(root, "a") {
				if attribute(n, "rel") == "next" {
					path = attribute(n, "href")
				}
			}
		}
		if pages > 3 || first == "/dockets/1" && (pages != 3 || len(seen) != 120) {
			t.Errorf("%s has %d pages with %d cases", first, pages, len(seen))
		}
	}
}

func TestLongDocumentsComeInParts(t *testing.T) {
	t.Parallel()
	s := filled(t, serviceOptions{})
	body := s.ok("/trials/3-1")
	if len(body) > 100<<10 {
		t.Errorf("the page of a trial with a log of 300 KiB has %d bytes", len(body))
	}
	root := parsed(t, "/trials/3-1", body)
	quoted := nodes(root, ".first")
	if len(quoted) != 1 || attribute(quoted[0], "id") != "d0-L"+strconv.Itoa(quotedLine) {
		t.Fatalf("%d lines are the first to see: %v", len(quoted), attribute(quoted[0], "id"))
	}
	// What is behind each button together is all of the document, each line once.
	next := nodes(nodes(root, ".gap")[0], "a")[0]
	for pages := 0; next != nil; pages++ {
		if pages > 100 {
			t.Fatal("the document has no end")
		}
		_, part := s.get(attribute(next, "href"), "X-Fragment", "document")
		fragment := must.Get(html.Parse(strings.NewReader("<ol>" + part + "</ol>")))(t)
		if lines := nodes(fragment, "li"); len(lines) < 2 {
			t.Errorf("a part has %d lines", len(lines))
		}
		next = nil
		if gaps := nodes(fragment, ".gap"); len(gaps) > 0 {
			next = nodes(gaps[len(gaps)-1], "a")[0]
		}
	}
}

// addGeneration adds one with another module, and gives its ID.
func (s *service) addGeneration(note string, change func(*store.Generation)) int64 {
	s.t.Helper()
	ctx := s.t.Context()
	digest := must.Get(s.store.AddBlob(ctx, []byte("\x00asm"+note)))(s.t)
	current, err := s.store.CurrentGeneration(ctx)
	must.Do(s.t, err)
	g := store.Generation{Parent: current, Note: note, Author: "ada", Parts: store.Parts{Modules: map[string]string{"specter": digest}}}
	if change != nil {
		change(&g)
	}
	g = must.Get(s.store.AddGeneration(ctx, g))(s.t)
	return g.ID
}

// People get a page about what was rejected before it reached one; programs get a problem.
func TestRejectionsArePagesForPeople(t *testing.T) {
	t.Parallel()
	s := newService(t, serviceOptions{})
	for _, c := range []struct{ path, accept, begin string }{
		{"/corrections", "text/html", "<!DOCTYPE html>"}, {"/corrections", "application/json", `{"title":`}, {"/api/v1/corrections", "text/html", `{"title":`},
	} {
		status, body := s.post(c.path, nil, "Accept", c.accept, "Sec-Fetch-Site", "cross-site")
		if status != http.StatusForbidden || !strings.HasPrefix(body, c.begin) || !strings.Contains(body, "the request comes from a page of another site") {
			t.Errorf("%s for %s: %d %.300s", c.path, c.accept, status, body)
		}
	}
}

// TestAccept_FZ9_RowsTellTheFailure: rows of the inbox and of a docket have the message of the failure and all of a label's name, the bar of
// a docket tells what needs a person from what doesn't, and the page of quality begins with what its shares mean.
func TestAccept_FZ9_RowsTellTheFailure(t *testing.T) {
	t.Parallel()
	s := filled(t, serviceOptions{})
	for _, path := range []string{"/", "/dockets/1"} {
		page := s.ok(path)
		if messages := nodes(parsed(t, path, page), ".message"); len(messages) < 5 || text(messages[0]) == "" {
			t.Errorf("%s has %d messages", path, len(messages))
		}
		check.Contains(t, page, "automation bug, the test is wrong", path, "cuts the name of a label")
	}
	if bar := s.ok("/dockets/1"); !strings.Contains(bar, "affirmed, need a person</title>") || !strings.Contains(bar, "affirmed, need a person</li>") {
		t.Error("the bar shows what is uncertain as if it was not")
	}
	lead := text(nodes(parsed(t, "/quality", s.ok("/quality")), ".lead")[0])
	if !strings.Contains(lead, "Of 12 cases whose right label is known, the court names it in 6 (50.0%), and Light alone in 5 (41.7%). The court puts right 1 answer of Light more") {
		t.Error(lead)
	}
}

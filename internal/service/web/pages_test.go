package web_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/service/auth"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
)

// allPages are those of a service that filled makes.
var allPages = []string{
	"/", "/?q=nothing+at+all&repository=x&label=y&status=z&age=7d", "/inbox/group?key=x", "/dockets", "/dockets?q=x&state=done", "/dockets/1",
	"/dockets/1?status=amended", "/trials/1-1", "/trials/1-1/brief", "/trials/3-1", "/trials/3-1/documents/0?from=100&to=600", "/modules", "/modules/1",
	"/quality", "/quality?age=7d", "/settings", "/login",
}

// A cursor that no page gave is an error, not the first page.
func TestPagesRejectOtherCursors(t *testing.T) {
	t.Parallel()
	s := newService(t, serviceOptions{})
	s.submit("nightly", "shop", demoEntries(t)[:1])
	for _, path := range []string{"/?cursor=here", "/?q=x&cursor=1", "/inbox/group?key=x&cursor=1", "/dockets?cursor=-1", "/dockets?cursor=last", "/dockets/1?cursor=17"} {
		if status, body := s.get(path); status != http.StatusUnprocessableEntity || !strings.Contains(body, "begin at the first page") {
			t.Errorf("%s gives %d:\n%s", path, status, body)
		}
	}
}

// parsed reads a page, and checks what every page has: one main part, one first heading, and nothing that its policy forbids.
func parsed(t *testing.T, path, body string) *html.Node {
	t.Helper()
	root, err := html.Parse(strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if n := len(nodes(root, "main")); n != 1 {
		t.Errorf("%s has %d main parts", path, n)
	}
	if n := len(nodes(root, "h1")); n != 1 {
		t.Errorf("%s has %d first headings", path, n)
	}
	ids := map[string]bool{}
	every(root, func(n *html.Node) {
		for _, a := range n.Attr {
			switch {
			case a.Key == "style" || strings.HasPrefix(a.Key, "on"):
				t.Errorf("%s: <%s %s=%q>", path, n.Data, a.Key, a.Val)
			case (a.Key == "href" || a.Key == "src" || a.Key == "action") && !regexp.MustCompile(`^(/[^/\\]|/$|#)`).MatchString(a.Val):
				t.Errorf("%s leads to %q", path, a.Val)
			case a.Key == "id" && ids[a.Val]:
				t.Errorf("%s has two elements %q", path, a.Val)
			case a.Key == "id":
				ids[a.Val] = true
			}
		}
		switch n.Data {
		case "style", "iframe", "object", "embed", "base":
			t.Errorf("%s has a <%s>", path, n.Data)
		case "script":
			if n.FirstChild != nil {
				t.Errorf("%s has an inline script", path)
			}
		}
	})
	return root
}

func every(n *html.Node, visit func(*html.Node)) {
	if n.Type == html.ElementNode {
		visit(n)
	}
	for c := range n.ChildNodes() {
		every(c, visit)
	}
}

// nodes are the elements with a tag, or with a class after a dot.
func nodes(root *html.Node, selector string) []*html.Node {
	class, byClass := strings.CutPrefix(selector, ".")
	var list []*html.Node
	every(root, func(n *html.Node) {
		if n.Data == selector || byClass && strings.Contains(" "+attribute(n, "class")+" ", " "+class+" ") {
			list = append(list, n)
		}
	})
	return list
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// text is what a reader sees of an element, on one line.
func text(n *html.Node) string {
	var b strings.Builder
	var gather func(*html.Node)
	gather = func(n *html.Node) {
		if n.Type == html.TextNode {
			b.WriteString(n.Data)
		}
		for c := range n.ChildNodes() {
			gather(c)
		}
	}
	gather(n)
	return strings.Join(strings.Fields(b.String()), " ")
}

func TestPagesAreSoundAndKeepTheirPolicy(t *testing.T) {
	t.Parallel()
	s := filled(t, serviceOptions{})
	for _, path := range allPages {
		parsed(t, path, s.ok(path))
	}
	for path, want := range map[string]int{"/nothing": 404, "/dockets/99": 404, "/dockets/x": 404, "/trials/1-99": 404, "/trials/1": 404, "/modules/77": 404, "/trials/3-1/documents/7": 404, "/modules/77/activate": 404} {
		status, body := s.get(path)
		if status != want {
			t.Errorf("%s gives %d", path, status)
		}
		parsed(t, path, body)
	}
}

func TestHostileTextIsInert(t *testing.T) {
	t.Parallel()
	attack := `</bdi><script>alert(1)</script><img src=x onerror=alert(2)>"'>` + "\u202Eevil\x1b[31m\x00\u2066"
	label := "pb<b>'\"`" + "\u202E"
	entry := docket.Entry{
		Case: abi.Case{
			ID: attack, Group: attack, Subject: attack, Labels: []string{label, "nd001"},
			Light:     &abi.LightAnswer{Classification: label, Confidence: 0.55, Reasoning: attack},
			Evidence:  []abi.Evidence{{SourceRef: "log:L2", Content: attack, RelevanceConfidence: 0.7, Supports: label}, {SourceRef: attack, Content: attack, RelevanceConfidence: 0.5}},
			Documents: []abi.Document{{Name: "log", Text: "one\n" + attack + "\nthree\n"}, {Name: attack, Text: "diff --git a b\n+" + attack + "\n-" + attack + "\n"}},
		},
		LabelNames: map[string]string{label: attack}, Source: attack,
	}
	s := newService(t, serviceOptions{})
	id := s.submit(attack, attack, []docket.Entry{entry})
	s.try(id, func(tried *trial.Trial) {
		tried.Result.GapBrief = &trial.GapBrief{Summary: attack, Gaps: []trial.Gap{{Description: attack, Source: attack, SuggestedAction: attack}}}
	})
	s.addGeneration(attack, nil)
	if _, body := s.post("/corrections", url.Values{"label": {label}, "entry": {"1-1"}, "back": {"/trials/1-1"}}); !strings.HasPrefix(body, "/trials/1-1?") {
		t.Fatalf("the correction leads to %s", body)
	}
	for _, path := range append([]string{"/trials/1-1/documents/1", "/inbox/group?key=" + url.QueryEscape(attack), "/modules/2", "/modules/2/activate", "/?q=" + url.QueryEscape(attack) + "&label=" + url.QueryEscape(attack)}, allPages[:9]...) {
		if strings.Contains(path, "amended") || path == "/trials/3-1" {
			continue
		}
		_, body := s.get(path)
		root := parsed(t, path, body)
		for _, n := range append(nodes(root, "script"), nodes(root, "img")...) {
			if src := attribute(n, "src"); !strings.HasPrefix(src, "/static/") {
				t.Errorf("%s has a <%s src=%q>", path, n.Data, src)
			}
		}
		var shown strings.Builder
		shown.WriteString(text(root))
		every(root, func(n *html.Node) {
			for _, a := range n.Attr {
				if a.Key != "value" && a.Key != "href" { // those must be what they were
					shown.WriteString(" " + a.Val)
				}
			}
		})
		seen := shown.String()
		if i := strings.IndexAny(seen, "\u202E\u2066\x1b\x00"); i >= 0 {
			t.Errorf("%s shows a character that hides or acts: %q", path, seen[max(0, i-60):min(len(seen), i+20)])
		}
	}
}

// Every action works as a plain form, without a script.
func TestCorrectionByPlainForms(t *testing.T) {
	t.Parallel()
	s := filled(t, serviceOptions{})
	root := parsed(t, "/", s.ok("/"))
	groups := nodes(root, ".group")
	var form *html.Node
	for _, f := range nodes(groups[0], "form") {
		form = f
	}
	fields := url.Values{"label": {"si001"}}
	for _, input := range nodes(form, "input") {
		fields.Add(attribute(input, "name"), attribute(input, "value"))
	}
	status, place := s.post(attribute(form, "action"), fields)
	if status != http.StatusSeeOther || !strings.HasPrefix(place, "/?") {
		t.Fatalf("the form gives %d %s", status, place)
	}
	page := parsed(t, place, s.ok(place))
	if got := text(nodes(page, ".notice")[0]); got != "Corrected 8 cases. Undo u" {
		t.Errorf("the page says %q", got)
	}
	if n := len(nodes(page, ".group")); n != len(groups)-1 {
		t.Errorf("%d groups are left of %d", n, len(groups))
	}
	undo := url.Values{}
	for _, input := range nodes(nodes(page, ".notice")[0], "input") {
		undo.Add(attribute(input, "name"), attribute(input, "value"))
	}
	if status, place = s.post("/corrections/undo", undo); status != http.StatusSeeOther {
		t.Fatalf("undo gives %d", status)
	}
	if n := len(nodes(parsed(t, place, s.ok(place)), ".group")); n != len(groups) {
		t.Errorf("after undo %d groups are left of %d", n, len(groups))
	}
	for name, form := range map[string]url.Values{
		"no label":       {"entry": {"1-1"}},
		"nothing chosen": {"label": {"si001"}},
		"another label":  {"label": {"zz999"}, "entry": {"1-1"}},
	} {
		if status, body := s.post("/corrections", form); status != http.StatusUnprocessableEntity {
			t.Errorf("%s gives %d: %s", name, status, body)
		}
	}
	if _, place := s.post("/corrections", url.Values{"label": {"si001"}, "entry": {"1-1"}, "back": {"https://evil.example/"}}); !strings.HasPrefix(place, "/?") {
		t.Errorf("a form leads to %s", place)
	}
}

func TestPagesNeedTheirScope(t *testing.T) {
	t.Parallel()
	s := newService(t, serviceOptions{scopes: []auth.Scope{auth.Submit}})
	id := s.submit("nightly", "example.org/app", demoEntries(t)[:1])
	s.try(id, nil)
	for _, path := range []string{"/", "/trials/1-1", "/modules", "/settings"} {
		root := parsed(t, path, s.ok(path))
		every(root, func(n *html.Node) {
			if action := attribute(n, "action"); n.Data == "form" && (strings.HasPrefix(action, "/corrections") && attribute(n, "id") != "selection" || strings.HasPrefix(action, "/modules") || strings.HasPrefix(action, "/settings")) {
				t.Errorf("%s has the form %s", path, action)
			}
		})
	}
	for _, path := range []string{"/corrections", "/corrections/undo", "/modules", "/modules/1/activate", "/settings/tokens", "/settings/tokens/1/revoke"} {
		if status, _ := s.post(path, url.Values{"label": {"pb001"}, "entry": {"1-1"}}); status != http.StatusForbidden {
			t.Errorf("POST %s gives %d", path, status)
		}
	}
	s.client.Jar = nil
	if status, place := s.get("/quality?age=7d"); status != http.StatusSeeOther || place != "/login?return=%2Fquality%3Fage%3D7d" {
		t.Errorf("a page for nobody gives %d %s", status, place)
	}
	if status, _ := s.get("/static/none.css"); status != http.StatusNotFound {
		t.Errorf("a file that is not there gives %d", status)
	}
}

// sendForm sends a form with fields, and behind them files in another field.
func (s *service) sendForm(path string, fields [][2]string, fileField string, files map[string]string) (int, string) {
	s.t.Helper()
	var b bytes.Buffer
	form := multipart.NewWriter(&b)
	for _, f := range fields {
		if err := form.WriteField(f[0], f[1]); err != nil {
			s.t.Fatal(err)
		}
	}
	for name, content := range files {
		part, err := form.CreateFormFile(fileField, name)
		if err != nil {
			s.t.Fatal(err)
		}
		_, _ = part.Write([]byte(content))
	}
	_ = form.Close()
	r, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, s.url+path, &b)
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("Content-Type", form.FormDataContentType())
	r.Header.Set("Accept", "text/html")
	return s.do(r)
}

func TestUploadByForm(t *testing.T) {
	t.Parallel()
	s := newService(t, serviceOptions{})
	send := func(fields [][2]string, file string) (int, string) {
		files := map[string]string{}
		if file != "" {
			files["cases.jsonl"] = file
		}
		return s.sendForm("/dockets", fields, "report", files)
	}
	line := `{"id":"a","subject":"s","labels":["x","y"],"light":{"classification":"x","confidence":0.6,"reasoning":"r"},"evidence":[],"documents":[]}` + "\n"
	status, place := send([][2]string{{"name", "by hand"}, {"repository", "example.org/app"}, {"format", "auto"}}, line)
	if status != http.StatusSeeOther || place != "/dockets/1" {
		t.Fatalf("the upload gives %d %s", status, place)
	}
	d, err := s.store.Docket(t.Context(), 1)
	if err != nil || d.Name != "by hand" || d.Repository != "example.org/app" || d.Cases != 1 || d.Submitter != "local" {
		t.Errorf("the docket is %+v, %v", d, err)
	}
	if status, body := send([][2]string{{"name", "x"}}, ""); status != http.StatusUnprocessableEntity || !strings.Contains(body, "no report was chosen") {
		t.Errorf("no file gives %d", status)
	}
	if status, _ := send([][2]string{{"name", strings.Repeat("x", 2000)}}, line); status != http.StatusUnprocessableEntity {
		t.Errorf("a long name gives %d", status)
	}
	if status, _ := send(nil, "neither a report nor cases"); status < 400 || status >= 500 {
		t.Errorf("a file that is no report gives %d", status)
	}
}

func TestModulesByForm(t *testing.T) {
	t.Parallel()
	s := newService(t, serviceOptions{})
	send := func(fields [][2]string, files map[string]string) (int, string) {
		return s.sendForm("/modules", fields, "module", files)
	}
	status, place := send([][2]string{{"note", "a bolder judge"}, {"share", "100"}}, map[string]string{"../specter.wasm": "\x00asm1"})
	if status != http.StatusSeeOther || place != "/modules/2?did=propose" {
		t.Fatalf("the upload gives %d %s", status, place)
	}
	root := parsed(t, place, s.ok(place))
	if got := text(nodes(root, "main")[0]); !strings.Contains(got, "a bolder judge") || !strings.Contains(got, "specter module") || !strings.Contains(got, "It is not current yet") {
		t.Errorf("the page says %q", got)
	}
	if status, place = send([][2]string{{"candidate", "1"}, {"share", "25"}}, map[string]string{"specter.wasm": "\x00asm2"}); place != "/modules/3?did=propose" {
		t.Fatalf("a canary gives %d %s", status, place)
	}
	g, err := s.store.Generation(t.Context(), 3)
	if err != nil || g.Share != 0.25 || len(g.Canary) != 1 {
		t.Errorf("the canary is %+v, %v", g, err)
	}
	for name, files := range map[string]map[string]string{"no module": {}, "no WebAssembly": {"specter.wasm": "text"}, "no name": {".wasm": "\x00asm"}} {
		if status, _ := send([][2]string{{"share", "100"}}, files); status != http.StatusUnprocessableEntity {
			t.Errorf("%s gives %d", name, status)
		}
	}
	if status, _ := send([][2]string{{"candidate", "1"}, {"share", "0"}}, map[string]string{"specter.wasm": "\x00asm"}); status != http.StatusUnprocessableEntity {
		t.Errorf("a share of nothing gives %d", status)
	}
}

func TestTokensByForm(t *testing.T) {
	t.Parallel()
	s := newService(t, serviceOptions{scopes: []auth.Scope{auth.Operate}})
	status, body := s.post("/settings/tokens", url.Values{"name": {"ci"}, "scope": {"submit", "review"}})
	if status != http.StatusOK {
		t.Fatalf("a token gives %d", status)
	}
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
	if status, _ = s.post(fmt.Sprintf("/settings/tokens/%d/revoke", list[0].ID), nil); status != http.StatusSeeOther {
		t.Errorf("revoking gives %d", status)
	}
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
	for _, label := range []string{"si001", "nd001"} {
		if status, _ := s.post("/corrections", url.Values{"label": {label}, "entry": {"1-4"}}); status != http.StatusSeeOther {
			t.Fatalf("the correction gives %d", status)
		}
	}
	if status, _ := s.post("/corrections/undo", url.Values{"correction": {"1"}}); status != http.StatusSeeOther {
		t.Fatalf("undo gives %d", status)
	}
	if status, _ := s.post("/corrections", url.Values{"label": {"pb001"}, "entry": {"1-4"}}); status != http.StatusSeeOther {
		t.Fatalf("the last correction gives %d", status)
	}
	listed := nodes(nodes(parsed(t, "/trials/1-4", s.ok("/trials/1-4")), ".history")[0], "li")
	if len(listed) != 3 || !strings.Contains(text(listed[1]), "just now, replaced by a later one") || !strings.Contains(text(listed[2]), "just now, in force") {
		t.Errorf("the history is %q", text(listed[1]))
	}
	if status, _ := s.post("/corrections/undo", url.Values{"correction": {"3"}}); status != http.StatusSeeOther {
		t.Fatalf("undo gives %d", status)
	}
	root := parsed(t, "/trials/1-4", s.ok("/trials/1-4"))
	if got := text(nodes(root, ".corrected")[0]); got != "Corrected to no defect, flaky by local, just now" {
		t.Errorf("the page says %q", got)
	}
	history := nodes(nodes(root, ".history")[0], "li")
	if len(history) != 3 || !strings.Contains(text(history[0]), "product bug → system issue by local, just now, taken back") {
		t.Errorf("the history begins with %q", text(history[0]))
	}
}

func TestChangesAreToldUntilTheServerStops(t *testing.T) {
	t.Parallel()
	stop := make(chan struct{})
	s := newService(t, serviceOptions{stop: stop})
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+"/changes", nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := s.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
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
	if _, err := io.Copy(io.Discard, answer.Body); err != nil {
		t.Errorf("the stream ended with %v", err)
	}
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
		fragment, err := html.Parse(strings.NewReader("<ol>" + part + "</ol>"))
		if err != nil {
			t.Fatal(err)
		}
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
	digest, err := s.store.AddBlob(ctx, []byte("\x00asm"+note))
	if err != nil {
		s.t.Fatal(err)
	}
	current, err := s.store.CurrentGeneration(ctx)
	if err != nil {
		s.t.Fatal(err)
	}
	g := store.Generation{Parent: current, Note: note, Author: "ada", Parts: store.Parts{Modules: map[string]string{"specter": digest}}}
	if change != nil {
		change(&g)
	}
	g, err = s.store.AddGeneration(ctx, g)
	if err != nil {
		s.t.Fatal(err)
	}
	return g.ID
}

// People get a page about what was rejected before it reached one; programs get a problem.
func TestRejectionsArePagesForPeople(t *testing.T) {
	t.Parallel()
	s := newService(t, serviceOptions{})
	for _, c := range []struct{ path, accept, kind string }{
		{"/corrections", "text/html", "text/html"}, {"/corrections", "application/json", "application/problem+json"}, {"/api/v1/corrections", "text/html", "application/problem+json"},
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+c.path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Accept", c.accept)
		r.Header.Set("Sec-Fetch-Site", "cross-site")
		answer, err := s.client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(answer.Body)
		_ = answer.Body.Close()
		if err != nil || answer.StatusCode != http.StatusForbidden || !strings.HasPrefix(answer.Header.Get("Content-Type"), c.kind) ||
			!strings.Contains(string(body), "the request comes from a page of another site") {
			t.Errorf("%s for %s: %s %s %.300s, %v", c.path, c.accept, answer.Status, answer.Header.Get("Content-Type"), body, err)
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
		if !strings.Contains(page, "automation bug, the test is wrong") {
			t.Errorf("%s cuts the name of a label", path)
		}
	}
	if bar := s.ok("/dockets/1"); !strings.Contains(bar, "affirmed, need a person</title>") || !strings.Contains(bar, "affirmed, need a person</li>") {
		t.Error("the bar shows what is uncertain as if it was not")
	}
	lead := text(nodes(parsed(t, "/quality", s.ok("/quality")), ".lead")[0])
	if !strings.Contains(lead, "Of 12 cases whose right label is known, the court names it in 6 (50.0%), and Light alone in 5 (41.7%). The court puts right 1 answer of Light more") {
		t.Error(lead)
	}
}

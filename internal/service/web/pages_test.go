package web_test

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/service/auth"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
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
	root := must.Get(html.Parse(strings.NewReader(body)))(t)
	check.Equal(t, len(nodes(root, "main")), 1, path, "main parts")
	check.Equal(t, len(nodes(root, "h1")), 1, path, "first headings")
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
		check.Equal(t, status, want, path)
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
	place := s.posted(attribute(form, "action"), fields)
	page := parsed(t, place, s.ok(place))
	check.Equal(t, text(nodes(page, ".notice")[0]), "Corrected 8 cases. Undo u", "the page says")
	check.Equal(t, len(nodes(page, ".group")), len(groups)-1, "groups are left of", len(groups))
	undo := url.Values{}
	for _, input := range nodes(nodes(page, ".notice")[0], "input") {
		undo.Add(attribute(input, "name"), attribute(input, "value"))
	}
	place = s.posted("/corrections/undo", undo)
	check.Equal(t, len(nodes(parsed(t, place, s.ok(place)), ".group")), len(groups), "after undo", "groups are left of")
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
	for _, path := range []string{"/corrections", "/corrections/undo", "/modules/1/activate", "/settings/tokens", "/settings/tokens/1/revoke"} {
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

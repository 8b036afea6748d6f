//go:build browser

package web_test

import (
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/service/auth"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

func TestAccept_UI2_FinishedTrial(t *testing.T) {
	s := filled(t, serviceOptions{})
	b := newBrowser(t, s, 1280, 1200)
	b.open("/trials/3-1")
	line := fmt.Sprintf("#d0-L%d", quotedLine)
	check.Contains(t, value[string](b, fmt.Sprintf(`document.querySelector(%q).className`, line)), "quoted l1 first", "the quoted line has the class")
	inView := fmt.Sprintf(`(() => { const r = document.querySelector(%q).getBoundingClientRect(); return r.top >= 0 && r.bottom <= innerHeight; })()`, line)
	if !value[bool](b, inView) {
		t.Error("the quoted line is not in view")
	}
	b.picture("trial")
	// The log has 6000 lines, the page has few of them; more come when they are asked for.
	if n := b.count(".log li[id^=d0]"); n < 14 || n > 60 {
		t.Errorf("the page has %d lines of the log", n)
	}
	before := b.count(".log li[id^=d0]")
	b.click(".log .gap a")
	b.wait(fmt.Sprintf(`document.querySelectorAll(".log li[id^=d0]").length === %d`, before+200))
	check.Equal(t, b.count("#d0-L100"), 1, "the lines that came are not the next ones")
	// The diff stands beside it.
	if added, removed := b.texts(".diff .added code"), b.texts(".diff .removed code"); len(added) != 1 || len(removed) != 1 || !strings.Contains(added[0], "if _, ok := seen[key]; ok {") {
		t.Errorf("the diff adds %q and removes %q", added, removed)
	}
	check.Equal(t, b.count(".diff .added.quoted"), 1, "the quoted line of the diff is not marked")
	if b.count(".steps li") == 0 {
		t.Error("the path of the trial is not told")
	}
	for i, want := range []string{"1 passed", "5 failed in the same way"} {
		if shown := b.texts(".experiments li"); len(shown) != 2 || !strings.Contains(shown[i], want) || !strings.Contains(strings.ToLower(shown[i]), "asked for by bulwark") {
			t.Errorf("the experiments are %q", shown)
		}
	}
	// An item leads to its line.
	b.open("/trials/3-1")
	b.run(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`document.querySelector("a.ref[href='%s']").click()`, line)))
	b.wait(fmt.Sprintf(`location.hash === %q && %s`, line, inView))
}

func (s *service) current() int64 {
	s.t.Helper()
	id := must.Get(s.store.CurrentGeneration(s.t.Context()))(s.t)
	return id
}

func TestAccept_UI3_SwapAndRollBackByClick(t *testing.T) {
	s := newService(t, serviceOptions{})
	id := s.addGeneration("a judge that reads twice", nil)
	b := newBrowser(t, s, 1280, 860)
	b.open("/modules")
	b.click(fmt.Sprintf("a[href='/modules/%d/activate']", id))
	b.wait(`document.body.dataset.page === "confirm"`)
	if s.current() == id {
		t.Fatal("there was no question before the swap")
	}
	check.Equal(t, b.texts("h1")[0], "Swap to generation 2", "the question")
	b.click("form .primary")
	b.wait(`document.body.dataset.page === "modules" && document.querySelector(".now h2").innerText === "Generation 2"`)
	check.Equal(t, s.current(), id, "the generation is not current")
	b.click("a[href='/modules/1/activate']")
	b.wait(`document.querySelector("h1").innerText === "Roll back to generation 1"`)
	b.click("form .primary")
	b.wait(`document.querySelector(".now h2") && document.querySelector(".now h2").innerText === "Generation 1"`)
	check.Equal(t, s.current(), 1, "the generation before is not current")
}

func TestAccept_UI3_PermissionToOperate(t *testing.T) {
	s := newService(t, serviceOptions{scopes: []auth.Scope{auth.Review}})
	id := s.addGeneration("another judge", nil)
	b := newBrowser(t, s, 1280, 860)
	b.open("/modules")
	check.Equal(t, b.count("a[href$='/activate']"), 0, "somebody who may not operate sees", "ways to swap")
	b.open(fmt.Sprintf("/modules/%d/activate", id))
	check.Equal(t, b.texts("h1")[0], "Forbidden", "the page says")
	if status, _ := s.post(fmt.Sprintf("/modules/%d/activate", id), url.Values{}); status != http.StatusForbidden {
		t.Errorf("the form gives %d", status)
	}
	if s.current() == id {
		t.Error("somebody who may not operate swapped")
	}
}

// signIn uses the form with the token of whoever asks.
func (b *browser) signIn() {
	b.t.Helper()
	b.open("/")
	b.wait(`document.body.dataset.page === "login"`)
	b.run(chromedp.SendKeys(chromedp.CSS("input[name=token]"), b.s.secret+"\r"))
	b.wait(`document.body.dataset.page === "inbox"`)
}

func TestAccept_UI3_CanaryFlipsAndQuality(t *testing.T) {
	s := newService(t, serviceOptions{})
	entries := demoEntries(t)
	canary := s.addGeneration("a bolder judge as a canary", func(g *store.Generation) {
		g.Parts.Canary, g.Share = map[string]string{"specter": g.Parts.Modules["specter"]}, 1
	})
	must.Get(s.store.Activate(t.Context(), "ada", canary))(t)
	s.try(s.submit("nightly", "github.com/acme/store", entries), func(tried *trial.Trial) {
		beside := *tried
		beside.Truth, beside.Beside = nil, nil
		if tried.Result.Final.Classification == "ab001" {
			beside.Result.Final.Status, beside.Result.Final.Classification = trial.Amended, "nd001"
		}
		tried.Beside = &beside
	})
	var more []docket.Entry
	for i := range entries {
		e := entries[i]
		e.Case.ID += "-again"
		more = append(more, e)
	}
	s.try(s.submit("nightly", "github.com/acme/gateway", more), nil)
	b := newBrowser(t, s, 1280, 860)
	b.open(fmt.Sprintf("/modules/%d", canary))
	check.Equal(t, b.count(".flips li"), 4, "flips")
	if got := b.texts(".flips li .sides"); !strings.Contains(got[0], "automation bug") || !strings.Contains(got[0], "no defect") {
		t.Errorf("the sides of the first flip are %q", got[0])
	}
	check.Equal(t, strings.Join(b.texts(".flips h3 .right"), ", "), "to right, to right", "of the flips")
	b.picture("canary")
	b.open("/quality")
	if got := b.texts(".tiles b"); got[0] != "50.0%" || got[1] != "41.7%" || got[2] != "100.0%" {
		t.Errorf("the figures are %q", got)
	}
	if b.count(".figures tbody tr") == 0 {
		t.Error("the table of reliability is missing")
	}
	b.open("/quality?repository=github.com%2Facme%2Fgateway")
	check.Contains(t, b.texts("h1 + p")[0], "12 known labels", "the filter leaves")
}

// pages are all that a person sees.
var pages = []string{
	"/", "/?q=nothing+at+all", "/inbox/group?key=x", "/dockets", "/dockets/1", "/trials/3-1", "/trials/3-1/brief", "/trials/3-1/documents/0?from=100&to=600",
	"/modules", "/modules/1", "/modules/2", "/modules/2/activate", "/quality", "/settings", "/login", "/dockets/99",
}

func TestAccept_UI4_PhoneWidth(t *testing.T) {
	s := filled(t, serviceOptions{})
	s.addGeneration("another judge", nil)
	b := newBrowser(t, s, 360, 740)
	for _, path := range pages {
		b.open(path)
		if wide := value[int](b, "document.documentElement.scrollWidth"); wide > 360 {
			t.Errorf("%s is %d pixels wide: %s", path, wide, value[string](b, `[...document.querySelectorAll("body *")].filter((e) => e.getBoundingClientRect().right > 361 && !e.closest(".scroll, .graph, nav, .hidden")).slice(0, 5).map((e) => e.tagName + "." + e.getAttribute("class")).join(" ")`))
		}
		for _, broken := range value[[]string](b, `[...document.querySelectorAll(".docket .figures span, .count, .log .no")].filter((e) => e.getBoundingClientRect().height > 30).map((e) => e.innerText)`) {
			t.Errorf("%s breaks the line in %q", path, broken)
		}
	}
	b.open("/")
	b.click(".group:first-child .set button:nth-of-type(2)")
	b.eventually("ab001", 8)
}

func TestAccept_UI4_Axe(t *testing.T) {
	name := os.Getenv("SHADOWCOURT_AXE")
	script, err := os.ReadFile(name)
	if err != nil {
		t.Fatalf("SHADOWCOURT_AXE must name axe.min.js of the npm package axe-core; make browser-tests does that: %v", err)
	}
	s := filled(t, serviceOptions{})
	s.addGeneration("another judge", nil)
	for _, width := range []int64{1280, 360} {
		b := newBrowser(t, s, width, 860)
		for _, dark := range []bool{false, true} {
			b.dark(dark)
			for _, path := range pages {
				b.open(path)
				if path == "/" {
					b.press("e")
					b.wait(`document.querySelector(".explained")`)
				}
				found := b.axe(string(script))
				for _, fault := range found {
					t.Errorf("%s, %d pixels wide, dark %v: %s", path, width, dark, fault)
				}
			}
		}
	}
}

// axe gives the serious and critical faults that axe finds.
func (b *browser) axe(script string) []string {
	b.t.Helper()
	b.run(chromedp.Evaluate[chromedp.Void](script + "\n;undefined"))
	faults, err := evaluate[[]string](b, `axe.run(document).then((r) => r.violations.filter((v) => v.impact === "serious" || v.impact === "critical")
		.map((v) => v.id + ": " + v.help + ": " + v.nodes.slice(0, 3).map((n) => n.html.slice(0, 160) + " | " + (n.any[0] ? n.any[0].message : "")).join(" || ")))`, chromedp.EvalAwaitPromise)
	must.Do(b.t, err)
	return faults
}

func TestAccept_UI4_DarkAndKeyboardOnly(t *testing.T) {
	s := filled(t, serviceOptions{})
	b := newBrowser(t, s, 1280, 860)
	background := func() string { return value[string](b, "getComputedStyle(document.body).backgroundColor") }
	b.open("/")
	light := background()
	b.dark(true)
	if dark := background(); dark == light {
		t.Errorf("the page is %s, dark or not", dark)
	}
	b.dark(false)

	// Tab alone reaches every control of a row, in the order of the page, and each shows that it has the focus.
	b.open("/")
	var seen []string
	for range 60 {
		b.press("\t")
		focus := value[string](b, `(() => { const e = document.activeElement, o = getComputedStyle(e); return [e.tagName, e.name || e.className || e.getAttribute("href") || "", o.outlineStyle !== "none" || e.tagName === "BODY"].join(" "); })()`)
		if strings.HasSuffix(focus, "false") {
			t.Errorf("%s has the focus and does not show it", focus)
		}
		seen = append(seen, focus)
		if value[bool](b, `!!document.activeElement.closest(".group:nth-child(2)")`) {
			break
		}
	}
	for _, want := range []string{"A skip", "INPUT q", "SELECT repository", "INPUT group", "A /trials/", "BUTTON label", "SUMMARY"} {
		if !slices.ContainsFunc(seen, func(s string) bool { return strings.HasPrefix(s, want) }) {
			t.Errorf("the Tab key does not reach %q: %q", want, seen)
		}
	}
	// Enter on a label corrects, as a click does.
	b.open("/")
	b.run(chromedp.Focus(chromedp.CSS(".group:first-child .set button:nth-of-type(3)")))
	b.press("\r")
	b.eventually("si001", 8)
}

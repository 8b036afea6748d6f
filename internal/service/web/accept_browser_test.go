//go:build browser

package web_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/service/auth"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
)

const headlines = ".group h2"

// covered counts the labels of groups over which an explanation lies.
const covered = `[...document.querySelectorAll(".group")].reduce((n, g) => {
	const brief = g.querySelector(".brief").getBoundingClientRect();
	return n + [...g.querySelectorAll(".set button, .meta > *")].filter((e) => {
		const r = e.getBoundingClientRect();
		return r.width > 0 && r.left < brief.right - 1 && r.right > brief.left + 1 && r.top < brief.bottom - 1 && r.bottom > brief.top + 1;
	}).length;
}, 0)`

// corrections are those in force, by label.
func (s *service) corrections() map[string]int {
	s.t.Helper()
	list, err := s.store.Entries(s.t.Context(), store.EntryFilter{Corrected: true, Limit: 1000})
	if err != nil {
		s.t.Fatal(err)
	}
	counts := map[string]int{}
	for i := range list {
		counts[list[i].Corrected]++
	}
	return counts
}

// eventually waits until the store has so many corrections of a label.
func (b *browser) eventually(label string, n int) {
	b.t.Helper()
	b.settled()
	if got := b.s.corrections()[label]; got != n {
		b.t.Fatalf("%d cases are corrected to %s, not %d", got, label, n)
	}
}

// settled waits until no correction is under way.
func (b *browser) settled() {
	b.t.Helper()
	b.wait(`!document.querySelector(".going") && document.querySelector("#toast").textContent !== ""`)
}

func TestAccept_UI1_InboxByKeyboard(t *testing.T) {
	s := filled(t, serviceOptions{})
	b := newBrowser(t, s, 1280, 860)
	b.open("/")
	before := b.texts(headlines)
	if len(before) < 8 {
		t.Fatalf("the inbox has %d groups: %q", len(before), before)
	}
	// The most valuable first: the group with the most cases.
	if !strings.Contains(before[0], "TestBacktick") || b.texts(".group .count")[0] != "8 cases in 2 dockets" {
		t.Errorf("first is %q with %q", before[0], b.texts(".group .count")[0])
	}
	at := func() string {
		return value[string](b, `(document.querySelector(".at h2") || {innerText: ""}).innerText.trim()`)
	}
	if at() != before[0] {
		t.Errorf("the first row is not marked, but %q", at())
	}
	b.press("j", "j", "k")
	if at() != before[1] {
		t.Errorf("j, j and k lead to %q", at())
	}
	b.press("e")
	b.wait(`document.querySelector(".at .explained .items li")`)
	b.picture("inbox")
	for _, width := range []int64{375, 800, 1200, 1600} {
		b.run(chromedp.EmulateViewport(width, 860))
		if n := value[int](b, covered); n != 0 {
			t.Errorf("%d pixels wide, explanations lie over %d buttons", width, n)
		}
	}
	b.run(chromedp.EmulateViewport(1280, 860))
	b.press("e")
	b.wait(`!document.querySelector(".at details[open]")`)

	// The second group has four cases. Label 3 is system issue.
	b.press("3")
	b.eventually("si001", 4)
	if got := b.texts(headlines); !slices.Equal(got, slices.Delete(slices.Clone(before), 1, 2)) {
		t.Errorf("after the correction there are %q", got)
	}
	if at() != before[2] {
		t.Errorf("the next row is not marked, but %q", at())
	}
	b.press("u")
	b.wait(`document.querySelector("#toast").textContent.includes("back")`)
	b.eventually("si001", 0)
	if got := b.texts(headlines); !slices.Equal(got, before) {
		t.Errorf("after undo there are %q", got)
	}

	// o opens the trial, 1 corrects it there, u takes it back.
	b.press("k", "o")
	b.wait(`document.body.dataset.page === "trial"`)
	b.press("4")
	b.wait(`document.querySelector(".notice")`)
	if got := b.s.corrections()["nd001"]; got != 1 {
		t.Errorf("%d cases are corrected on the page of the trial", got)
	}
	b.press("u")
	b.wait(`document.querySelector(".notice") && document.querySelector(".notice").textContent.includes("back")`)
	if got := b.s.corrections(); len(got) != 0 {
		t.Errorf("after undo there are corrections %v", got)
	}
	b.press("?")
	b.wait(`document.querySelector("#help").open`)
}

func TestAccept_UI1_SearchAndFiltersAreInTheAddress(t *testing.T) {
	s := filled(t, serviceOptions{})
	b := newBrowser(t, s, 1280, 860)
	b.open("/")
	all := b.count(".group")
	b.press("/")
	b.wait(`document.activeElement.matches("[data-search]")`)
	b.run(chromedp.Evaluate[chromedp.Void](`document.activeElement.value = ""`)) // the protocol types the key that led here, too
	b.run(chromedp.KeyEvent("parse\r"))
	b.wait(`location.search.includes("q=parse") && document.querySelector(".group")`)
	for _, headline := range b.texts(headlines) {
		if !strings.Contains(strings.ToLower(headline), "parse") {
			t.Errorf("the search for parse gives %q", headline)
		}
	}
	if n := b.count(".group"); n == 0 || n >= all {
		t.Errorf("the search gives %d groups of %d", n, all)
	}
	for filter, option := range map[string]string{"repository": "github.com/acme/gateway", "label": "ab001", "status": "amended", "age": "7d"} {
		b.open("/")
		b.run(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`(() => { const s = document.querySelector("select[name=%s]"); s.value = %q; s.dispatchEvent(new Event("change", {bubbles: true})); })()`, filter, option)))
		b.wait(fmt.Sprintf(`new URL(location.href).searchParams.get(%q) === %q && document.querySelector("select[name=%s]").value === %q`, filter, option, filter, option))
		n := b.count(".group")
		want := map[string]bool{"repository": n == 1, "label": n > 0 && n < all, "status": n > 0 && n < all, "age": n == all}
		if !want[filter] {
			t.Errorf("%s %s gives %d groups of %d", filter, option, n, all)
		}
	}
	b.open("/?label=si001")
	for _, answer := range b.texts(".group .meta .label") {
		if answer != "system issue" {
			t.Errorf("the filter gives an answer of %q", answer)
		}
	}
}

func TestAccept_UI1_BulkCorrection(t *testing.T) {
	s := filled(t, serviceOptions{})
	b := newBrowser(t, s, 1280, 860)
	b.open("/")
	b.press("x", "j", "j", "x")
	b.wait(`document.querySelector("#selection.on")`)
	if got := b.texts("#selection p")[0]; got != "2 groups, 9 cases selected" {
		t.Errorf("the selection says %q", got)
	}
	b.picture("inbox-selection")
	b.press("2")
	b.eventually("ab001", 9)
	b.press("u")
	b.wait(`document.querySelector("#toast").textContent.includes("back")`)
	b.eventually("ab001", 0)

	// The bar has the labels that the selected groups share, whatever else is on the page.
	mixed := demoEntries(t)[:1]
	mixed[0].Case.ID, mixed[0].Case.Labels, mixed[0].Case.Evidence, mixed[0].Case.Documents, mixed[0].Truth = "other/labels", []string{"nd001", "pb001", "zz001"}, nil, nil, nil
	mixed[0].Case.Subject = "a failure of a suite with three labels"
	mixed[0].Case.Light = &abi.LightAnswer{Classification: "pb001", Confidence: 0.4, Reasoning: "A guess."}
	foreign := demoEntries(t)[1:2]
	foreign[0].Case.ID, foreign[0].Case.Labels, foreign[0].Case.Evidence, foreign[0].Case.Documents, foreign[0].Truth = "foreign/labels", []string{"yes", "no"}, nil, nil, nil
	foreign[0].Case.Subject = "a failure of a suite with two labels"
	foreign[0].Case.Light = &abi.LightAnswer{Classification: "yes", Confidence: 0.4, Reasoning: "A guess."}
	s.try(s.submit("other labels", "github.com/acme/other", append(mixed, foreign...)), nil)
	b.open("/")
	bar := func(ids ...string) []string {
		b.press("\x1b")
		for _, id := range ids {
			b.run(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`[...document.querySelectorAll(".group")].find((g) => g.querySelector(%q)).querySelector(".pick input").click()`, id)))
		}
		return value[[]string](b, `[...document.querySelectorAll("#selection button[name=label]")].map((b) => b.querySelector("kbd").textContent + " " + b.value)`)
	}
	const usual, threeLabels, twoLabels = "button[value=si001]", "button[value=zz001]", "button[value=yes]"
	if got := bar(usual, threeLabels); !slices.Equal(got, []string{"1 pb001", "2 nd001"}) {
		t.Errorf("two groups share the labels %q", got)
	}
	if got := bar(usual, twoLabels); len(got) != 0 || b.texts("#selection [data-none]")[0] != "The selected groups share no label." {
		t.Errorf("groups without a common label have the buttons %q", got)
	}
	b.press("1")
	b.wait(`document.querySelector("#toast").textContent.includes("share no label")`)
	if got := bar(twoLabels); !slices.Equal(got, []string{"1 yes", "2 no"}) {
		t.Errorf("a group with two labels has the buttons %q", got)
	}
	b.press("2")
	b.wait(`document.querySelector("#toast").textContent.includes("set to")`)
	b.eventually("no", 1)

	// With the mouse: the button of a group.
	b.click(".group:first-child .set button:nth-of-type(4)")
	b.eventually("nd001", 8)
	// A filter limits what is corrected of a group.
	b.click("#toast button")
	b.wait(`document.querySelector("#toast").textContent.includes("back")`)
	b.open("/?repository=github.com%2Facme%2Fstore")
	b.run(chromedp.Evaluate[chromedp.Void](`[...document.querySelectorAll(".group")].find((g) => g.innerText.includes("TestBacktick")).querySelector(".set button").click()`))
	b.eventually("pb001", 1)
}

// unsure adds a group to the inbox.
func (s *service) unsure(name string) {
	s.t.Helper()
	e := demoEntries(s.t)[:1]
	e[0].Case.ID, e[0].Case.Subject, e[0].Case.Evidence, e[0].Case.Documents, e[0].Truth = name, name+" fails", nil, nil, nil
	e[0].Case.Light = &abi.LightAnswer{Classification: "pb001", Confidence: 0.4, Reasoning: "A guess."}
	s.try(s.submit(name, "github.com/acme/other", e), nil)
}

// What changes while a page is on its way is shown, and nobody who began to work is disturbed for it.
func TestAccept_UI1_InboxShowsWhatChangedBeforeItFollowed(t *testing.T) {
	opened, change := make(chan struct{}), make(chan struct{})
	s := filled(t, serviceOptions{opening: func(ctx context.Context) {
		select {
		case opened <- struct{}{}:
		case <-ctx.Done():
			return
		}
		select {
		case <-change:
		case <-ctx.Done():
		}
	}})
	b := newBrowser(t, s, 1280, 860)
	fetched := func(n int) {
		t.Helper()
		b.wait(fmt.Sprintf(`performance.getEntriesByType("resource").filter((r) => r.initiatorType === "fetch").length >= %d`, n))
	}
	const fresh = `document.body.dataset.fresh || "0"`
	groups := 0
	for i, work := range []struct {
		name string
		keys []string
		// begun says that the keys are in effect.
		begun string
	}{
		{"nothing", nil, "true"},
		{"going on", []string{"j"}, `document.querySelector(".group:nth-child(2).at")`},
		{"going on and back", []string{"j", "k"}, `document.querySelector(".group:first-child.at") && document.activeElement !== document.body`},
		{"a selection", []string{"x"}, `document.querySelector("#selection.on")`},
		{"a search", []string{"/"}, `document.activeElement.matches("[data-search]")`},
		{"a search that was left", []string{"/", "z"}, `document.querySelector("[data-search]").value !== "" && (document.activeElement.blur(), document.activeElement === document.body)`},
		{"a dialog", []string{"?"}, `document.querySelector("#help").open`},
		{"an explanation", []string{"e"}, `document.querySelector(".at .explained")`},
	} {
		b.open("/")
		<-opened
		groups = b.count(".group")
		b.press(work.keys...)
		b.wait(work.begun)
		name := fmt.Sprintf("suite/Test%d", i)
		s.unsure(name)
		change <- struct{}{}
		there := fmt.Sprintf(`[...document.querySelectorAll(%q)].some((h) => h.innerText.includes(%q))`, headlines, name)
		if work.keys == nil {
			b.wait(there)
			if b.count("#stale") != 0 || b.count(".group") != groups+1 || b.count(".group:first-child.at") != 1 {
				t.Errorf("%s: the page has %d groups, before there were %d", work.name, b.count(".group"), groups)
			}
			continue
		}
		b.wait(`document.querySelector("#stale")`)
		if got := value[string](b, fresh); got != "0" || b.count(".group") != groups || !value[bool](b, "!!("+work.begun+")") {
			t.Errorf("%s: the page was replaced under somebody's hands", work.name)
		}
		b.run(chromedp.Evaluate[chromedp.Void](`document.querySelector("#stale").click()`))
		b.wait(there)
		if b.count("#stale") != 0 || b.count(".group:first-child.at") != 1 {
			t.Errorf("%s: behind the click there is a button still, or no row that keys act on", work.name)
		}
	}

	// Where nothing changed the page stays as it is, whatever the script marked in it.
	b.open("/")
	<-opened
	b.press("j", "x", "x", "e")
	b.wait(`document.querySelector(".at .explained")`)
	b.press("e")
	change <- struct{}{}
	fetched(2) // the explanation, and the page
	buttons, err := evaluate[int](b, `new Promise((r) => setTimeout(r, 100)).then(() => document.querySelectorAll("#stale").length)`, chromedp.EvalAwaitPromise)
	if err != nil || buttons != 0 {
		t.Errorf("%d buttons ask for what is new where nothing is, %v", buttons, err)
	}
	s.unsure("suite/Last")
	b.wait(`document.querySelector("#stale")`)
	fetched(3)
	if got := value[string](b, fresh); got != "0" {
		t.Errorf("the page was replaced %s times", got)
	}
}

func TestAccept_UI2_LiveTrialAndDocket(t *testing.T) {
	s := newService(t, serviceOptions{})
	entries := append([]docket.Entry{longCase()}, demoEntries(t)[:3]...)
	id := s.submit("nightly", "github.com/acme/store", entries)
	watcher := newBrowser(t, s, 1280, 860)
	watcher.open(fmt.Sprintf("/dockets/%d", id))
	if got := watcher.texts("tbody .c-state"); !slices.Equal(got, []string{"waiting", "waiting", "waiting", "waiting"}) {
		t.Errorf("the docket shows %q", got)
	}
	b := newBrowser(t, s, 1280, 860)
	b.open(fmt.Sprintf("/trials/%d-1", id))
	b.wait(`document.querySelector(".outcome .spin") && document.querySelector(".log .quoted.first")`)
	s.try(id, nil)
	b.wait(`!document.querySelector(".spin") && document.querySelector(".outcome .chip")`)
	if n := b.count(".transcript .turn"); n < 3 {
		t.Errorf("the transcript has %d turns", n)
	}
	watcher.wait(`document.querySelectorAll("tbody .c-state .chip").length === 4`)
	if got := watcher.texts(".tiles b")[1]; got != "4" {
		t.Errorf("%s cases are tried", got)
	}
}

func TestAccept_UI2_FinishedTrial(t *testing.T) {
	s := filled(t, serviceOptions{})
	b := newBrowser(t, s, 1280, 900)
	b.open("/trials/3-1")
	line := fmt.Sprintf("#d0-L%d", quotedLine)
	if class := value[string](b, fmt.Sprintf(`document.querySelector(%q).className`, line)); !strings.Contains(class, "quoted l1 first") {
		t.Errorf("the quoted line has the class %q", class)
	}
	inView := fmt.Sprintf(`(() => { const r = document.querySelector(%q).getBoundingClientRect(); return r.top >= 0 && r.bottom <= innerHeight; })()`, line)
	if !value[bool](b, inView) {
		t.Error("the quoted line is not in view")
	}
	// The log has 6000 lines, the page has few of them; more come when they are asked for.
	if n := b.count(".log li[id^=d0]"); n < 14 || n > 60 {
		t.Errorf("the page has %d lines of the log", n)
	}
	before := b.count(".log li[id^=d0]")
	b.click(".log .gap a")
	b.wait(fmt.Sprintf(`document.querySelectorAll(".log li[id^=d0]").length === %d`, before+200))
	if b.count("#d0-L100") != 1 {
		t.Error("the lines that came are not the next ones")
	}
	// The diff stands beside it.
	if added, removed := b.texts(".diff .added code"), b.texts(".diff .removed code"); len(added) != 1 || len(removed) != 1 || !strings.Contains(added[0], "if _, ok := seen[key]; ok {") {
		t.Errorf("the diff adds %q and removes %q", added, removed)
	}
	if b.count(".diff .added.quoted") != 1 {
		t.Error("the quoted line of the diff is not marked")
	}
	if b.count(".graph svg.shadowcourt-graph") != 1 {
		t.Error("there is no graph")
	}
	// An item leads to its line.
	b.open("/trials/3-1")
	b.run(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`document.querySelector("a.ref[href='%s']").click()`, line)))
	b.wait(fmt.Sprintf(`location.hash === %q && %s`, line, inView))
}

func (s *service) current() int64 {
	s.t.Helper()
	id, err := s.store.CurrentGeneration(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	return id
}

func TestAccept_UI3_SwapAndRollBackByClick(t *testing.T) {
	s := newService(t, serviceOptions{})
	id := s.addGeneration("a judge that reads twice", nil)
	b := newBrowser(t, s, 1280, 860)
	b.open("/modules")
	b.picture("modules")
	b.click(fmt.Sprintf("a[href='/modules/%d/activate']", id))
	b.wait(`document.body.dataset.page === "confirm"`)
	if s.current() == id {
		t.Fatal("there was no question before the swap")
	}
	if got := b.texts("h1")[0]; got != "Swap to generation 2" {
		t.Errorf("the question is %q", got)
	}
	b.click("form .primary")
	b.wait(`document.body.dataset.page === "modules" && document.querySelector(".now h2").innerText === "Generation 2"`)
	if s.current() != id {
		t.Error("the generation is not current")
	}
	b.click("a[href='/modules/1/activate']")
	b.wait(`document.querySelector("h1").innerText === "Roll back to generation 1"`)
	b.click("form .primary")
	b.wait(`document.querySelector(".now h2") && document.querySelector(".now h2").innerText === "Generation 1"`)
	if s.current() != 1 {
		t.Error("the generation before is not current")
	}
}

func TestAccept_UI3_SwapWaitsForWorkersAndTellsTheirReasons(t *testing.T) {
	s := newService(t, serviceOptions{frozen: true})
	id := s.addGeneration("a judge that does not load", nil)
	ctx := t.Context()
	if _, err := s.store.Beat(ctx, store.WorkerInfo{ID: "w1", Machine: "build-7", Version: "v1"}, nil, 0); err != nil {
		t.Fatal(err)
	}
	b := newBrowser(t, s, 1280, 860)
	b.open("/modules")
	b.wait(`document.body.innerText.includes("build-7")`)
	b.open(fmt.Sprintf("/modules/%d/activate", id))
	b.click("form .primary")
	b.wait(`document.querySelector(".notice") && document.querySelector(".notice").innerText.includes("0 of 1")`)
	activation, _, err := s.store.PendingActivation(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.store.Loaded(ctx, activation, "w1", errors.New("specter.wasm: it has no start")); err != nil {
		t.Fatal(err)
	}
	b.wait(`document.querySelector(".failure") && document.querySelector(".failure").innerText.includes("it has no start")`)
	if s.current() == id {
		t.Error("a generation that does not load is current")
	}
}

func TestAccept_UI3_PermissionToOperate(t *testing.T) {
	s := newService(t, serviceOptions{scopes: []auth.Scope{auth.Review}})
	id := s.addGeneration("another judge", nil)
	b := newBrowser(t, s, 1280, 860)
	b.open("/modules")
	if n := b.count("a[href$='/activate'], form[action='/modules']"); n != 0 {
		t.Errorf("somebody who may not operate sees %d ways to swap", n)
	}
	b.open(fmt.Sprintf("/modules/%d/activate", id))
	if got := b.texts("h1")[0]; got != "Forbidden" {
		t.Errorf("the page says %q", got)
	}
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
	if _, err := s.store.Activate(t.Context(), "ada", canary); err != nil {
		t.Fatal(err)
	}
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
	if n := b.count(".flips li"); n != 4 {
		t.Errorf("there are %d flips", n)
	}
	if got := b.texts(".flips li .sides"); !strings.Contains(got[0], "automation bug") || !strings.Contains(got[0], "no defect") {
		t.Errorf("the sides of the first flip are %q", got[0])
	}
	if got := strings.Join(b.texts(".flips h3 .right"), ", "); got != "to right, to right" {
		t.Errorf("of the flips %q", got)
	}
	b.picture("canary")
	b.open("/quality")
	b.picture("quality")
	if got := b.texts(".tiles b"); got[0] != "50.0%" || got[1] != "41.7%" || got[3] != "100.0%" {
		t.Errorf("the figures are %q", got)
	}
	if b.count("svg.diagram circle") == 0 || b.count(".matrix .hit") == 0 {
		t.Error("the diagram or the matrix is missing")
	}
	if got := strings.Join(b.texts(".measures td:first-child"), "; "); !strings.Contains(got, "github.com/acme/gateway") {
		t.Errorf("the rows are %q", got)
	}
	b.open("/quality?repository=github.com%2Facme%2Fgateway")
	if got := b.texts("h1 + p")[0]; !strings.Contains(got, "12 known labels") {
		t.Errorf("the filter leaves %q", got)
	}
}

// Corrections make a profile, which is compared on held-out results and swapped on a click.
func TestAccept_UI3_RefitByClick(t *testing.T) {
	s := newService(t, serviceOptions{refits: true})
	b := newBrowser(t, s, 1280, 860)
	b.open("/quality/refit")
	if got := b.texts(".empty p"); len(got) != 1 || got[0] != "0 labels are known; a refit needs 40." {
		t.Errorf("without corrections the page says %q", got)
	}
	entries, truths := heldOut(t, 120)
	id := s.submit("nightly", "github.com/acme/store", entries)
	s.try(id, nil)
	for label, ids := range truths {
		for i := range ids {
			ids[i].Docket = id
		}
		if _, err := s.store.Correct(t.Context(), "ada", label, ids); err != nil {
			t.Fatal(err)
		}
	}
	b.open("/quality")
	b.click("a[href='/quality/refit']")
	b.wait(`document.body.dataset.page === "refit"`)
	b.click("form .primary")
	b.wait(`document.querySelector(".tiles b")`)
	b.picture("refit")
	if got := b.texts(".tiles b"); len(got) != 4 || !strings.HasSuffix(got[0], "%") || !strings.Contains(got[2], "worse") && got[2] != "better" {
		t.Errorf("the comparison says %q", got)
	}
	if b.count(".list a[href^='/trials/']") == 0 {
		t.Error("there are no flips")
	}
	b.click("form[action='/quality/refit/take'] button")
	b.wait(`document.body.dataset.page === "confirm" && document.body.innerText.includes("profile:jsonl")`)
	b.click("form .primary")
	b.wait(`document.querySelector(".now h2") && document.querySelector(".now h2").innerText === "Generation 2"`)
}

// heldOut are cases of the held-out docket without their truth, and their places by it.
func heldOut(t *testing.T, n int) ([]docket.Entry, map[string][]store.TrialID) {
	t.Helper()
	f, err := os.Open("../../../examples/dockets/go-test-1.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	var entries []docket.Entry
	truths := map[string][]store.TrialID{}
	for e, err := range (&docket.Reader{}).JSONL("go-test-1.jsonl", f) {
		if err != nil {
			t.Fatal(err)
		}
		if len(entries) == n {
			break
		}
		if e.Truth == nil || e.Truth.Classification == "" {
			continue
		}
		truths[e.Truth.Classification] = append(truths[e.Truth.Classification], store.TrialID{Ordinal: len(entries) + 1})
		e.Truth = nil
		entries = append(entries, e)
	}
	return entries, truths
}

// pages are all that a person sees.
var pages = []string{
	"/", "/?q=nothing+at+all", "/inbox/group?key=x", "/dockets", "/dockets/1", "/trials/3-1", "/trials/3-1/brief", "/trials/3-1/documents/0?from=100&to=600",
	"/modules", "/modules/1", "/modules/2", "/modules/2/activate", "/quality", "/quality/refit", "/settings", "/login", "/dockets/99",
}

func TestAccept_UI4_PhoneWidth(t *testing.T) {
	s := filled(t, serviceOptions{refits: true})
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
	b.picture("phone-inbox")
	b.click(".group:first-child .set button:nth-of-type(2)")
	b.eventually("ab001", 8)
	b.dark(true)
	b.open("/trials/3-1")
	b.picture("phone-trial")
}

func TestAccept_UI4_Axe(t *testing.T) {
	name := os.Getenv("SHADOWCOURT_AXE")
	script, err := os.ReadFile(name)
	if err != nil {
		t.Fatalf("SHADOWCOURT_AXE must name axe.min.js of the npm package axe-core; make browser-tests does that: %v", err)
	}
	s := filled(t, serviceOptions{refits: true})
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
	if err != nil {
		b.t.Fatal(err)
	}
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
	b.picture("inbox-dark")
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

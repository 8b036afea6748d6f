//go:build browser

package web_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
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
	list := must.Get(s.store.Entries(s.t.Context(), store.EntryFilter{Corrected: true, Limit: 1000}))(s.t)
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
	check.Equal(t, at(), before[0], "the first row is not marked")
	b.press("j", "j", "k")
	check.Equal(t, at(), before[1], "j, j and k lead to")
	b.press("e")
	b.wait(`document.querySelector(".at .explained .items li")`)
	b.picture("inbox")
	for _, width := range []int64{375, 800, 1200, 1600} {
		b.run(chromedp.EmulateViewport(width, 860))
		check.Equal(t, value[int](b, covered), 0, width, "pixels wide, explanations lie over", "buttons")
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
	check.Equal(t, at(), before[2], "the next row is not marked")
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
	check.Equal(t, b.s.corrections()["nd001"], 1, "cases are corrected on the page of the trial")
	b.press("u")
	b.wait(`document.querySelector(".notice") && document.querySelector(".notice").textContent.includes("back")`)
	check.Equal(t, len(b.s.corrections()), 0, "after undo there are corrections")
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
		check.Contains(t, strings.ToLower(headline), "parse", "the search for parse", headline)
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
		check.Equal(t, answer, "system issue", "the filter gives an answer of")
	}
}

func TestAccept_UI1_BulkCorrection(t *testing.T) {
	s := filled(t, serviceOptions{})
	b := newBrowser(t, s, 1280, 860)
	b.open("/")
	b.press("x", "j", "j", "x")
	b.wait(`document.querySelector("#selection.on")`)
	check.Equal(t, b.texts("#selection p")[0], "2 groups, 9 cases selected", "the selection says")
	b.press("2")
	b.eventually("ab001", 9)
	b.press("u")
	b.wait(`document.querySelector("#toast").textContent.includes("back")`)
	b.eventually("ab001", 0)

	// The bar has the labels that the selected groups share, whatever else is on the page.
	mixed, foreign := unsureOf(t, "other/labels", "pb001"), unsureOf(t, "foreign/labels", "yes")
	mixed.Case.Labels, foreign.Case.Labels = []string{"nd001", "pb001", "zz001"}, []string{"yes", "no"}
	s.try(s.submit("other labels", "github.com/acme/other", []docket.Entry{mixed, foreign}), nil)
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

// unsureOf is a case that needs a person.
func unsureOf(t *testing.T, name, label string) docket.Entry {
	t.Helper()
	e := demoEntries(t)[0]
	e.Case.ID, e.Case.Subject, e.Case.Evidence, e.Case.Documents, e.Truth = name, name+" fails", nil, nil, nil
	e.Case.Light = &abi.LightAnswer{Classification: label, Confidence: 0.4, Reasoning: "A guess."}
	return e
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
		s.try(s.submit(name, "github.com/acme/other", []docket.Entry{unsureOf(t, name, "pb001")}), nil)
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
	s.try(s.submit("last", "github.com/acme/other", []docket.Entry{unsureOf(t, "suite/Last", "pb001")}), nil)
	b.wait(`document.querySelector("#stale")`)
	fetched(3)
	check.Equal(t, value[string](b, fresh), "0", "the page was replaced", "times")
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
	check.Equal(t, watcher.texts(".tiles b")[1], "4", "cases are tried")
}

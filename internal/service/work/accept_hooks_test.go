package work_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/alibi"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
	"github.com/shadowcourt/shadowcourt/internal/service/work"
)

var hooks7 = map[string]func(*testing.T, *store.Store){"events": hookEvents, "retries": hookRetries, "slow": slowReceiver}

func TestAccept_IG7_WebhooksOnSQLite(t *testing.T) { t.Parallel(); onEach(t, openStore, hooks7) }

// aHook is a webhook in a file.
func aHook(name, url, events, more string) string {
	return fmt.Sprintf("  - {name: %s, url: %q, events: [%s], secret: env:SECRET, allow_private: true%s}\n", name, url, events, more)
}

func setHooks(t testing.TB, s *store.Store, text string) []*work.Hook {
	t.Helper()
	hooks, err := work.ParseHooks([]byte("hooks:\n"+text), environment)
	must(t, err)
	var list []store.Webhook
	for _, h := range hooks {
		list = append(list, h.Subscription())
	}
	must(t, s.SetWebhooks(t.Context(), list))
	return hooks
}

// sends has a worker send to webhooks, and gives what came of attempts.
func sends(t testing.TB, s *store.Store, text string, timeout time.Duration) func(outcome string) int {
	t.Helper()
	var mu sync.Mutex
	counts := map[string]int{}
	start(t, s, func(c *work.Config) {
		c.Webhooks, c.HookTime, c.HookPause = setHooks(t, s, text), timeout, 10*time.Millisecond
		c.OnMessage = func(hook, outcome string) {
			mu.Lock()
			defer mu.Unlock()
			counts[hook+" "+outcome]++
		}
	})
	return func(outcome string) int {
		mu.Lock()
		defer mu.Unlock()
		return counts[outcome]
	}
}

// arrived is a message as a receiver got it.
type arrived struct {
	id   string
	Type store.HookEventType `json:"type"`
	Data store.HookEvent     `json:"data"` // without Type and Time
}

// inbox is a receiver that keeps messages, and answers as told.
type inbox struct {
	*httptest.Server

	mu   sync.Mutex
	list []arrived
}

func newInbox(t testing.TB, answer func(n int, w http.ResponseWriter, r *http.Request)) *inbox {
	t.Helper()
	b := &inbox{}
	b.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		m := arrived{id: r.Header.Get("webhook-id")}
		text, err := io.ReadAll(r.Body)
		if err == nil {
			err = json.Unmarshal(text, &m)
		}
		if err != nil {
			t.Error(err)
		}
		b.mu.Lock()
		b.list = append(b.list, m)
		n := len(b.list)
		b.mu.Unlock()
		if answer != nil {
			answer(n, w, r)
		}
	}))
	t.Cleanup(b.Close)
	t.Cleanup(b.CloseClientConnections)
	return b
}

func (b *inbox) messages() []arrived {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.list)
}

// ids are those of the messages, with the number of times that each came.
func (b *inbox) ids() map[string]int {
	count := map[string]int{}
	for _, m := range b.messages() {
		count[m.id]++
	}
	return count
}

// until waits until something is the case.
func until(t testing.TB, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); !is(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within two minutes: %s", what)
		}
	}
}

// pushed sends answers of the alibi.
func pushed(t testing.TB, s *store.Store, sent store.Submission, verdicts ...alibi.Verdict) store.Docket {
	t.Helper()
	sent.Format, sent.Submitter = store.FormatAlibi, "ci"
	u, err := s.Submit(t.Context(), sent)
	must(t, err)
	for i, verdict := range verdicts {
		a := &store.Alibi{Verdict: verdict, Why: "runs"}
		switch verdict {
		case alibi.IsYours:
			a.Label, a.Culprit = alibi.Caused, &alibi.Culprit{Commit: "9ab12cd"}
		case alibi.NotYours:
			a.Label = alibi.Preexisting
		case alibi.IsOpen:
		}
		c := abi.Case{ID: fmt.Sprintf("Test%d", i+1), Subject: "fails", Labels: alibi.Labels()}
		tried := &trial.Trial{Case: c, Result: trial.Result{ID: c.ID, Final: trial.Final{Status: trial.Accepted, Classification: alibi.Caused, Confidence: 0.99}}}
		must(t, u.AddTried(t.Context(), &docket.Entry{Case: c}, store.NewVerdict{Trial: tried, Alibi: a}))
	}
	d, _, err := u.FinishTried(t.Context(), "body of "+sent.Key, nil)
	must(t, err)
	must(t, u.Abort(t.Context()))
	return d
}

// hookEvents: what happens is told once to each webhook that is to be told of it.
func hookEvents(t *testing.T, s *store.Store) {
	t.Helper()
	boxes := map[string]*inbox{}
	var lines strings.Builder
	for name, is := range map[string][2]string{
		"all":         {"docket.finished, failure.yours, failure.open, verdict.corrected, generation.activated"},
		"yours":       {"failure.yours", ", repositories: [sh*]"},
		"docket":      {"docket.finished", ", repositories: [other, 'github.com/*/store']"},
		"corrections": {"verdict.corrected", ", repositories: [shop]"},
	} {
		boxes[name] = newInbox(t, nil)
		lines.WriteString(aHook(name, boxes[name].URL, is[0], is[1]))
	}
	file := lines.String()
	// What waits for a webhook that the file does not have any more is removed; what waits for another one is sent.
	gone := newInbox(t, nil)
	setHooks(t, s, file+aHook("gone", gone.URL, "docket.finished", ""))
	pushed(t, s, store.Submission{Repository: "empty"})
	sends(t, s, file+aHook("later", gone.URL, "docket.finished", ""), 0)
	setHooks(t, s, file+aHook("gone", gone.URL, "docket.finished", ""))
	setHooks(t, s, file)

	want := []string{"all docket.finished"}
	expect := func(what string, more ...string) {
		t.Helper()
		want = append(want, more...)
		slices.Sort(want)
		got := func() (list []string) {
			for name, box := range boxes {
				for _, m := range box.messages() {
					list = append(list, name+" "+string(m.Type))
				}
			}
			slices.Sort(list)
			return list
		}
		until(t, fmt.Sprintf("%s: %q", what, want), func() bool { return len(got()) >= len(want) })
		if !slices.Equal(got(), want) {
			t.Fatalf("%s: %q instead of %q", what, got(), want)
		}
	}
	first := pushed(t, s, store.Submission{Repository: "shop", Key: "once", Name: "build"}, alibi.NotYours, alibi.IsOpen, alibi.IsYours, alibi.IsYours)
	expect("two are yours", "all failure.yours", "yours failure.yours")
	d := boxes["yours"].messages()[0].Data.Docket
	if d.ID != first.ID || d.Yours != 2 || d.Open != 1 || d.NotYours != 1 || d.State != store.Done || d.Cases != 4 || len(d.Failures) != 4 || d.Failures[0].Verdict != "yours" ||
		d.Failures[0].Case != "Test3" || d.Failures[0].Culprit != "9ab12cd" || d.Failures[2].Verdict != "open" || d.Failures[3].Case != "Test1" {
		t.Errorf("%+v", d)
	}
	pushed(t, s, store.Submission{Repository: "shop", Key: "once", Name: "build"}, alibi.NotYours, alibi.IsOpen, alibi.IsYours, alibi.IsYours)
	other := pushed(t, s, store.Submission{Repository: "other"}, alibi.IsOpen)
	expect("the same again, and one that is open", "all failure.open", "docket docket.finished")
	pushed(t, s, store.Submission{Repository: "github.com/acme/store"}, alibi.NotYours)
	expect("none is yours", "all docket.finished", "docket docket.finished")
	ended := submit(t, s, store.Submission{Format: "jsonl", Repository: "empty"}, []docket.Entry{failing()})
	wait(t, s, ended.ID)
	expect("a docket that was tried", "all failure.open")
	c, err := s.Correct(t.Context(), "ann", alibi.Preexisting, []store.TrialID{{Docket: first.ID, Ordinal: 3}, {Docket: first.ID, Ordinal: 4}, {Docket: other.ID, Ordinal: 1}})
	must(t, err)
	expect("a correction about two repositories", "all verdict.corrected", "all verdict.corrected", "corrections verdict.corrected")
	_, err = s.Undo(t.Context(), "bob", c.ID)
	must(t, err)
	expect("it was undone", "all verdict.corrected", "all verdict.corrected", "corrections verdict.corrected")
	for i, author := range []string{"ann", "bob"} {
		told := boxes["corrections"].messages()[i].Data.Correction
		if told.ID != c.ID || told.Label != alibi.Preexisting || told.Author != author || told.Repository != "shop" || told.Trials != 2 || len(told.First) != 2 || told.Undone != (i == 1) {
			t.Errorf("%+v", told)
		}
	}
	current, err := s.CurrentGeneration(t.Context())
	must(t, err)
	_, err = s.Activate(t.Context(), "ann", current)
	must(t, err)
	expect("a generation is in force", "all generation.activated")
	if len(gone.messages()) != 0 {
		t.Error("a webhook that was removed got messages")
	}
}

// hookRetries: a receiver fails in some ways, and then gets the message, under one ID. One that rejects it, and one that is not there, are given up.
func hookRetries(t *testing.T, s *store.Store) {
	t.Helper()
	flaky := newInbox(t, func(n int, w http.ResponseWriter, _ *http.Request) {
		if n == 1 {
			w.WriteHeader(http.StatusInternalServerError)
		} else if n < 4 {
			panic(http.ErrAbortHandler) // the connection breaks
		}
	})
	rejects := newInbox(t, func(_ int, w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) })
	came := sends(t, s, aHook("flaky", flaky.URL, "docket.finished", "")+aHook("rejects", rejects.URL, "docket.finished", "")+aHook("none", "http://127.0.0.1:1/", "docket.finished", ""), 0)
	pushed(t, s, store.Submission{Repository: "shop"}, alibi.IsYours)
	until(t, "all have ended", func() bool { return came("flaky delivered")+came("rejects dead")+came("none dead") == 3 })
	if n := came("flaky pending"); n != 3 || len(flaky.messages()) != 4 || len(flaky.ids()) != 1 || len(rejects.messages()) != 1 || came("none pending") != 12 {
		t.Errorf("%d attempts failed, %+v", n, flaky.messages())
	}
}

// slowReceiver: one that answers nothing has two messages at most, and holds up neither another nor trials.
func slowReceiver(t *testing.T, s *store.Store) {
	t.Helper()
	var now atomic.Int32
	release := make(chan struct{})
	slow := newInbox(t, func(_ int, _ http.ResponseWriter, r *http.Request) {
		if n := now.Add(1); n > 2 {
			t.Errorf("%d messages at once", n)
		}
		defer now.Add(-1)
		select {
		case <-release:
		case <-r.Context().Done():
		}
	})
	fast := newInbox(t, nil)
	came := sends(t, s, aHook("slow", slow.URL, "docket.finished", "")+aHook("fast", fast.URL, "docket.finished", ""), 10*time.Minute) // a server sees late that an attempt timed out
	const n = 20
	for i := range n {
		pushed(t, s, store.Submission{Repository: "shop", Key: strconv.Itoa(i)}, alibi.IsYours)
	}
	tried := wait(t, s, submit(t, s, store.Submission{Format: "jsonl", Repository: "shop"}, []docket.Entry{failing()}).ID)
	until(t, "the fast one has all", func() bool { return len(fast.ids()) == n+1 })
	if got := came("slow delivered"); got != 0 {
		t.Errorf("the slow one has %d", got)
	}
	close(release)
	until(t, "the slow one has all", func() bool { return came("slow delivered") == n+1 })
	if len(fast.messages()) != n+1 || tried.State != store.Done || strings.Contains(fmt.Sprint(slow.ids()), ":2") {
		t.Errorf("%d messages, %+v", len(fast.messages()), tried)
	}
}

package work_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
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
	"github.com/shadowcourt/shadowcourt/internal/service/webhook"
	"github.com/shadowcourt/shadowcourt/internal/service/work"
)

var hooks7 = map[string]func(*testing.T, *store.Store){
	"outbox": outbox, "retries": hookRetries, "dead": deadLetters, "slow": slowReceiver, "retention": oldDeliveries, "removed": removedWebhook,
}

func TestAccept_IG7_WebhooksOnSQLite(t *testing.T) {
	t.Parallel()
	onEach(t, openStore, hooks7)
}

const hookSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

// hooksOf reads a file of webhooks.
func hooksOf(t testing.TB, text string) []*webhook.Hook {
	t.Helper()
	file := filepath.Join(t.TempDir(), "hooks.yaml")
	must(t, os.WriteFile(file, []byte(text), 0o600))
	hooks, err := webhook.Read(file, func(string) string { return hookSecret })
	must(t, err)
	return hooks
}

// aHook is a webhook in a file.
func aHook(name, url, events, more string) string {
	return fmt.Sprintf("  - {name: %s, url: %q, events: [%s], secret: env:S, allow_private: true%s}\n", name, url, events, more)
}

func setHooks(t testing.TB, s *store.Store, hooks []*webhook.Hook) {
	t.Helper()
	list := make([]store.Webhook, len(hooks))
	for i, h := range hooks {
		list[i] = h.Subscription()
	}
	must(t, s.SetWebhooks(t.Context(), list))
}

// sends has a worker send to webhooks, with short pauses.
func sends(t testing.TB, s *store.Store, text string, timeout time.Duration, delays ...time.Duration) {
	t.Helper()
	hooks := hooksOf(t, "hooks:\n"+text)
	setHooks(t, s, hooks)
	start(t, s, func(c *work.Config) {
		c.Webhooks = webhook.NewSender(webhook.Config{Hooks: hooks, Now: time.Now, Random: func() float64 { return 0 }, Delays: delays, Timeout: timeout})
	})
}

// arrived is a message as a receiver got it.
type arrived struct {
	id string
	at int64
	store.HookEvent
}

// inbox is a receiver that keeps messages whose signature is right, and answers as told.
type inbox struct {
	*httptest.Server

	mu   sync.Mutex
	list []arrived
}

func newInbox(t testing.TB, answer func(n int, w http.ResponseWriter, r *http.Request)) *inbox {
	t.Helper()
	b := &inbox{}
	b.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		m, err := verified(r)
		if err != nil {
			t.Error(err)
			w.WriteHeader(http.StatusUnauthorized)
			return
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

// verified verifies a message without the code that signs it.
func verified(r *http.Request) (m arrived, err error) {
	text, err := io.ReadAll(r.Body)
	if err != nil {
		return m, err
	}
	m.id = r.Header.Get("webhook-id")
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(hookSecret, "whsec_"))
	if err != nil {
		return m, err
	}
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%s.%s", m.id, r.Header.Get("webhook-timestamp"), text)
	if want := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)); r.Header.Get("webhook-signature") != want {
		return m, fmt.Errorf("the signature is %q instead of %q", r.Header.Get("webhook-signature"), want)
	}
	if m.at, err = strconv.ParseInt(r.Header.Get("webhook-timestamp"), 10, 64); err != nil {
		return m, err
	}
	var body struct {
		Type      store.HookEventType `json:"type"`
		Timestamp time.Time           `json:"timestamp"`
		Data      struct {
			Docket     *store.HookDocket     `json:"docket"`
			Correction *store.HookCorrection `json:"correction"`
			Generation *store.HookGeneration `json:"generation"`
		} `json:"data"`
	}
	err = json.Unmarshal(text, &body)
	m.HookEvent = store.HookEvent{Type: body.Type, Time: body.Timestamp, Docket: body.Data.Docket, Correction: body.Data.Correction, Generation: body.Data.Generation}
	return m, err
}

func (b *inbox) messages() []arrived {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.list)
}

// ids are those of the messages, each once.
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

func deliveries(t testing.TB, s *store.Store, f store.DeliveryFilter) []store.Delivery {
	t.Helper()
	list, err := s.Deliveries(t.Context(), f)
	must(t, err)
	return list
}

// inState waits until so many deliveries are in a state.
func inState(t testing.TB, s *store.Store, state store.DeliveryState, n int) []store.Delivery {
	t.Helper()
	until(t, fmt.Sprintf("%d deliveries are %s", n, state), func() bool { return len(deliveries(t, s, store.DeliveryFilter{State: state})) == n })
	return deliveries(t, s, store.DeliveryFilter{State: state})
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

// outbox: what happens is stored once for each webhook that is to be told of it, in the transaction in which it happens.
func outbox(t *testing.T, s *store.Store) {
	t.Helper()
	const url = "http://127.0.0.1:1/"
	setHooks(t, s, hooksOf(t, "hooks:\n"+
		aHook("all", url, "docket.finished, failure.yours, failure.open, verdict.corrected, generation.activated", "")+
		aHook("yours", url, "failure.yours", ", repositories: [sh*]")+
		aHook("docket", url, "docket.finished", ", repositories: [other, 'github.com/*/store']")+
		aHook("corrections", url, "verdict.corrected", ", repositories: [shop]")))
	got := func() []string {
		var list []string
		for _, d := range deliveries(t, s, store.DeliveryFilter{Limit: 1000}) {
			list = append(list, d.Hook+" "+string(d.Event))
			if d.State != store.DeliveryPending || d.Attempt != 0 || !strings.HasPrefix(d.Message, "msg_") || d.What.Type != d.Event {
				t.Errorf("%+v", d)
			}
		}
		slices.Sort(list)
		return list
	}
	var want []string
	expect := func(what string, more ...string) {
		t.Helper()
		want = append(want, more...)
		slices.Sort(want)
		if list := got(); !slices.Equal(list, want) {
			t.Fatalf("%s: %q instead of %q", what, list, want)
		}
	}
	expect("nothing happened")
	first := pushed(t, s, store.Submission{Repository: "shop", Key: "once", Name: "build"}, alibi.NotYours, alibi.IsOpen, alibi.IsYours, alibi.IsYours)
	expect("two are yours", "all failure.yours", "yours failure.yours")
	d := deliveries(t, s, store.DeliveryFilter{Hook: "yours"})[0].What.Docket
	if d.ID != first.ID || d.Yours != 2 || d.Open != 1 || d.NotYours != 1 || d.State != store.Done || d.Cases != 4 || len(d.Failures) != 4 || d.Failures[0].Verdict != "yours" ||
		d.Failures[0].Case != "Test3" || d.Failures[0].Culprit != "9ab12cd" || d.Failures[2].Verdict != "open" || d.Failures[3].Case != "Test1" {
		t.Errorf("%+v", d)
	}
	pushed(t, s, store.Submission{Repository: "shop", Key: "once", Name: "build"}, alibi.NotYours, alibi.IsOpen, alibi.IsYours, alibi.IsYours)
	expect("the same again")
	other := pushed(t, s, store.Submission{Repository: "other"}, alibi.IsOpen)
	expect("one is open", "all failure.open", "docket docket.finished")
	pushed(t, s, store.Submission{Repository: "github.com/acme/store"}, alibi.NotYours)
	expect("none is yours", "all docket.finished", "docket docket.finished")
	submit(t, s, store.Submission{Format: "jsonl", Repository: "empty"}, nil)
	expect("a docket of nothing", "all docket.finished")
	waiting := submit(t, s, store.Submission{Format: "jsonl", Repository: "empty"}, []docket.Entry{failing()})
	expect("a docket that waits")
	must(t, s.Cancel(t.Context(), waiting.ID))
	expect("it was cancelled", "all docket.finished")
	c, err := s.Correct(t.Context(), "ann", alibi.Preexisting, []store.TrialID{{Docket: first.ID, Ordinal: 3}, {Docket: first.ID, Ordinal: 4}, {Docket: other.ID, Ordinal: 1}})
	must(t, err)
	expect("a correction about two repositories", "all verdict.corrected", "all verdict.corrected", "corrections verdict.corrected")
	told := deliveries(t, s, store.DeliveryFilter{Hook: "corrections"})[0].What.Correction
	if told.ID != c.ID || told.Label != alibi.Preexisting || told.Author != "ann" || told.Repository != "shop" || told.Trials != 2 || len(told.First) != 2 || told.Undone {
		t.Errorf("%+v", told)
	}
	_, err = s.Undo(t.Context(), "bob", c.ID)
	must(t, err)
	expect("it was undone", "all verdict.corrected", "all verdict.corrected", "corrections verdict.corrected")
	if told := deliveries(t, s, store.DeliveryFilter{Hook: "corrections"})[0].What.Correction; !told.Undone || told.Author != "bob" {
		t.Errorf("%+v", told)
	}
	current, err := s.CurrentGeneration(t.Context())
	must(t, err)
	next := swapped(t, s, current, "specter", changed(t, "specter", "hooks"))
	expect("a generation that is not in force")
	_, err = s.Activate(t.Context(), "ann", next.ID)
	must(t, err)
	expect("it is in force", "all generation.activated")
}

// hookRetries: a receiver fails in each way, and then gets the message, under one ID and with the time of each attempt.
func hookRetries(t *testing.T, s *store.Store) {
	t.Helper()
	b := newInbox(t, func(n int, w http.ResponseWriter, r *http.Request) {
		switch n {
		case 1:
			w.WriteHeader(http.StatusInternalServerError)
		case 2: // no answer in time
			<-r.Context().Done()
		case 3:
			panic(http.ErrAbortHandler) // the connection breaks
		}
	})
	sends(t, s, aHook("one", b.URL, "docket.finished", "")+aHook("gone", "http://127.0.0.1:1/", "docket.finished", ""), 5*time.Second, 50*time.Millisecond, 50*time.Millisecond, 50*time.Millisecond)
	pushed(t, s, store.Submission{Repository: "shop"}, alibi.IsYours)
	d := inState(t, s, store.Delivered, 1)[0]
	got := b.messages()
	if len(got) != 4 || d.Attempt != 4 || d.Status != 200 || len(b.ids()) != 1 || got[0].id != d.Message {
		t.Errorf("%+v\n%+v", d, got)
	}
	if got[0].at >= got[3].at || got[3].at < time.Now().Unix()-60 {
		t.Errorf("the times are %d and %d", got[0].at, got[3].at)
	}
	dead := inState(t, s, store.DeliveryDead, 1)[0]
	if dead.Hook != "gone" || dead.Attempt != 4 || dead.Status != 0 || !strings.Contains(dead.Answer, "refused") {
		t.Errorf("%+v", dead)
	}
}

// deadLetters: what no attempt delivered is listed, and sent again when somebody says so.
func deadLetters(t *testing.T, s *store.Store) {
	t.Helper()
	var status atomic.Int32
	status.Store(http.StatusServiceUnavailable)
	b := newInbox(t, func(_ int, w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(int(status.Load()))
		_, _ = io.WriteString(w, "down\x1b[31m for <b>maintenance</b>")
	})
	sends(t, s, aHook("one", b.URL, "docket.finished", ""), time.Minute, time.Millisecond, time.Millisecond)
	pushed(t, s, store.Submission{Repository: "shop"}, alibi.IsYours)
	d := inState(t, s, store.DeliveryDead, 1)[0]
	if d.Attempt != 3 || d.Status != 503 || !strings.Contains(d.Answer, "status 503: down") || strings.Contains(d.Answer, "\x1b") || len(b.messages()) != 3 {
		t.Errorf("%+v", d)
	}
	status.Store(http.StatusNotFound)
	_, err := s.Redeliver(t.Context(), d.ID)
	must(t, err)
	until(t, "it is dead at once", func() bool {
		list := deliveries(t, s, store.DeliveryFilter{})
		return list[0].State == store.DeliveryDead && list[0].Status == 404 && list[0].Attempt == 1
	})
	status.Store(http.StatusNoContent)
	for range 2 { // also what was delivered
		again, err := s.Redeliver(t.Context(), d.ID)
		if err != nil || again.State != store.DeliveryPending {
			t.Fatalf("%+v, %v", again, err)
		}
		if got := inState(t, s, store.Delivered, 1)[0]; got.Message != d.Message || got.Attempt != 1 || len(b.ids()) != 1 {
			t.Errorf("%+v", got)
		}
	}
	if hooks, err := s.Webhooks(t.Context()); err != nil || len(hooks) != 1 || hooks[0].Pending+hooks[0].Dead != 0 {
		t.Errorf("%+v, %v", hooks, err)
	}
	if _, err := s.Redeliver(t.Context(), 999); err == nil {
		t.Error("what is not there was redelivered")
	}
}

// slowReceiver: one that answers nothing has two messages at most, and holds up neither another nor trials.
func slowReceiver(t *testing.T, s *store.Store) {
	t.Helper()
	var now atomic.Int32
	release := make(chan struct{})
	slow := newInbox(t, func(_ int, _ http.ResponseWriter, r *http.Request) {
		n := now.Add(1)
		defer now.Add(-1)
		if n > webhook.AtOnce {
			t.Errorf("%d messages at once", n)
		}
		select {
		case <-release:
		case <-r.Context().Done():
		}
	})
	fast := newInbox(t, nil)
	sends(t, s, aHook("slow", slow.URL, "docket.finished", "")+aHook("fast", fast.URL, "docket.finished", ""), 10*time.Minute) // a server sees late that an attempt timed out
	const n = 20
	for i := range n {
		pushed(t, s, store.Submission{Repository: "shop", Key: strconv.Itoa(i)}, alibi.IsYours)
	}
	tried := wait(t, s, submit(t, s, store.Submission{Format: "jsonl", Repository: "shop"}, []docket.Entry{failing()}).ID)
	until(t, "the fast one has all", func() bool { return len(fast.ids()) == n+1 })
	delivered := func() int {
		return len(deliveries(t, s, store.DeliveryFilter{Hook: "slow", State: store.Delivered}))
	}
	if got := delivered(); got != 0 {
		t.Errorf("the slow one has %d", got)
	}
	close(release)
	until(t, "the slow one has all", func() bool { return delivered() == n+1 })
	if len(fast.messages()) != n+1 || tried.State != store.Done {
		t.Errorf("%d messages, %+v", len(fast.messages()), tried)
	}
}

// oldDeliveries are removed when their time is over, those that wait are not.
func oldDeliveries(t *testing.T, s *store.Store) {
	t.Helper()
	b := newInbox(t, func(n int, w http.ResponseWriter, _ *http.Request) {
		if n == 1 {
			w.WriteHeader(http.StatusGone)
		}
	})
	sends(t, s, aHook("one", b.URL, "docket.finished", ""), time.Minute, time.Millisecond)
	pushed(t, s, store.Submission{}, alibi.IsYours)
	inState(t, s, store.DeliveryDead, 1)
	pushed(t, s, store.Submission{}, alibi.IsYours)
	inState(t, s, store.Delivered, 1)
	if n, err := s.RemoveDeliveries(t.Context(), time.Hour, time.Hour); n != 0 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	if n, err := s.RemoveDeliveries(t.Context(), -time.Hour, time.Hour); n != 1 || err != nil || len(deliveries(t, s, store.DeliveryFilter{State: store.DeliveryDead})) != 1 {
		t.Errorf("%d, %v", n, err)
	}
	if n, err := s.RemoveDeliveries(t.Context(), -time.Hour, -time.Hour); n != 1 || err != nil || len(deliveries(t, s, store.DeliveryFilter{})) != 0 {
		t.Errorf("%d, %v", n, err)
	}
}

// removedWebhook: what waits for a webhook that the file does not have any more is dead, and can't be redelivered.
func removedWebhook(t *testing.T, s *store.Store) {
	t.Helper()
	setHooks(t, s, hooksOf(t, "hooks:\n"+aHook("one", "http://127.0.0.1:1/", "docket.finished", "")+aHook("two", "http://127.0.0.1:1/", "docket.finished", "")))
	pushed(t, s, store.Submission{}, alibi.IsYours)
	setHooks(t, s, hooksOf(t, "hooks:\n"+aHook("two", "http://127.0.0.1:1/", "docket.finished", "")))
	dead := deliveries(t, s, store.DeliveryFilter{State: store.DeliveryDead})
	if len(dead) != 1 || dead[0].Hook != "one" || len(deliveries(t, s, store.DeliveryFilter{State: store.DeliveryPending})) != 1 {
		t.Fatalf("%+v", dead)
	}
	if _, err := s.Redeliver(t.Context(), dead[0].ID); err == nil || !strings.Contains(err.Error(), "was removed") {
		t.Error(err)
	}
	pushed(t, s, store.Submission{}, alibi.IsYours)
	if n := len(deliveries(t, s, store.DeliveryFilter{})); n != 3 {
		t.Errorf("%d deliveries", n)
	}
}

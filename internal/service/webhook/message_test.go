package webhook_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/internal/service/store"
	"github.com/shadowcourt/shadowcourt/internal/service/webhook"
)

const base = "https://court.example"

// hostileText would be a mention, a link, markup or an escape where it was not escaped.
const hostileText = "<!channel> <@U1> <https://evil.example|ok> & *b* [x](https://evil.example) <at>all</at> `c` :tada: \u202e\x1b[31m \"}],\n"

func docketEvent(text string, yours, open int) *store.HookEvent {
	d := &store.HookDocket{ID: 17, Name: text, Repository: text, Revision: text, Submitter: text, State: store.Done, Cases: 30, Tried: 30, Yours: yours, Open: open, NotYours: 30 - yours - open}
	for i := range min(30, store.HookFailures) {
		f := store.HookFailure{Trial: store.TrialID{Docket: 17, Ordinal: i + 1}, Case: text, Subject: text, About: text, Label: text, Confidence: 0.97, Culprit: text}
		switch {
		case i < yours:
			f.Verdict = "yours"
		case i < yours+open:
			f.Verdict, f.Label = "open", ""
		default:
			f.Verdict = "not yours"
		}
		d.Failures = append(d.Failures, f)
	}
	return &store.HookEvent{Type: store.FailureYours, Time: time.Unix(1_800_000_000, 0), Docket: d}
}

func events(text string) map[string]*store.HookEvent {
	return map[string]*store.HookEvent{
		"docket": docketEvent(text, 2, 1), "many": docketEvent(text, 19, 11), "none": docketEvent(text, 0, 0),
		"correction": {Type: store.VerdictCorrected, Correction: &store.HookCorrection{ID: 1, Label: text, Author: text, Repository: text, Trials: 3, First: []store.TrialID{{Docket: 17, Ordinal: 2}}}},
		"generation": {Type: store.GenerationActivated, Generation: &store.HookGeneration{ID: 7, Author: text, Note: text}},
	}
}

// texts lists all texts of a JSON value, with the paths of their keys.
func texts(path string, v any, list map[string][]string) map[string][]string {
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			texts(path+"."+key, value, list)
		}
	case []any:
		for _, value := range v {
			texts(path, value, list)
		}
	case string:
		list[path] = append(list[path], v)
	}
	return list
}

func body(t *testing.T, e *store.HookEvent, base string) (raw string, v any) {
	t.Helper()
	text, err := webhook.Message(base, e)
	must(t, err)
	must(t, json.Unmarshal(text, &v))
	return string(text), v
}

func TestAccept_IG7_MessagesBeginWithTheConclusion(t *testing.T) {
	t.Parallel()
	for want, e := range map[string]*store.HookEvent{
		"2 failures are yours, 1 is open": docketEvent("a", 2, 1), "1 failure is yours": docketEvent("a", 1, 0), "3 failures are open": docketEvent("a", 0, 3),
		"no failure is yours, of 30": docketEvent("a", 0, 0), "ann corrected 3 trials to ann": events("ann")["correction"], "generation 7 of the modules is in force": events("a")["generation"],
	} {
		_, plain := body(t, e, base)
		if got := texts("", plain, map[string][]string{})[".data.conclusion"]; len(got) != 1 || got[0] != want {
			t.Errorf("JSON: %q, want %q", got, want)
		}
	}
}

// The envelope has the whole event, and reads back as it was stored.
func TestAccept_IG7_JSONHasTheWholeEvent(t *testing.T) {
	t.Parallel()
	for name, e := range events(hostileText) {
		raw, _ := body(t, e, base)
		var got struct {
			Type      store.HookEventType `json:"type"`
			Timestamp time.Time           `json:"timestamp"`
			Data      struct {
				URL        string                `json:"url"`
				Docket     *store.HookDocket     `json:"docket"`
				Correction *store.HookCorrection `json:"correction"`
				Generation *store.HookGeneration `json:"generation"`
			} `json:"data"`
		}
		must(t, json.Unmarshal([]byte(raw), &got))
		back := store.HookEvent{Type: got.Type, Time: got.Timestamp, Docket: got.Data.Docket, Correction: got.Data.Correction, Generation: got.Data.Generation}
		if back.Time.Unix() != e.Time.Unix() || !strings.HasPrefix(got.Data.URL, base+"/") {
			t.Errorf("%s: %s", name, raw)
		}
		back.Time = e.Time
		if a, b := asJSON(t, back), asJSON(t, *e); a != b {
			t.Errorf("%s:\n%s\n%s", name, a, b)
		}
	}
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	must(t, err)
	return string(text)
}

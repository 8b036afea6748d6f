package publish

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/shadowcourt/shadowcourt/host/alibi"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/answers"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// FuzzAnswers has trackers answer anything: what names an issue has its form, and nothing is written.
func FuzzAnswers(f *testing.F) {
	d := &answers.Document{Head: "1111111", Failures: []answers.Failure{
		{Answer: alibi.Answer{ID: "a", Label: alibi.Preexisting}, Fingerprint: "0123456789abcdef0123456789abcdef"},
	}}
	found, _ := SelectFindings(d, false)
	var said atomic.Value
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.URL.Path != "/rest/api/3/search/jql" {
			f.Errorf("a dry run sends %s %s", r.Method, r.URL)
		}
		w.Header().Set("Content-Type", "application/json")
		text, _ := said.Load().(string)
		_, _ = w.Write([]byte(text))
	}))
	f.Cleanup(server.Close)
	s := must.Get(ParseServer(server.URL, false))(f)
	gitHub := must.Get(NewTracker(s, "acme/cart"))(f)
	ref := regexp.MustCompile(`^(#[1-9][0-9]*)?$`)
	f.Add(`[{"number":1,"state":"closed","state_reason":"completed","body":"<!-- shadowcourt:fingerprint=0123456789abcdef0123456789abcdef -->"}]`)
	f.Fuzz(func(t *testing.T, text string) {
		said.Store(text)
		steps, err := (&IssueKeeper{Tracker: gitHub, Max: 1}).Keep(t.Context(), d, found)
		if err != nil {
			return
		}
		for _, step := range steps {
			if !ref.MatchString(step.Ref) || step.Written || (step.Action == IssueFails) != (step.Err != nil) {
				t.Errorf("step %+v", step)
			}
		}
	})
}

const line = `{"id":"1","members":["2"],"light":null,"verdict":{"decision":"affirm","final_classification":"pb001","confidence":0.9,"reasoning":"r"},` +
	`"final":{"status":"affirmed","classification":"pb001","confidence":0.9,"cause":null}}`

func FuzzReadResults(f *testing.F) {
	f.Add(line)
	f.Add(line + "\n\n" + strings.ReplaceAll(line, `"1"`, `"3"`))
	f.Fuzz(func(t *testing.T, text string) {
		results, err := ReadResults(strings.NewReader(text))
		if err != nil {
			return
		}
		seen := map[string]bool{}
		for i := range results {
			r := &results[i]
			if r.ID == "" || seen[r.ID] || !(r.Final.Confidence >= 0 && r.Final.Confidence <= 1) {
				t.Errorf("result %+v", r)
			}
			seen[r.ID] = true
		}
	})
}

// FuzzItem has a server answer anything: a plan only writes to items that are to be investigated, by what the server says.
func FuzzItem(f *testing.F) {
	var said atomic.Value
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		text := `{"subTypes":{"PRODUCT_BUG":[{"locator":"pb001","longName":"x"}]}}`
		if r.Method != http.MethodGet {
			f.Errorf("a plan sends %s", r.Method)
		}
		if !strings.HasSuffix(r.URL.Path, "settings") {
			text, _ = said.Load().(string)
		}
		_, _ = w.Write([]byte(text))
	}))
	f.Cleanup(server.Close)
	s := must.Get(ParseServer(server.URL, false))(f)
	p := must.Get(NewProject(s, "cart"))(f)
	results := must.Get(ReadResults(strings.NewReader(line)))(f)
	rule := ItemRule{Court: &Bound{From: .5, Words: "w"}}
	f.Add(`{"id":1,"name":"n","status":"FAILED","issue":{"issueType":"ti001"}}`)
	f.Add(`{"id":1,"status":"FAILED","issue":{"issueType":"pb001","comment":"x\n\nshadowcourt:0123456789abcdef0123456789abcdef","autoAnalyzed":true}}`)
	f.Fuzz(func(t *testing.T, text string) {
		said.Store(text)
		steps, err := p.Plan(t.Context(), rule, append([]trial.Result{}, results...))
		if err != nil || len(steps) != 2 {
			t.Fatalf("%d steps, %v", len(steps), err)
		}
		for _, s := range steps {
			if (s.Action == ItemFailed) != (s.Err != nil) || s.Written || len(s.Name) > 300 || len(s.Why) > 300 {
				t.Errorf("step %+v", s)
			}
			if s.Action == ItemSet && !strings.Contains(strings.ToLower(text), "issuetype") {
				t.Errorf("an item without a defect is set: %s", text)
			}
		}
	})
}

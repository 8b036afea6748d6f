package issues_test

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"sync/atomic"
	"testing"

	"github.com/shadowcourt/shadowcourt/host/alibi"
	"github.com/shadowcourt/shadowcourt/internal/answers"
	"github.com/shadowcourt/shadowcourt/internal/publish"
	"github.com/shadowcourt/shadowcourt/internal/publish/issues"
)

// FuzzAnswers has trackers answer anything: what names an issue has its form, and nothing is written.
func FuzzAnswers(f *testing.F) {
	d := &answers.Document{Head: "1111111", Failures: []answers.Failure{
		{Answer: alibi.Answer{ID: "a", Label: alibi.Preexisting}, Fingerprint: "0123456789abcdef0123456789abcdef"},
	}}
	found, _ := issues.Select(d, false)
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
	s, err := publish.ParseServer(server.URL, false)
	if err != nil {
		f.Fatal(err)
	}
	gitHub, err := issues.NewGitHub(s, "acme/cart")
	if err != nil {
		f.Fatal(err)
	}
	ref := regexp.MustCompile(`^(#[1-9][0-9]*)?$`)
	f.Add(`[{"number":1,"state":"closed","state_reason":"completed","body":"<!-- shadowcourt:fingerprint=0123456789abcdef0123456789abcdef -->"}]`)
	f.Fuzz(func(t *testing.T, text string) {
		said.Store(text)
		steps, err := (&issues.Keeper{Tracker: gitHub, Max: 1}).Keep(t.Context(), d, found)
		if err != nil {
			return
		}
		for _, step := range steps {
			if !ref.MatchString(step.Ref) || step.Written || (step.Action == issues.Fails) != (step.Err != nil) {
				t.Errorf("step %+v", step)
			}
		}
	})
}

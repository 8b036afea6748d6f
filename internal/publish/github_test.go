package publish

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/host/alibi"
	"github.com/shadowcourt/shadowcourt/internal/answers"
	"github.com/shadowcourt/shadowcourt/internal/publish/testkit"
)

const (
	hubSecret = "ghs_0123456789abcdef"
	bot       = "github-actions[bot]"
	marker    = "<!-- shadowcourt:alibi -->"
)

// openHub makes a client; waits are noted instead of waited for.
func openHub(t *testing.T, h *testkit.Host, waits *[]time.Duration) *GitHub {
	t.Helper()
	s, err := ParseServer(h.URL, false)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte(hubSecret), 0o600); err != nil {
		t.Fatal(err)
	}
	if s.Token, err = ReadToken(file); err != nil {
		t.Fatal(err)
	}
	return OpenGitHub(s, func(_ context.Context, d time.Duration) error {
		if waits != nil {
			*waits = append(*waits, d)
		}
		return nil
	})
}

func keepHub(t *testing.T, c *GitHub, author, body string, quiet bool) (Kept, error) {
	t.Helper()
	return Keep(t.Context(), c.Pull("acme/shop", 1), author, Note{Marker: marker, Body: body, Quiet: quiet})
}

func TestAccept_IG1_OneCommentIsPostedThenUpdated(t *testing.T) {
	t.Parallel()
	h := testkit.NewGitHub(t, bot, hubSecret)
	h.NotMine = true
	h.Add("mallory", "look, a marker\n"+marker)
	c := openHub(t, h, nil)
	author, err := c.Self(t.Context())
	if err != nil || author != bot {
		t.Fatalf("%q, %v", author, err)
	}
	for _, step := range []struct {
		body, did string
		quiet     bool
	}{
		{"green", "", true},
		{"first", "posted", false},
		{"first", "unchanged", false},
		{"second", "updated", false},
		{"green again", "updated", true},
	} {
		before := len(h.Writes())
		kept, err := keepHub(t, c, author, step.body, step.quiet)
		if err != nil || kept.Did != step.did || kept.Removed != 0 {
			t.Errorf("%s: %+v, %v", step.body, kept, err)
		}
		if wrote := len(h.Writes()) > before; wrote != (step.did == "posted" || step.did == "updated") {
			t.Errorf("%s: %v", step.body, h.Writes()[before:])
		}
	}
	want := []testkit.Comment{{ID: 1, Author: "mallory", Body: "look, a marker\n" + marker}, {ID: 2, Author: bot, Body: "green again\n\n" + marker}}
	if got := h.Comments(); !slices.Equal(got, want) {
		t.Errorf("%+v", got)
	}
}

func TestAccept_IG1_TwoJobsThatRaceLeaveOneComment(t *testing.T) {
	t.Parallel()
	for range 5 {
		h := testkit.NewGitHub(t, "our-app[bot]", hubSecret)
		const jobs = 4
		var ready, done sync.WaitGroup
		ready.Add(jobs)
		var gets atomic.Int32
		h.Before = func(_ http.ResponseWriter, r *http.Request) bool {
			// Everybody has seen that there is no comment before anybody posts.
			if r.Method == http.MethodGet && gets.Add(1) <= jobs {
				ready.Done()
				ready.Wait()
			}
			return false
		}
		for range jobs {
			done.Go(func() {
				if _, err := keepHub(t, openHub(t, h, nil), "our-app[bot]", "said", false); err != nil {
					t.Error(err)
				}
			})
		}
		done.Wait()
		if got := h.Comments(); len(got) != 1 || got[0].Body != "said\n\n"+marker {
			t.Errorf("%+v", got)
		}
	}
}

// A token of an app does not tell its name before it has written: then the new comment takes the place of the old one.
func TestAccept_IG1_AnAppsOwnDuplicatesAreRemoved(t *testing.T) {
	t.Parallel()
	h := testkit.NewGitHub(t, "our-app[bot]", hubSecret)
	h.NotMine = true
	h.Add("our-app[bot]", "old\n\n"+marker)
	h.Add(bot, "of another app\n\n"+marker)
	h.Add("our-app[bot]", "of another job\n\n<!-- shadowcourt:windows -->")
	kept, err := keepHub(t, openHub(t, h, nil), "nobody", "new", false)
	if err != nil || kept.Did != "posted" || kept.Removed != 1 {
		t.Errorf("%+v, %v", kept, err)
	}
	var ids []int
	for _, c := range h.Comments() {
		ids = append(ids, c.ID)
	}
	if !slices.Equal(ids, []int{2, 3, 4}) {
		t.Errorf("left: %v", ids)
	}
}

func TestAccept_IG1_CommentsOnLaterPagesAreFound(t *testing.T) {
	t.Parallel()
	h := testkit.NewGitHub(t, bot, hubSecret)
	for i := range 250 {
		h.Add("ann", "comment "+strconv.Itoa(i))
	}
	h.Add(bot, "old\n\n"+marker)
	c := openHub(t, h, nil)
	if kept, err := keepHub(t, c, bot, "new", false); err != nil || kept.Did != "updated" || kept.ID != 251 {
		t.Errorf("%+v, %v", kept, err)
	}
	for i := range maxComments {
		h.Add("mallory", strconv.Itoa(i))
	}
	if _, err := keepHub(t, c, bot, "new", false); !errors.Is(err, errTooMany) {
		t.Error(err)
	}
}

func TestAccept_IG1_RateLimitsAreWaitedForWithinABound(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, after   string
		status, times int
		waits         []time.Duration
		fails         bool
	}{
		{"twice", "2", http.StatusForbidden, 2, []time.Duration{2 * time.Second, 2 * time.Second}, false},
		{"too many requests", "7", http.StatusTooManyRequests, 1, []time.Duration{7 * time.Second}, false},
		{"for ever", "1", http.StatusTooManyRequests, 1 << 20, []time.Duration{time.Second, time.Second, time.Second}, true},
		{"a date that has passed", "Mon, 01 Jan 2001 00:00:00 GMT", http.StatusTooManyRequests, 1, []time.Duration{0}, false},
		{"an hour", "3600", http.StatusTooManyRequests, 1, nil, true},
		{"nonsense", "-5", http.StatusTooManyRequests, 1, nil, true},
		{"no permission", "", http.StatusForbidden, 1, nil, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			h := testkit.NewGitHub(t, bot, hubSecret)
			left := tc.times
			h.Before = func(w http.ResponseWriter, r *http.Request) bool {
				if r.Method != http.MethodPost || left == 0 {
					return false
				}
				left--
				if tc.after != "" {
					w.Header().Set("Retry-After", tc.after)
				}
				w.WriteHeader(tc.status)
				fmt.Fprint(w, `{"message": "slow down"}`)
				return true
			}
			var waits []time.Duration
			_, err := keepHub(t, openHub(t, h, &waits), bot, "said", false)
			if (err != nil) != tc.fails || !slices.Equal(waits, tc.waits) {
				t.Errorf("%v after %v", err, waits)
			}
			if n := len(h.Comments()); n != 1 && !tc.fails || n != 0 && tc.fails {
				t.Errorf("%d comments", n)
			}
			if tc.status == http.StatusForbidden && tc.fails && !errors.Is(err, ErrForbidden) {
				t.Error(err)
			}
		})
	}
}

func TestAccept_IG1_HostileAnswersOfGitHub(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]func(w http.ResponseWriter){
		"null":    func(w http.ResponseWriter) { fmt.Fprint(w, `[null, {"id": 5, "user": null, "body": null}]`) },
		"no list": func(w http.ResponseWriter) { fmt.Fprint(w, `{"id": "x"}`) },
		"cut":     func(w http.ResponseWriter) { fmt.Fprint(w, `[{"id": 5, `) },
		"deep":    func(w http.ResponseWriter) { fmt.Fprint(w, strings.Repeat("[", 1<<20)) },
		"large":   func(w http.ResponseWriter) { fmt.Fprint(w, `["`+strings.Repeat("x", 9<<20)) },
		"many":    func(w http.ResponseWriter) { fmt.Fprint(w, "["+strings.Repeat("{},", 2<<20)+"{}]") },
		"elsewhere": func(w http.ResponseWriter) {
			w.Header().Set("Location", "http://127.0.0.1:1/")
			w.WriteHeader(http.StatusTemporaryRedirect)
		},
		"escape": func(w http.ResponseWriter) {
			w.WriteHeader(http.StatusInternalServerError)
			fmt.Fprint(w, "{\"message\": \"\x1b[31m\\u001b[31m"+strings.Repeat("y", 5000)+"\"}")
		},
		"limit": func(w http.ResponseWriter) {
			w.Header().Set("X-RateLimit-Remaining", "0")
			w.WriteHeader(http.StatusForbidden)
		},
		"empty": func(http.ResponseWriter) {},
		"html":  func(w http.ResponseWriter) { fmt.Fprint(w, "<html>") },
		"never again": func(w http.ResponseWriter) {
			fmt.Fprint(w, "["+strings.TrimSuffix(strings.Repeat("{},", 100), ",")+"]")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := testkit.NewGitHub(t, bot, hubSecret)
			h.Before = func(w http.ResponseWriter, r *http.Request) bool {
				if r.Method != http.MethodGet {
					return false
				}
				answer(w)
				return true
			}
			_, err := keepHub(t, openHub(t, h, nil), bot, "said", false)
			if err != nil && (len(err.Error()) > 700 || strings.ContainsRune(err.Error(), '\x1b') || strings.Contains(err.Error(), hubSecret)) {
				t.Errorf("%d bytes: %.200q", len(err.Error()), err)
			}
			if good := name == "null" || name == "empty"; (err == nil) != good {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestAccept_IG1_TheNumberOfAForksPullRequest(t *testing.T) {
	t.Parallel()
	h := testkit.NewGitHub(t, bot, hubSecret)
	sha := strings.Repeat("ab", 20)
	h.Pulls = map[string]string{"ann:fix/#1": sha}
	c := openHub(t, h, nil)
	for _, tc := range []struct {
		label, head string
		want        int
	}{{"ann:fix/#1", sha, 1}, {"ann:fix/#1", strings.Repeat("cd", 20), 0}, {"bob:fix", sha, 0}, {"ann:fix/#1", "", 0}} {
		if n, err := c.FindPull(t.Context(), "acme/shop", tc.label, tc.head); err != nil || n != tc.want {
			t.Errorf("%s at %.8s: %d, %v", tc.label, tc.head, n, err)
		}
	}
}

// document has so many failures of each verdict, with texts that mean something to GitHub.
func document(yours, open, not int) *answers.Document {
	d := &answers.Document{
		Schema: answers.Version, Conclusion: "x\n::set-output name=verdict::none", Yours: yours, Open: open, NotYours: not,
		Base: answers.Base{Commit: "3f2c1a9b0d1e"}, Head: "9ab12cd0e1f2",
	}
	for verdict, n := range map[alibi.Verdict]int{alibi.IsYours: yours, alibi.IsOpen: open, alibi.NotYours: not} {
		for i := range n {
			f := answers.Failure{Conclusion: "c\n::error::", Fingerprint: strings.Repeat("0", 32)}
			f.ID = fmt.Sprint(verdict, i)
			f.Test = "Test\n::add-mask::x\r\n::warning::" + f.ID
			f.Message = "%0A::stop-commands::x\n##[error]y"
			f.Verdict, f.Confidence = verdict, 0.99
			f.Label = map[alibi.Verdict]string{alibi.IsYours: alibi.Caused, alibi.NotYours: alibi.Flaky}[verdict]
			d.Failures = append(d.Failures, f)
		}
	}
	return d
}

func TestAccept_IG1_AnnotationsAreBoundedAndCounted(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	if err := Annotate(&b, document(12, 10, 33)); err != nil {
		t.Fatal(err)
	}
	counts := map[string]int{}
	lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
	for _, line := range lines[:len(lines)-1] {
		for _, level := range []string{"::error ", "::warning ", "::notice "} {
			if strings.HasPrefix(line, level+"title=") && strings.Count(line, "::") >= 2 {
				counts[level]++
			}
		}
	}
	if counts["::error "] != 10 || counts["::warning "] != 10 || counts["::notice "] != 10 || len(lines) != 31 {
		t.Errorf("%v in %d lines", counts, len(lines))
	}
	if want := "GitHub shows 10 annotations of a level. Without one: 2 yours, 0 open, 23 not yours."; lines[30] != want {
		t.Errorf("%q", lines[30])
	}
	b.Reset()
	if err := Annotate(&b, document(0, 1, 0)); err != nil || strings.Count(b.String(), "\n") != 1 {
		t.Errorf("%q, %v", b.String(), err)
	}
}

func TestAccept_IG1_OutputsAreOneLineEach(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		d    *answers.Document
		want string
	}{
		{document(2, 1, 3), "yours=2 open=1 not-yours=3 verdict=yours"},
		{document(0, 1, 3), "yours=0 open=1 not-yours=3 verdict=open"},
		{document(0, 0, 3), "yours=0 open=0 not-yours=3 verdict=none"},
		{document(0, 0, 0), "yours=0 open=0 not-yours=0 verdict=none"},
	} {
		var b bytes.Buffer
		if err := GitHubOutputs(&b, tc.d); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
		if len(lines) != 5 || !strings.HasPrefix(lines[0], "conclusion=") || strings.Join(lines[1:], " ") != tc.want {
			t.Errorf("%q", b.String())
		}
	}
}

package publish

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
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
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

const (
	secret = "glpat-1234567890"
	bot    = "github-actions[bot]"
	me     = "42" // of GitLab
	marker = "<!-- shadowcourt:alibi -->"
)

// at is a server with the token; waits are noted instead of waited for.
func at(t *testing.T, url string, waits *[]time.Duration) *Server {
	t.Helper()
	s := must.Get(ParseServer(url, false))(t)
	file := filepath.Join(t.TempDir(), "token")
	must.Do(t, os.WriteFile(file, []byte(secret+"\n"), 0o600))
	s.Token = must.Get(ReadToken(file))(t)
	s.wait = func(_ context.Context, d time.Duration) error {
		if waits != nil {
			*waits = append(*waits, d)
		}
		return nil
	}
	return s
}

func pull(t *testing.T, h *testkit.Host) *Notes {
	t.Helper()
	return GitHubPull(at(t, h.URL, nil), "acme/shop", 1)
}

func keep(t *testing.T, n *Notes, author, body string, quiet bool) (Kept, error) {
	t.Helper()
	return Keep(t.Context(), n, author, Note{Marker: marker, Body: body, Quiet: quiet})
}

func TestAccept_IG1_OneCommentIsPostedThenUpdated(t *testing.T) {
	t.Parallel()
	hub, lab := testkit.NewGitHub(t, bot, secret), testkit.NewGitLab(t, me, secret)
	hub.NotMine = true
	lab.Add("13", "a stranger's\n"+marker)
	for name, c := range map[string]struct {
		h      *testkit.Host
		notes  *Notes
		self   string
		writes []string
	}{
		"GitHub": {hub, pull(t, hub), bot, []string{
			"POST /repos/acme/shop/issues/1/comments", "PATCH /repos/acme/shop/issues/comments/122",
			"PATCH /repos/acme/shop/issues/comments/122", "PATCH /repos/acme/shop/issues/comments/123", "DELETE /repos/acme/shop/issues/comments/122",
		}},
		"GitLab": {lab, MergeRequest(at(t, lab.URL, nil), "7", 1), me, []string{
			"POST /api/v4/projects/7/merge_requests/1/notes", "PUT /api/v4/projects/7/merge_requests/1/notes/122",
			"PUT /api/v4/projects/7/merge_requests/1/notes/122", "PUT /api/v4/projects/7/merge_requests/1/notes/123", "DELETE /api/v4/projects/7/merge_requests/1/notes/122",
		}},
	} {
		if name == "GitHub" {
			c.h.Add("mallory", "look, a marker\n"+marker)
		}
		for range 120 { // it is found on a later page
			c.h.Add("14", "talk")
		}
		if self, err := c.notes.Self(t.Context()); err != nil || self != c.self {
			t.Fatalf("%s: %q, %v", name, self, err)
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
			if kept, err := keep(t, c.notes, c.self, step.body, step.quiet); err != nil || kept.Did != step.did || kept.Removed != 0 {
				t.Errorf("%s, %s: %+v, %v", name, step.body, kept, err)
			}
		}
		c.h.Add(c.self, "a duplicate\n\n"+marker)
		if kept, err := keep(t, c.notes, c.self, "third", false); err != nil || kept.Did != "updated" || kept.Removed != 1 {
			t.Errorf("%s: %+v, %v", name, kept, err)
		}
		got := c.h.Comments()
		if last := got[len(got)-1]; len(got) != 122 || last.Body != "third\n\n"+marker || !strings.HasSuffix(got[0].Body, "\n"+marker) {
			t.Errorf("%s: %d comments, the last %+v", name, len(got), last)
		}
		if writes := c.h.Writes(); !slices.Equal(writes, c.writes) {
			t.Errorf("%s: %q", name, writes)
		}
	}
	for i := range maxComments {
		hub.Add("mallory", strconv.Itoa(i))
	}
	check.Is(t, check.Err(keep(t, pull(t, hub), bot, "new", false)), errTooMany)
}

func TestAccept_IG1_TwoJobsThatRaceLeaveOneComment(t *testing.T) {
	t.Parallel()
	for range 5 {
		h := testkit.NewGitHub(t, "our-app[bot]", secret)
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
				if _, err := keep(t, pull(t, h), "our-app[bot]", "said", false); err != nil {
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
	h := testkit.NewGitHub(t, "our-app[bot]", secret)
	h.NotMine = true
	h.Add("our-app[bot]", "old\n\n"+marker)
	h.Add(bot, "of another app\n\n"+marker)
	h.Add("our-app[bot]", "of another job\n\n<!-- shadowcourt:windows -->")
	kept, err := keep(t, pull(t, h), "nobody", "new", false)
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
			h := testkit.NewGitHub(t, bot, secret)
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
			_, err := keep(t, GitHubPull(at(t, h.URL, &waits), "acme/shop", 1), bot, "said", false)
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

func TestAccept_IG1_HostileAnswers(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]func(w http.ResponseWriter){
		"null": func(w http.ResponseWriter) {
			fmt.Fprint(w, `[null, {"id": 5, "author": null, "user": null, "body": null}]`)
		},
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
		"html": func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, "[]")
		},
		"forbidden": func(w http.ResponseWriter) { w.WriteHeader(http.StatusForbidden) },
		"for ever": func(w http.ResponseWriter) {
			fmt.Fprint(w, "["+strings.TrimSuffix(strings.Repeat("{},", 100), ",")+"]")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			hub, lab := testkit.NewGitHub(t, bot, secret), testkit.NewGitLab(t, me, secret)
			for author, h := range map[string]*testkit.Host{bot: hub, me: lab} {
				h.Before = func(w http.ResponseWriter, r *http.Request) bool {
					if r.Method != http.MethodGet {
						return false
					}
					w.Header().Set("Content-Type", "application/json")
					answer(w)
					return true
				}
				notes := pull(t, hub)
				if h == lab {
					notes = MergeRequest(at(t, lab.URL, nil), "7", 1)
				}
				_, err := keep(t, notes, author, "said", false)
				if (err == nil) != (name == "null") || errors.Is(err, ErrForbidden) {
					t.Errorf("%v", err)
				}
				if err != nil && (len(err.Error()) > 700 || strings.ContainsRune(err.Error(), '\x1b') || strings.Contains(err.Error(), secret)) {
					t.Errorf("%d bytes: %.200q", len(err.Error()), err)
				}
			}
		})
	}
}

func TestAccept_IG1_TheNumberOfAForksPullRequest(t *testing.T) {
	t.Parallel()
	h := testkit.NewGitHub(t, bot, secret)
	h.Pulls = map[string]string{"ann:fix/#1": sha}
	s := at(t, h.URL, nil)
	for _, tc := range []struct {
		label, head string
		want        int
	}{{"ann:fix/#1", sha, 1}, {"ann:fix/#1", strings.Repeat("cd", 20), 0}, {"bob:fix", sha, 0}, {"ann:fix/#1", "", 0}} {
		check.Equal(t, must.Get(FindPull(t.Context(), s, "acme/shop", tc.label, tc.head))(t), tc.want, tc.label, "at", tc.head)
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
	must.Do(t, Annotate(&b, document(12, 10, 33)))
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
	check.Equal(t, lines[30], "GitHub shows 10 annotations of a level. Without one: 2 yours, 0 open, 23 not yours.")
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
		must.Do(t, GitHubOutputs(&b, tc.d))
		lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
		if len(lines) != 5 || !strings.HasPrefix(lines[0], "conclusion=") || strings.Join(lines[1:], " ") != tc.want {
			t.Errorf("%q", b.String())
		}
	}
}

func TestAccept_IG1_ATokenThatMayNotWriteNotes(t *testing.T) {
	t.Parallel()
	h := testkit.NewGitLab(t, me, secret)
	h.Before = func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodGet {
			return false
		}
		http.Error(w, "403 Forbidden", http.StatusForbidden)
		return true
	}
	check.Is(t, check.Err(keep(t, MergeRequest(at(t, h.URL, nil), "7", 1), me, "said", false)), ErrForbidden)
}

// quickAction is a line that GitLab may take for a command.
var quickAction = regexp.MustCompile(`(?m)^[\s\x{a0}]*/`)

func TestAccept_IG1_NothingInANoteIsACommandOfGitLab(t *testing.T) {
	t.Parallel()
	for _, hostile := range []string{
		"/close", "x\n/close\n", "\n\n/assign @root", "```\n/merge\n```", "~~~\n~~~\n```\n/close", "> \n/approve", "\r/close", "\r\n /label ~x", "\u2028/close", "\u00a0/close",
		"<details>\n/close\n</details>", "<!--\n-->\n/close", "`\n/close`", "\\\n/close", "/", "\t/close", "\v/close", "\f/close",
	} {
		d := &answers.Document{
			Schema: answers.Version, Conclusion: hostile, Yours: 1, Open: 1, Base: answers.Base{Commit: "3f2c1a9b0d1e", Name: hostile, Why: hostile}, Head: "9ab12cd0e1f2", Court: hostile,
		}
		for _, v := range []alibi.Verdict{alibi.IsYours, alibi.IsOpen} {
			var f answers.Failure
			f.ID, f.Group, f.Test, f.Message, f.Conclusion, f.Why, f.Next = string(v), hostile, hostile, hostile, hostile, hostile, hostile
			f.Verdict, f.Fingerprint, f.File, f.Owners = v, strings.Repeat("0", 32), hostile, []string{hostile}
			if v == alibi.IsYours {
				f.Label = alibi.Caused
				f.Culprit = &alibi.Culprit{
					Commit: "9ab12cd0e1f2", Title: hostile, Author: hostile, Probability: 0.9, Ribbon: []alibi.Suspicion{{Commit: "9ab12cd0e1f2", Title: hostile, Probability: 0.9}},
					Hunk: &alibi.Hunk{Path: hostile, Line: 1, Text: hostile},
				}
			}
			d.Failures = append(d.Failures, f)
		}
		text := must.Get(Markdown(d, Run{Link: "https://gitlab.example/x"}, hostile))(t)
		body := NoteBody(text)
		check.Equal(t, quickAction.FindString(body), "", hostile, "in", body)
		check.Equal(t, NoteBody(body), body, hostile, "twice is not once")
	}
}

func FuzzNoteBody(f *testing.F) {
	f.Add("a\n/close")
	f.Fuzz(func(t *testing.T, text string) {
		if body := NoteBody(text); quickAction.MatchString(body) {
			t.Errorf("%q", body)
		}
	})
}

func TestAccept_IG1_VariablesForLaterJobs(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	d := &answers.Document{Conclusion: "1 failure\nX=y", NotYours: 2, Unanswered: 1}
	must.Do(t, GitLabOutputs(&b, d))
	want := "SHADOWCOURT_CONCLUSION=1 failure␊X=y\nSHADOWCOURT_YOURS=0\nSHADOWCOURT_OPEN=0\nSHADOWCOURT_NOT_YOURS=2\nSHADOWCOURT_VERDICT=open\n"
	check.Equal(t, b.String(), want)
}

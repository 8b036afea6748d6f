package publish

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/host/alibi"
	"github.com/shadowcourt/shadowcourt/internal/answers"
	"github.com/shadowcourt/shadowcourt/internal/publish/testkit"
)

const (
	labSecret = "glpat-0123456789abcdef"
	me        = "42"
)

func openLab(t *testing.T, h *testkit.Host) *GitLab {
	t.Helper()
	s, err := ParseServer(h.URL, false)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte(labSecret), 0o600); err != nil {
		t.Fatal(err)
	}
	if s.Token, err = ReadToken(file); err != nil {
		t.Fatal(err)
	}
	return OpenGitLab(s)
}

func keepLab(t *testing.T, c *GitLab, body string, quiet bool) (Kept, error) {
	t.Helper()
	return Keep(t.Context(), c.MergeRequest("7", 1), me, Note{Marker: marker, Body: body, Quiet: quiet})
}

func TestAccept_IG1_OneNoteIsPostedThenUpdated(t *testing.T) {
	t.Parallel()
	h := testkit.NewGitLab(t, me, labSecret)
	h.Add("13", "a stranger's\n"+marker)
	for range 120 {
		h.Add("14", "talk")
	}
	c := openLab(t, h)
	if self, err := c.Self(t.Context()); err != nil || self != me {
		t.Fatalf("%q, %v", self, err)
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
		if kept, err := keepLab(t, c, step.body, step.quiet); err != nil || kept.Did != step.did || kept.Removed != 0 {
			t.Errorf("%s: %+v, %v", step.body, kept, err)
		}
	}
	h.Add(me, "a duplicate\n\n"+marker)
	if kept, err := keepLab(t, c, "third", false); err != nil || kept.Did != "updated" || kept.Removed != 1 {
		t.Errorf("%+v, %v", kept, err)
	}
	got := h.Comments()
	if last := got[len(got)-1]; len(got) != 122 || last.Body != "third\n\n"+marker || got[0].Body != "a stranger's\n"+marker {
		t.Errorf("%d notes, the last %+v", len(got), last)
	}
	if writes := h.Writes(); !slices.Equal(writes, []string{
		"POST /api/v4/projects/7/merge_requests/1/notes", "PUT /api/v4/projects/7/merge_requests/1/notes/122",
		"PUT /api/v4/projects/7/merge_requests/1/notes/122", "PUT /api/v4/projects/7/merge_requests/1/notes/123", "DELETE /api/v4/projects/7/merge_requests/1/notes/122",
	}) {
		t.Errorf("%q", writes)
	}
}

func TestAccept_IG1_HostileAnswersOfGitLab(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]func(w http.ResponseWriter){
		"null":    func(w http.ResponseWriter) { fmt.Fprint(w, `[null, {"id": 5, "author": null, "body": null}]`) },
		"no list": func(w http.ResponseWriter) { fmt.Fprint(w, `{"id": "x"}`) },
		"deep":    func(w http.ResponseWriter) { fmt.Fprint(w, strings.Repeat("[", 1<<20)) },
		"large":   func(w http.ResponseWriter) { fmt.Fprint(w, `["`+strings.Repeat("x", 9<<20)) },
		"elsewhere": func(w http.ResponseWriter) {
			w.Header().Set("Location", "http://127.0.0.1:1/")
			w.WriteHeader(http.StatusTemporaryRedirect)
		},
		"escape": func(w http.ResponseWriter) {
			w.WriteHeader(http.StatusInternalServerError)
			fmt.Fprint(w, "\x1b[31m"+strings.Repeat("y", 5000))
		},
		"many": func(w http.ResponseWriter) { fmt.Fprint(w, "["+strings.Repeat("{},", 2<<20)+"{}]") },
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
			h := testkit.NewGitLab(t, me, labSecret)
			h.Before = func(w http.ResponseWriter, r *http.Request) bool {
				if r.Method != http.MethodGet {
					return false
				}
				w.Header().Set("Content-Type", "application/json")
				answer(w)
				return true
			}
			_, err := keepLab(t, openLab(t, h), "said", false)
			if (err == nil) != (name == "null") {
				t.Errorf("%v", err)
			}
			if err != nil && (len(err.Error()) > 700 || strings.ContainsRune(err.Error(), '\x1b') || strings.Contains(err.Error(), labSecret)) {
				t.Errorf("%d bytes: %.200q", len(err.Error()), err)
			}
		})
	}
}

func TestAccept_IG1_ATokenThatMayNotWriteNotes(t *testing.T) {
	t.Parallel()
	h := testkit.NewGitLab(t, me, labSecret)
	h.Before = func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodGet {
			return false
		}
		http.Error(w, "403 Forbidden", http.StatusForbidden)
		return true
	}
	if _, err := keepLab(t, openLab(t, h), "said", false); !errors.Is(err, ErrForbidden) {
		t.Error(err)
	}
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
		text, err := Markdown(d, Run{Link: "https://gitlab.example/x"}, hostile)
		if err != nil {
			t.Fatal(err)
		}
		body := NoteBody(text)
		if found := quickAction.FindString(body); found != "" {
			t.Errorf("%q: %q in\n%s", hostile, found, body)
		}
		if NoteBody(body) != body {
			t.Errorf("%q: twice is not once", hostile)
		}
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
	if err := GitLabOutputs(&b, d); err != nil {
		t.Fatal(err)
	}
	want := "SHADOWCOURT_CONCLUSION=1 failure␊X=y\nSHADOWCOURT_YOURS=0\nSHADOWCOURT_OPEN=0\nSHADOWCOURT_NOT_YOURS=2\nSHADOWCOURT_VERDICT=open\n"
	if b.String() != want {
		t.Errorf("%q", b.String())
	}
}

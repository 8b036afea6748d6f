package web

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
)

// Windows and the buttons between them are all lines of a document, in order and each once.
func TestWindowsCoverTheDocument(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		lines := r.IntN(900)
		var b strings.Builder
		for n := 1; n <= lines; n++ {
			fmt.Fprintf(&b, "line %d\n", n)
		}
		l := newLibrary([]abi.Document{{Name: "log", Text: b.String()}})
		for range r.IntN(60) {
			n := r.IntN(lines + 3)
			l.quote(fmt.Sprintf("log:L%d", n), fmt.Sprintf("line %d", n), "l1", "a test", 0.5)
		}
		next := 1
		for _, part := range l.view(store.TrialID{Docket: 1, Ordinal: 1}, 0).Parts {
			if part.From > 0 {
				if part.From != next || part.To < part.From {
					t.Fatalf("of %d lines, %d to %d are hidden behind line %d", lines, part.From, part.To, next-1)
				}
				next = part.To + 1
				continue
			}
			for _, line := range part.Lines {
				if line.Number != next || line.Text != fmt.Sprintf("line %d", next) {
					t.Fatalf("of %d lines, %+v stands behind line %d", lines, line, next-1)
				}
				next++
			}
		}
		if next != lines+1 {
			t.Fatalf("of %d lines the last is %d", lines, next-1)
		}
	}
}

func TestPlacesOfQuotes(t *testing.T) {
	t.Parallel()
	l := newLibrary([]abi.Document{
		{Name: "log", Text: "same\nother\nsame\n  two  words \nend"},
		{Name: "a:L1", Text: "x\ny\n"},
	})
	for name, c := range map[string]struct {
		source, quote  string
		document, line int
	}{
		"the line that is named":           {"log:L3", "same", 0, 3},
		"the first of equal lines":         {"log", "same", 0, 1},
		"another line than is named":       {"log:L1", "other", 0, 2},
		"white space":                      {"log", "two words", 0, 4},
		"a line that is named, not quoted": {"log:L5", "nothing like it", 0, 5},
		"a line that is not there":         {"log:L99", "nothing like it", 0, 0},
		"no document of the name":          {"history", "same", 0, 0},
		"nothing that is quoted":           {"log", "nothing like it", 0, 0},
	} {
		if document, line := l.place(c.source, c.quote); document != c.document || line != c.line {
			t.Errorf("%s: document %d, line %d", name, document, line)
		}
	}
}

func TestDiffsAreKnown(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"diff --git a/x b/x\n": true, "From: ada\n\n--- a/x\n+++ b/x\n": true, "--- FAIL: TestA\n": false, "": false, "a\n+ b\n": false,
	} {
		if got := isDiff(&abi.Document{Name: "x", Text: text}); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

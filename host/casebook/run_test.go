package casebook_test

import (
	"fmt"
	"math"
	"path/filepath"
	"testing"

	"github.com/shadowcourt/shadowcourt/host/casebook"
)

// seen remembers a run of the suite "g" with one failure, "" for none.
func seen(t *testing.T, b *casebook.Book, text string, verdict *casebook.Verdict) {
	t.Helper()
	run := casebook.Run{Suites: []string{"g"}}
	if text != "" {
		run.Entries = []casebook.Entry{{CaseID: "c", Group: "g", Failure: failure(text), Verdict: verdict}}
	}
	if _, err := b.Remember(t.Context(), run); err != nil {
		t.Fatal(err)
	}
}

func decided(confidence float64) *casebook.Verdict {
	return &casebook.Verdict{Status: "affirmed", Classification: "x", Confidence: confidence}
}

func confirmed(label string) *casebook.Verdict {
	return &casebook.Verdict{Origin: casebook.Confirmed, Status: "confirmed", Classification: label, Confidence: 0.3}
}

func recallOf(t *testing.T, b *casebook.Book, text string) []casebook.Match {
	t.Helper()
	got, err := snapshot(t, b).Recall(t.Context(), casebook.Take(failure(text)), 10)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// The words that a run writes differ from those of the next only in figures.
func said(run int) string { return fmt.Sprintf(refused, run, 4000+run) }

// However often a machine repeats its verdict, and however sure it becomes of it, it stays as sure as it was at first.
func TestRepetitionMakesNoVerdictSurer(t *testing.T) {
	t.Parallel()
	b := open(t, filepath.Join(t.TempDir(), "book.db"))
	for run, confidence := range []float64{0.7, 0.8, 0.9} {
		seen(t, b, said(run), decided(confidence))
	}
	again := casebook.Entry{CaseID: "another", Group: "g", Failure: failure(said(8)), Verdict: decided(0.99)}
	remember(t, b, again)
	got := recallOf(t, b, said(9))
	if len(got) != 2 || got[0].Case.Verdict.Confidence != 0.7 || got[1].Case.Verdict.Confidence != 0.7 || got[0].Case.Seen != 4 {
		t.Errorf("got %+v", got)
	}
}

// What somebody knows outweighs what machines decided of the same failure, however often they did.
func TestAConfirmedVerdictOutweighsDecidedOnes(t *testing.T) {
	t.Parallel()
	b := open(t, filepath.Join(t.TempDir(), "book.db"))
	for run := range 3 {
		seen(t, b, said(run), decided(0.9))
	}
	remember(t, b, casebook.Entry{CaseID: "known", Group: "g", Failure: failure(said(3)), Verdict: confirmed("y")})
	seen(t, b, said(4), decided(0.9))
	got := recallOf(t, b, said(9))
	if len(got) != 2 || got[0].Case.ID != "known" || got[0].Case.Verdict.Origin != casebook.Confirmed || got[0].Confidence != 0.95 || got[1].Confidence != 0 {
		t.Errorf("got %+v", got)
	}
	// The case itself may be the one that somebody corrected.
	seen(t, b, said(5), confirmed("z"))
	got = recallOf(t, b, said(9))
	if len(got) != 2 || got[0].Case.Verdict.Classification != "z" && got[1].Case.Verdict.Classification != "z" || math.Abs(got[0].Confidence-0.475) > 1e-9 {
		t.Errorf("got %+v", got)
	}
}

func TestRunsTellWhatWasAway(t *testing.T) {
	t.Parallel()
	b := open(t, filepath.Join(t.TempDir(), "book.db"))
	absent := func() int {
		t.Helper()
		got := recallOf(t, b, said(99))
		if len(got) != 1 {
			t.Fatalf("got %+v", got)
		}
		return got[0].Case.Absent
	}
	expect := func(when string, want int) {
		t.Helper()
		if got := absent(); got != want {
			t.Errorf("%s: absent %d, want %d", when, got, want)
		}
	}
	seen(t, b, said(1), decided(0.9))
	expect("seen once", 0)
	if _, err := b.Remember(t.Context(), casebook.Run{Suites: []string{"another"}}); err != nil {
		t.Fatal(err)
	}
	expect("another suite was run", 0)
	seen(t, b, "", nil)
	expect("its suite was green", 1)
	seen(t, b, "order_test.go:4: something else fails in its suite", decided(0.9))
	expect("its suite failed otherwise", 2)
	seen(t, b, said(2), nil)
	expect("back, and nothing was decided", 0)
	seen(t, b, "", nil)
	expect("away again", 1)
	seen(t, b, said(3), decided(0.9))
	expect("back", 0)
}

// A run that is remembered twice in a row is one; what was in it once may come back later.
func TestTheSameRunIsOne(t *testing.T) {
	t.Parallel()
	b := open(t, filepath.Join(t.TempDir(), "book.db"))
	counts := func() [2]int {
		t.Helper()
		c := recallOf(t, b, said(1))[0].Case
		return [2]int{c.Seen, c.LastRun}
	}
	for _, step := range []struct {
		text    string
		verdict *casebook.Verdict
		want    [2]int
	}{
		{said(1), nil, [2]int{}},
		{said(1), decided(0.8), [2]int{1, 1}},
		{said(1), confirmed("x"), [2]int{1, 1}},
		{said(2), decided(0.8), [2]int{2, 2}},
		{"", nil, [2]int{2, 2}},
		{said(2), decided(0.8), [2]int{3, 4}},
	} {
		seen(t, b, step.text, step.verdict)
		if step.want[0] > 0 && counts() != step.want {
			t.Errorf("%+v: seen, last run %v", step, counts())
		}
	}
}

func TestTheDigestKnowsRuns(t *testing.T) {
	t.Parallel()
	b := open(t, filepath.Join(t.TempDir(), "book.db"))
	seen(t, b, said(1), decided(0.9))
	before := snapshot(t, b).Digest()
	seen(t, b, "", nil)
	if snapshot(t, b).Digest() == before {
		t.Error("a green run changes answers, and not the digest")
	}
}

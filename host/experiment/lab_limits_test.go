package experiment_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/experiment"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// slowClock takes half a minute between two looks at it.
func slowClock() func() time.Time {
	var looks atomic.Int64
	return func() time.Time { return time.Unix(1_700_000_000+30*looks.Add(1), 0) }
}

// TestAccept_EX7_BudgetsHoldWithinOneRun: a build and each run take half a minute by the injected clock.
func TestAccept_EX7_BudgetsHoldWithinOneRun(t *testing.T) {
	dir := checkout(t)
	subject := databaseCase()
	for _, c := range []struct {
		name            string
		budget, perCase time.Duration
		same            int
		detail          string
	}{
		{"budget", 2 * time.Minute, time.Hour, 3, "the budget of 2m is used up"},
		{"budget that ends within a run", 100 * time.Second, time.Hour, 3, "the budget of 1m40s is used up"},
		{"budget of a case, for its runs", time.Hour, time.Minute, 2, "the budget of 1m for each case is used up"},
		{"budget for the build alone", time.Second, time.Hour, 0, "the budget of 1s is used up"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var least time.Duration
			l := open(t, experiment.Config{
				Source: dir, Mode: experiment.Reruns, Budget: c.budget, PerCase: c.perCase, Now: slowClock(),
				Progress: func(p experiment.Progress) { least = p.Budget },
			})
			r, err := l.Run(t.Context(), subject, parse(t, again))
			if err != nil {
				t.Fatal(err)
			}
			if r.Same != c.same || !strings.Contains(r.Detail, c.detail) || (c.same > 0) != (r.Outcome == abi.OutcomeSame) {
				t.Errorf("got %+v", r)
			}
			if c.perCase == time.Hour && least != 0 {
				t.Errorf("%v are left", least)
			}
			r, err = l.Run(t.Context(), subject, parse(t, clean))
			if err != nil || r.Outcome != abi.OutcomeNotRun || r.Detail != c.detail {
				t.Errorf("got %+v, %v", r, err)
			}
			if !l.OutOfBudget(subject) || l.OutOfBudget(&abi.Case{Subject: "TestOld fails in example.com/shop/price"}) {
				t.Error("it does not say whose budget was used up")
			}
		})
	}
}

// TestAccept_AK12_ACaseBorrows what no other case is due.
func TestAccept_AK12_ACaseBorrows(t *testing.T) {
	dir := checkout(t)
	for cases, want := range map[int]int{1: 5, 2: 5, 3: 3, 4: 2} {
		l := open(t, experiment.Config{Source: dir, Mode: experiment.Reruns, Budget: 4 * time.Minute, PerCase: time.Minute, Cases: cases, Now: slowClock()})
		if r, err := l.Run(t.Context(), databaseCase(), parse(t, again)); err != nil || r.Same != want {
			t.Errorf("%d cases: %+v, %v", cases, r, err)
		}
	}
}

// databaseCase is a case as somebody may write it by hand.
func databaseCase() *abi.Case {
	return &abi.Case{ID: "1", Subject: "nightly", Documents: []abi.Document{{
		Name: "console", Text: "=== RUN   TestDatabase\n    environment_test.go:5: open /nonexistent/database: no such file or directory\n" +
			"--- FAIL: TestDatabase (0.50s)\nFAIL\nFAIL\texample.com/shop/cart\t0.503s\n",
	}}}
}

// TestOffersAreTheSameForTheSameCase, the cheapest first.
func TestOffersAreTheSameForTheSameCase(t *testing.T) {
	dir := checkout(t)
	want := strings.Join([]string{
		"head/head/clean/alone/4 3.2",       // second steps build nothing
		clean + " 3.8", greenTests + " 3.8", // the test is the same in both: it is head
		"base/base/original/alone/5 4", "base/base/clean/alone/6 4.8", "base/base/clean/alone/1 6.8", headTests + " 6.8", again + " 7", onlyGreen + " 7.6",
		"base/base/starved/alone/5 9", "base/base/starved/alone/2 9.6", "base/base/original/alone/13 10.4", "base/base/clean/alone/13 10.4",
		"head/head/original/alone/15 12", starved + " 12", "head/head/clean/alone/15 12", inOrder + " 13.6", "base/base/original/original/2 16.6",
		"base/base/starved/alone/13 23.4", "head/head/original/alone/30 24", "base/base/original/alone/30 24", "head/head/original/original/5 26.5", "base/base/original/original/5 26.5",
		"head/head/starved/alone/15 27", "head/head/original/alone/50 40", "base/base/original/alone/50 40", "head/head/starved/alone/30 54",
		"base/base/starved/alone/30 54", "head/head/original/original/13 68.9", "base/base/original/original/13 68.9", "head/head/original/original/30 159",
		"base/base/original/original/30 159", "head/head/original/alone/300 240", "base/base/original/alone/300 240",
	}, "\n")
	l := open(t, experiment.Config{Source: dir, Base: "green", Mode: experiment.All, Budget: time.Hour})
	for range 2 {
		offers, err := l.Offers(t.Context(), databaseCase())
		got := make([]string, len(offers))
		for i := range offers {
			got[i] = fmt.Sprint(offers[i].Experiment, " ", offers[i].Seconds)
		}
		if diff := cmp.Diff(want, strings.Join(got, "\n")); diff != "" || err != nil {
			t.Errorf("%v, offers (-want +got):\n%s", err, diff)
		}
	}
	reruns := open(t, experiment.Config{Source: dir, Base: "green", Mode: experiment.Reruns, Budget: time.Hour})
	if got, err := reruns.Offers(t.Context(), databaseCase()); len(got) != 15 || err != nil {
		t.Errorf("got %v, %v", got, err)
	}
	if l.Digest() == reruns.Digest() || !strings.HasPrefix(l.Digest(), "sha256:") {
		t.Errorf("digests %s and %s", l.Digest(), reruns.Digest())
	}
}

func TestWhyNothingIsOffered(t *testing.T) {
	dir := checkout(t)
	config := experiment.Config{Source: dir, Base: "green", Mode: experiment.All, Budget: time.Hour}
	other := func(change func(*experiment.Config)) experiment.Config {
		c := config
		change(&c)
		return c
	}
	empty := t.TempDir()
	for _, c := range []struct {
		name    string
		config  experiment.Config
		subject *abi.Case
		why     string
		offers  int
	}{
		{"all is well", config, databaseCase(), "", 34},
		{"no test", config, &abi.Case{Subject: "example.com/shop/cart does not build"}, "no failing test is named", 0},
		{"another language", config, &abi.Case{Group: "tests.test_cart", Subject: "test_total fails in tests.test_cart"}, "no test of go, and the source has tests of no other runner", 0},
		{"two tests", config, &abi.Case{Documents: []abi.Document{{Text: "--- FAIL: TestA (0.00s)\n--- FAIL: TestB (0.00s)\n"}}}, "several tests are named, such as TestA and TestB", 0},
		{"another module", config, &abi.Case{Subject: "TestA fails in example.com/other"}, `no tests of package "example.com/other" are in the source`, 0},
		{"no budget", other(func(c *experiment.Config) { c.Budget = 0 }), databaseCase(), "experiments have no budget", 0},
		{"unknown revision", other(func(c *experiment.Config) { c.Base = "v9" }), databaseCase(), `base: no such revision "v9"`, 15},
		{"no revision", other(func(c *experiment.Config) { c.Base = "" }), databaseCase(), "no base is named", 15},
		{"reruns alone", other(func(c *experiment.Config) { c.Mode = experiment.Reruns }), databaseCase(), "only reruns of this tree are allowed", 15},
		{"no repository", other(func(c *experiment.Config) { c.Source = empty }), databaseCase(), "source " + empty + ": no git repository", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := open(t, c.config)
			if why := l.Why(c.subject); !strings.Contains(why, c.why) || (c.why == "") != (why == "") {
				t.Errorf("got %q", why)
			}
			if offers, err := l.Offers(t.Context(), c.subject); len(offers) != c.offers || err != nil {
				t.Errorf("got %v, %v", offers, err)
			}
			if r, err := l.Run(t.Context(), c.subject, parse(t, headTests)); c.why != "" && (r.Outcome != abi.OutcomeNotRun || !strings.Contains(r.Detail, c.why) || err != nil) {
				t.Errorf("got %+v, %v", r, err)
			}
		})
	}
	t.Run("no go command", func(t *testing.T) {
		command := must.Get(exec.LookPath("git"))(t)
		tools := t.TempDir()
		must.Do(t, os.Symlink(command, filepath.Join(tools, "git")))
		t.Setenv("PATH", tools)
		if why := open(t, config).Why(databaseCase()); !strings.Contains(why, "go is not installed") {
			t.Errorf("got %q", why)
		}
	})
	t.Run("no temporary folder", func(t *testing.T) {
		for _, name := range []string{"TMPDIR", "XDG_CACHE_HOME", "HOME"} {
			t.Setenv(name, filepath.Join(os.DevNull, "none"))
		}
		if l := open(t, config); l.Able() || !strings.Contains(l.Why(databaseCase()), "no temporary folder") {
			t.Errorf("got %q", l.Why(databaseCase()))
		}
	})
}

// TestResultsAreShared between cases with one failure, and with later runs by the cache.
func TestResultsAreShared(t *testing.T) {
	dir, cacheDir := checkout(t), filepath.Join(t.TempDir(), "results")
	runs := 0
	config := experiment.Config{
		Source: dir, Mode: experiment.Reruns, Budget: time.Hour, CacheDir: cacheDir, Parallel: 2, Now: slowClock(),
		Progress: func(p experiment.Progress) { runs += len(p.Running) },
	}
	other := databaseCase()
	other.ID = "2"
	other.Documents[0].Text = strings.ReplaceAll(other.Documents[0].Text, "test.go:8", "test.go:9")
	ask := func(l *experiment.Lab) abi.ExperimentResult {
		answers := make(chan abi.ExperimentResult, 2)
		for _, subject := range []*abi.Case{databaseCase(), other} {
			go func() {
				r, err := l.Run(t.Context(), subject, parse(t, clean))
				if err != nil {
					t.Error(err)
				}
				answers <- r
			}()
		}
		first, second := <-answers, <-answers
		if diff := cmp.Diff(first, second); diff != "" || first.Outcome != abi.OutcomeSame {
			t.Errorf("results differ, or %+v:\n%s", first, diff)
		}
		return first
	}
	first := open(t, config)
	want := ask(first)
	if runs == 0 {
		t.Error("nothing was run")
	}
	runs = 0
	if diff := cmp.Diff(want, ask(open(t, config))); diff != "" || runs > 0 {
		t.Errorf("%d runs in spite of the cache\n%s", runs, diff)
	}
	results, err := filepath.Glob(filepath.Join(cacheDir, "*"))
	if err != nil || len(results) != 1 {
		t.Fatalf("got %v, %v", results, err)
	}
	must.Do(t, os.Truncate(results[0], 10))
	if diff := cmp.Diff(want, ask(open(t, config))); diff != "" || runs == 0 {
		t.Errorf("%d runs with a file that is cut\n%s", runs, diff)
	}
	must.Do(t, os.RemoveAll(cacheDir))
	runs = 0
	if diff := cmp.Diff(want, ask(first)); diff != "" || runs > 0 {
		t.Errorf("%d runs for a result that the Lab has\n%s", runs, diff)
	}
}

// TestWithoutOverlays: each run gets its tree as it was written, though the one before deleted it.
// What is expected falls with each run, and nothing is left at the end.
func TestProgressCountsDown(t *testing.T) {
	var expected []time.Duration
	l := open(t, experiment.Config{
		Source: checkout(t), Mode: experiment.Reruns, Budget: time.Hour, Now: slowClock(),
		Progress: func(p experiment.Progress) {
			if n := len(expected); n == 0 || expected[n-1] != p.Expected {
				expected = append(expected, p.Expected)
			}
			for _, name := range p.Running {
				if name != "TestDatabase: this tree, 5 times" {
					t.Errorf("running %q", name)
				}
			}
		},
	})
	if _, err := l.Run(t.Context(), databaseCase(), parse(t, "head/head/original/alone/5")); err != nil {
		t.Fatal(err)
	}
	if falling := slices.IsSortedFunc(expected, func(a, b time.Duration) int { return int(b - a) }); !falling || len(expected) != 6 || expected[len(expected)-1] != 0 {
		t.Errorf("expected were %v", expected)
	}
}

func TestWithoutOverlays(t *testing.T) {
	l := open(t, experiment.Config{Source: checkout(t), Mode: experiment.Reruns, Budget: time.Hour})
	l.WithoutOverlays()
	subject := &abi.Case{Subject: "TestHostile fails in example.com/shop/cart", Documents: []abi.Document{{Name: "log", Text: "    environment_test.go:16: done\n"}}}
	if r, err := l.Run(t.Context(), subject, parse(t, again)); r.Same != 5 || err != nil {
		t.Errorf("got %+v, %v", r, err)
	}
}

// TestACanceledRunLeavesNothing: the error is that of the context, and the result is not kept.
func TestACanceledRunLeavesNothing(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	dir := checkout(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	l := open(t, experiment.Config{Source: dir, Mode: experiment.Reruns, Budget: time.Hour, Progress: func(p experiment.Progress) {
		if p.Budget < time.Hour { // the build has ended
			cancel()
		}
	}})
	if r, err := l.Run(ctx, databaseCase(), parse(t, again)); !errors.Is(err, context.Canceled) {
		t.Errorf("got %+v, %v", r, err)
	}
	if r, err := l.Run(t.Context(), databaseCase(), parse(t, clean)); r.Outcome != abi.OutcomeSame || err != nil {
		t.Errorf("got %+v, %v", r, err)
	}
	if left, err := filepath.Glob(filepath.Join(os.TempDir(), "*", "run*")); err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if r, err := l.Run(t.Context(), databaseCase(), parse(t, clean)); r.Outcome != abi.OutcomeNotRun || err != nil {
		t.Errorf("got %+v, %v", r, err)
	}
	if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
}

// TestBadResultsAreIgnored: of another experiment, impossible, not run, or old.
func TestBadResultsAreIgnored(t *testing.T) {
	dir, now := t.TempDir(), time.Now()
	e := parse(t, again)
	experiment.WriteCached(dir, "good", &abi.ExperimentResult{Experiment: e, Outcome: abi.OutcomeMixed, Passed: 1, Same: 1})
	experiment.WriteCached(dir, "another", &abi.ExperimentResult{Experiment: parse(t, starved), Outcome: abi.OutcomePassed, Passed: 5})
	experiment.WriteCached(dir, "too many", &abi.ExperimentResult{Experiment: e, Outcome: abi.OutcomePassed, Passed: 6})
	experiment.WriteCached(dir, "not run", &abi.ExperimentResult{Experiment: e, Outcome: abi.OutcomeNotRun})
	for _, name := range []string{"another", "too many", "not run", "none"} {
		if experiment.ReadCached(dir, name, e, now) {
			t.Errorf("%s: it was read", name)
		}
	}
	if !experiment.ReadCached(dir, "good", e, now) || experiment.ReadCached(dir, "good", e, now.Add(experiment.MaxResultAge+time.Hour)) {
		t.Error("a good result counts for a day")
	}
}

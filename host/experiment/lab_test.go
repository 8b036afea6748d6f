package experiment_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket/gotest"
	"github.com/shadowcourt/shadowcourt/host/experiment"
)

// The module in its green revision, and what the tree under test changes.
var (
	green = map[string]string{
		"go.mod": "module example.com/shop\n\ngo 1.26\n",
		"cart/cart.go": `package cart

func Total(prices ...int) (sum int) { for _, p := range prices { sum += p }; return sum }
func Greeting() string { return "Hello" }
func Count(items []string) int { return len(items) - 1 }
`,
		"cart/cart_test.go": testHeader + `
func TestTotal(t *testing.T) { t.Run("two", func(t *testing.T) { if got := Total(1, 2); got != 3 { t.Errorf("Total is %d, want 3", got) } }) }
func TestGreeting(t *testing.T) { if got := Greeting(); got != "Hello" { t.Errorf("greeted with %q, want Hello", got) } }
func TestEmpty(t *testing.T) { if got := Total(); got != 0 { t.Errorf("empty: %d", got) } }
`,
		"cart/environment_test.go": `package cart

import ("fmt"; "math/rand/v2"; "os"; "testing")

func TestDatabase(t *testing.T) { if _, err := os.ReadFile("/nonexistent/database"); err != nil { t.Fatal(err) } }
func TestWeather(t *testing.T) {
	for i := range 10 { t.Run(fmt.Sprint(i), func(t *testing.T) { if rand.IntN(2) == 0 { t.Error("it rains") } }) }
}
func TestZone(t *testing.T) { if zone := os.Getenv("TZ"); zone != "UTC" { t.Errorf("unexpected time zone %s", zone) } }
var used bool
func TestAUse(t *testing.T) { used = true }
func TestOrder(t *testing.T) { if used { t.Error("somebody was here before") } }
func TestHostile(t *testing.T) {
	if _, err := os.Stat("testdata/fixture"); err != nil { t.Fatalf("the fixture is gone: %v", err) }
	_, _ = os.RemoveAll("."), os.RemoveAll("testdata")
	t.Error("done")
}
`,
		"cart/testdata/fixture": "fixture\n",
		"price/price.go":        "package price\n\nfunc Old() int { return 1 }\n",
		"price/price_test.go": "package price\n\nimport \"testing\"\n\nfunc TestOld(t *testing.T) { Old() }\n" +
			"func TestPrice(t *testing.T) { if got := Old(); got != 1 { t.Errorf(\"got %d, want 1\", got) } }\n",
	}
	head = map[string]string{
		"cart/cart.go": `package cart

// Total adds prices.
func Total(prices ...int) (sum int) { for _, p := range prices[:min(1, len(prices))] { sum += p }; return sum }
func Greeting() string { return "Good day" }
func Count(items []string) int { return len(items) - 1 }
`,
		"cart/cart_test.go": testHeader + `
// The lines of this file move.
func TestTotal(t *testing.T) { t.Run("two", func(t *testing.T) { if got := Total(1, 2); got != 3 { t.Errorf("Total is %d, want 3", got) } }) }
func TestGreeting(t *testing.T) { if got := Greeting(); got != "Hello" { t.Errorf("greeted with %q, want Hello", got) } }
func TestEmpty(t *testing.T) { if got := Total(); got != 1 { t.Errorf("empty: %d", got) } }
func TestCount(t *testing.T) { if got := Count(nil); got != 0 { t.Errorf("counted %d, want 0", got) } }
`,
		".gitignore":       "generated.go\n",
		"gen/generated.go": "package gen\n\nfunc F() {}\n",
		"gen/gen_test.go":  "package gen\n\nimport \"testing\"\n\nfunc TestGenerated(t *testing.T) { F(); t.Error(\"no\") }\n",
		"price/price.go":   "package price\n\nfunc Old() int { return 1 }\n\nfunc New() int { return 1 }\n",
		"price/price_test.go": "package price\n\nimport \"testing\"\n\nfunc TestNew(t *testing.T) { if got := New(); got != 2 { t.Errorf(\"got %d, want 2\", got) } }\n" +
			"func TestPrice(t *testing.T) { if got := Old(); got != 3 { t.Errorf(\"got %d, want 3\", got) } }\n",
	}
)

const testHeader = "package cart\n\nimport (\"os\"; \"testing\")\n\nvar _ = os.Args\n"

// checkout is a repository with the green revision as a tag, and the head in its working tree, not committed.
func checkout(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	git(t, dir, "init", "-q", "-b", "main")
	write(t, dir, green)
	git(t, dir, "add", ".")
	git(t, dir, "commit", "-qm", "green")
	git(t, dir, "tag", "green")
	write(t, dir, head)
	return dir
}

func git(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com",
		"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// docket has the cases that `go test -json` gives, by the names of their tests.
func docket(t *testing.T, dir string) map[string]*abi.Case {
	t.Helper()
	copied := filepath.Join(t.TempDir(), "copy") // a test deletes its folder
	if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "go", "test", "-vet=off", "-json", "./...")
	cmd.Dir = copied
	out, _ := cmd.Output() // tests fail
	cases := map[string]*abi.Case{}
	for entry, err := range (&gotest.Reader{}).Read("run", bytes.NewReader(out)) {
		if err != nil {
			t.Fatal(err)
		}
		name, _, _ := strings.Cut(entry.Case.Subject, " ")
		cases[name] = &entry.Case
	}
	return cases
}

func open(t *testing.T, c experiment.Config) *experiment.Lab {
	t.Helper()
	c.Flags = []string{"-ldflags=-s"} // links faster
	l, err := experiment.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

func parse(t *testing.T, name string) abi.Experiment {
	t.Helper()
	part := strings.Split(name, "/")
	runs, err := strconv.Atoi(part[4])
	if err != nil {
		t.Fatal(err)
	}
	return abi.Experiment{
		Product: abi.TreeRevision(part[0]), Tests: abi.TreeRevision(part[1]), Environment: abi.RunEnvironment(part[2]), Order: abi.RunOrder(part[3]), Runs: runs,
	}
}

const (
	again      = "head/head/original/alone/5"
	starved    = "head/head/starved/alone/5"
	clean      = "head/head/clean/alone/1"
	inOrder    = "head/head/original/original/2"
	onlyGreen  = "green/green/original/alone/2"
	greenTests = "head/green/original/alone/1"
	headTests  = "green/head/original/alone/1"
)

// TestAccept_EX2_OutcomesOnARealModule: each kind of fault has its own outcomes, and the checkout stays as it is.
func TestAccept_EX2_OutcomesOnARealModule(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	t.Setenv("TZ", "Asia/Tokyo")
	dir := checkout(t)
	cases, before := docket(t, dir), snapshot(t, dir)
	l := open(t, experiment.Config{Source: filepath.Join(dir, "cart"), Green: "green", Mode: experiment.All, Budget: time.Hour})
	type outcomes map[string]abi.ExperimentOutcome
	for _, c := range []struct {
		fault, test string
		change      abi.TestChange
		want        outcomes
	}{
		{"broken environment", "TestDatabase", abi.TestUnchanged, outcomes{again: abi.OutcomeSame, onlyGreen: abi.OutcomeSame, greenTests: abi.OutcomeSame, headTests: abi.OutcomeSame}},
		{"variable", "TestZone", abi.TestUnchanged, outcomes{onlyGreen: abi.OutcomeSame, clean: abi.OutcomePassed}},
		{"order", "TestOrder", abi.TestUnchanged, outcomes{again: abi.OutcomePassed, inOrder: abi.OutcomeSame}},
		{"regression", "TestTotal/two", abi.TestUnchanged, outcomes{again: abi.OutcomeSame, clean: abi.OutcomeSame, onlyGreen: abi.OutcomePassed, greenTests: abi.OutcomeSame, headTests: abi.OutcomePassed}},
		{"broken test", "TestEmpty", abi.TestChanged, outcomes{onlyGreen: abi.OutcomePassed, greenTests: abi.OutcomePassed, headTests: abi.OutcomeSame}},
		{"stale test", "TestGreeting", abi.TestUnchanged, outcomes{onlyGreen: abi.OutcomePassed, greenTests: abi.OutcomeSame, headTests: abi.OutcomePassed}},
		{"new test", "TestCount", abi.TestNew, outcomes{onlyGreen: abi.OutcomeNoTest, greenTests: abi.OutcomeNoTest, headTests: abi.OutcomeSame}},
		{"broken test beside one that does not build", "TestPrice", abi.TestChanged, outcomes{onlyGreen: abi.OutcomePassed, greenTests: abi.OutcomePassed, headTests: abi.OutcomeSame}},
		{"new test of a new function", "TestNew", abi.TestNew, outcomes{onlyGreen: abi.OutcomeNoTest, headTests: abi.OutcomeNotBuilt}},
		{"a file that git ignores", "TestGenerated", abi.TestNew, outcomes{again: abi.OutcomeNotRun, headTests: abi.OutcomeNotBuilt}},
		{"a test that deletes its folder", "TestHostile", abi.TestUnchanged, outcomes{again: abi.OutcomeSame}},
	} {
		t.Run(c.fault, func(t *testing.T) {
			subject := cases[c.test]
			if subject == nil {
				t.Fatal("the test did not fail")
			}
			if why := l.Why(subject); why != "" {
				t.Error(why)
			}
			got := outcomes{}
			for name := range c.want {
				r, err := l.Run(t.Context(), subject, parse(t, name))
				if err != nil {
					t.Fatal(err)
				}
				if r.Test != c.change && r.Outcome != abi.OutcomeNotRun {
					t.Errorf("%s: the test is %s, want %s", name, r.Test, c.change)
				}
				if got[name] = r.Outcome; r.Outcome == abi.OutcomeOther || r.Outcome == abi.OutcomeNotRun {
					t.Logf("%s: %s", name, r.Detail)
				}
				if r.Outcome == abi.OutcomeNotRun && !strings.Contains(r.Detail, "files that git ignores are not in it") {
					t.Errorf("got the detail %q", r.Detail)
				}
				if r.Outcome == abi.OutcomeNotBuilt && !strings.Contains(r.Detail, "undefined: ") {
					t.Errorf("got the detail %q", r.Detail)
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("outcomes (-want +got):\n%s\n%s", diff, subject.Documents[0].Text)
			}
		})
	}
	t.Run("flaky", func(t *testing.T) {
		for _, name := range []string{again, starved} {
			var outcome abi.ExperimentOutcome
			for i := 0; i < 10 && outcome != abi.OutcomeMixed; i++ { // one time in 16 all runs agree by chance
				test := fmt.Sprintf("TestWeather/%d", i)
				r, err := l.Run(t.Context(), &abi.Case{
					Subject: test + " fails in example.com/shop/cart", Documents: []abi.Document{{Name: "log", Text: "    environment_test.go:9: it rains\n"}},
				}, parse(t, name))
				if err != nil || r.Other > 0 {
					t.Fatalf("got %+v, %v", r, err)
				}
				outcome = r.Outcome
			}
			if outcome != abi.OutcomeMixed {
				t.Errorf("%s: got %s", name, outcome)
			}
		}
	})
	if diff := cmp.Diff(before, snapshot(t, dir)); diff != "" {
		t.Errorf("the checkout changed:\n%s", diff)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
}

// snapshot has the contents and times of all files.
// TestAFailureThatDoesNotComeBackTellsNothing: where each run fails in one other way, it is the runs that lack something.
func TestAFailureThatDoesNotComeBackTellsNothing(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	dir := checkout(t)
	cases := docket(t, dir)
	l := open(t, experiment.Config{Source: filepath.Join(dir, "cart"), Green: "green", Mode: experiment.All, Budget: time.Hour})
	subject := *cases["TestGreeting"]
	subject.Documents = slices.Clone(subject.Documents)
	for i := range subject.Documents {
		subject.Documents[i].Text = strings.ReplaceAll(subject.Documents[i].Text, "greeted with", "the till is empty, not")
	}
	r, err := l.Run(t.Context(), &subject, parse(t, again))
	if err != nil || r.Outcome != abi.OutcomeNotRun || r.Other != 5 || !strings.Contains(r.Detail, "does not come back") || !strings.Contains(r.Detail, "greeted with") {
		t.Errorf("%+v, %v", r, err)
	}
	if r, err = l.Run(t.Context(), &subject, parse(t, greenTests)); err != nil || r.Outcome != abi.OutcomeOther {
		t.Errorf("one run of another tree: %+v, %v", r, err)
	}
}

func snapshot(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(name)
		info, _ := entry.Info()
		files[name] = info.ModTime().String() + string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

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
		{"budget of a case", time.Hour, time.Minute, 1, "the budget of 1m for each case is used up"},
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

// databaseCase is a case as somebody may write it by hand.
func databaseCase() *abi.Case {
	return &abi.Case{ID: "1", Subject: "nightly", Documents: []abi.Document{{
		Name: "console", Text: "=== RUN   TestDatabase\n    environment_test.go:8: open /nonexistent/database: no such file or directory\n" +
			"--- FAIL: TestDatabase (0.50s)\nFAIL\nFAIL\texample.com/shop/cart\t0.503s\n",
	}}}
}

// TestOffersAreTheSameForTheSameCase, the cheapest first.
func TestOffersAreTheSameForTheSameCase(t *testing.T) {
	dir := checkout(t)
	want := []abi.ExperimentOffer{
		{Experiment: parse(t, clean), Seconds: 3.8},
		{Experiment: parse(t, greenTests), Seconds: 3.8}, // the test is the same in both: it is head
		{Experiment: parse(t, headTests), Seconds: 6.8},
		{Experiment: parse(t, again), Seconds: 7},
		{Experiment: parse(t, onlyGreen), Seconds: 7.6},
		{Experiment: parse(t, starved), Seconds: 12},
		{Experiment: parse(t, inOrder), Seconds: 13.6},
	}
	l := open(t, experiment.Config{Source: dir, Green: "green", Mode: experiment.All, Budget: time.Hour})
	for range 2 {
		got, err := l.Offers(t.Context(), databaseCase())
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%v, offers (-want +got):\n%s", err, diff)
		}
	}
	reruns := open(t, experiment.Config{Source: dir, Green: "green", Mode: experiment.Reruns, Budget: time.Hour})
	if got, err := reruns.Offers(t.Context(), databaseCase()); len(got) != 4 || err != nil {
		t.Errorf("got %v, %v", got, err)
	}
	if l.Digest() == reruns.Digest() || !strings.HasPrefix(l.Digest(), "sha256:") {
		t.Errorf("digests %s and %s", l.Digest(), reruns.Digest())
	}
}

func TestWhyNothingIsOffered(t *testing.T) {
	dir := checkout(t)
	config := experiment.Config{Source: dir, Green: "green", Mode: experiment.All, Budget: time.Hour}
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
		{"all is well", config, databaseCase(), "", 7},
		{"no test", config, &abi.Case{Subject: "example.com/shop/cart does not build"}, "no failing test is named", 0},
		{"another language", config, &abi.Case{Group: "tests.test_cart", Subject: "test_total fails in tests.test_cart"}, "no test of go, and the source has tests of no other runner", 0},
		{"two tests", config, &abi.Case{Documents: []abi.Document{{Text: "--- FAIL: TestA (0.00s)\n--- FAIL: TestB (0.00s)\n"}}}, "several tests are named, such as TestA and TestB", 0},
		{"another module", config, &abi.Case{Subject: "TestA fails in example.com/other"}, `no tests of package "example.com/other" are in the source`, 0},
		{"no budget", other(func(c *experiment.Config) { c.Budget = 0 }), databaseCase(), "experiments have no budget", 0},
		{"unknown revision", other(func(c *experiment.Config) { c.Green = "v9" }), databaseCase(), `green: no such revision "v9"`, 4},
		{"no revision", other(func(c *experiment.Config) { c.Green = "" }), databaseCase(), "no green revision is named", 4},
		{"reruns alone", other(func(c *experiment.Config) { c.Mode = experiment.Reruns }), databaseCase(), "only reruns of this tree are allowed", 4},
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
		command, err := exec.LookPath("git")
		if err != nil {
			t.Fatal(err)
		}
		tools := t.TempDir()
		if err := os.Symlink(command, filepath.Join(tools, "git")); err != nil {
			t.Fatal(err)
		}
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
	if err := os.Truncate(results[0], 10); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, ask(open(t, config))); diff != "" || runs == 0 {
		t.Errorf("%d runs with a file that is cut\n%s", runs, diff)
	}
	if err := os.RemoveAll(cacheDir); err != nil {
		t.Fatal(err)
	}
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
	if falling := slices.IsSortedFunc(expected, func(a, b time.Duration) int { return int(b - a) }); !falling || len(expected) != 5 || expected[len(expected)-1] != 0 {
		t.Errorf("expected were %v", expected)
	}
}

func TestWithoutOverlays(t *testing.T) {
	l := open(t, experiment.Config{Source: checkout(t), Mode: experiment.Reruns, Budget: time.Hour})
	l.WithoutOverlays()
	subject := &abi.Case{Subject: "TestHostile fails in example.com/shop/cart", Documents: []abi.Document{{Name: "log", Text: "    environment_test.go:19: done\n"}}}
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

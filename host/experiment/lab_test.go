package experiment_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket/gotest"
	"github.com/shadowcourt/shadowcourt/host/experiment"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
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
	must.Git(t, dir, "init", "-q", "-b", "main")
	must.Write(t, dir, green)
	must.Git(t, dir, "add", ".")
	must.Git(t, dir, "commit", "-qm", "green")
	must.Git(t, dir, "tag", "green")
	must.Write(t, dir, head)
	return dir
}

// docket has the cases that `go test -json` gives, by the names of their tests.
func docket(t *testing.T, dir string) map[string]*abi.Case {
	t.Helper()
	copied := filepath.Join(t.TempDir(), "copy") // a test deletes its folder
	must.Do(t, os.CopyFS(copied, os.DirFS(dir)))
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
	c.Flags, c.Apart = []string{"-ldflags=-s"}, -1 // links faster, and no test here draws by the time
	l := must.Get(experiment.Open(t.Context(), c))(t)
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
	runs := must.Get(strconv.Atoi(part[4]))(t)
	return abi.Experiment{
		Product: abi.TreeRevision(part[0]), Tests: abi.TreeRevision(part[1]), Environment: abi.RunEnvironment(part[2]), Order: abi.RunOrder(part[3]), Runs: runs,
	}
}

const (
	again      = "head/head/original/alone/5"
	starved    = "head/head/starved/alone/5"
	clean      = "head/head/clean/alone/1"
	inOrder    = "head/head/original/original/2"
	onlyGreen  = "base/base/original/alone/2"
	greenTests = "head/base/original/alone/1"
	headTests  = "base/head/original/alone/1"
)

// TestAccept_EX2_OutcomesOnARealModule: each kind of fault has its own outcomes, and the checkout stays as it is.
func TestAccept_EX2_OutcomesOnARealModule(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	t.Setenv("TZ", "Asia/Tokyo")
	dir := checkout(t)
	cases, before := docket(t, dir), snapshot(t, dir)
	l := open(t, experiment.Config{Source: filepath.Join(dir, "cart"), Base: "green", Mode: experiment.All, Budget: time.Hour})
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
				r := must.Get(l.Run(t.Context(), subject, parse(t, name)))(t)
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
					Subject: test + " fails in example.com/shop/cart", Documents: []abi.Document{{Name: "log", Text: "    environment_test.go:7: it rains\n"}},
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
	l := open(t, experiment.Config{Source: filepath.Join(dir, "cart"), Base: "green", Mode: experiment.All, Budget: time.Hour})
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
	must.Do(t, filepath.WalkDir(dir, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(name)
		info, _ := entry.Info()
		files[name] = info.ModTime().String() + string(text)
		return err
	}))
	return files
}

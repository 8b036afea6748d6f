package experiment_test

import (
	"bytes"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/experiment"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// TestSample: every run of a cell is told by itself, and none ends the others early.
func TestSample(t *testing.T) {
	t.Parallel()
	dir := checkout(t)
	lab := open(t, experiment.Config{Source: filepath.Join(dir, "cart"), Base: "green", Mode: experiment.All, Budget: time.Hour})
	cases := docket(t, dir)
	sample := func(test string, product, tests abi.TreeRevision, runs int) experiment.Sample {
		t.Helper()
		return must.Get(lab.Sample(t.Context(), cases[test], abi.Experiment{Product: product, Tests: tests, Environment: abi.OriginalEnvironment, Order: abi.Alone, Runs: runs}))(t)
	}
	all := func(s experiment.Sample, n int, is abi.ExperimentOutcome) bool {
		return len(s.Runs) == n && !slices.ContainsFunc(s.Runs, func(o experiment.Observation) bool { return o.Outcome != is || o.Wall <= 0 })
	}
	if s := sample("TestTotal/two", abi.Head, abi.Head, 3); !all(s, 3, abi.OutcomeSame) || s.Runs[0].Look == "" || s.Runs[0].Look != s.Runs[2].Look || s.Loaded != abi.Certified {
		t.Errorf("head: %+v", s)
	}
	if s := sample("TestTotal/two", abi.Base, abi.Base, 4); !all(s, 4, abi.OutcomePassed) || s.Runs[0].Look != "" {
		t.Errorf("base: %+v", s)
	}
	if s := sample("TestCount", abi.Base, abi.Base, 2); s.Outcome != abi.OutcomeNoTest || len(s.Runs) > 0 {
		t.Errorf("a test that base does not have: %+v", s)
	}
	rain := slices.IndexFunc(slices.Sorted(maps.Keys(cases)), func(name string) bool { return strings.HasPrefix(name, "TestWeather/") })
	if rain < 0 {
		t.Skip("by chance, once in 1,024 times, no row of TestWeather failed")
	}
	flaky, passed, failed := sample(slices.Sorted(maps.Keys(cases))[rain], abi.Head, abi.Head, 30), 0, 0
	for _, o := range flaky.Runs {
		switch o.Outcome { //nolint:exhaustive // all others are wrong
		case abi.OutcomePassed:
			passed++
		case abi.OutcomeSame:
			failed++
		}
	}
	if passed == 0 || failed == 0 || passed+failed != 30 { // by chance once in 2^29
		t.Errorf("a flaky test: %d passed, %d failed", passed, failed)
	}
}

// TestRunsAreSpread: two runs begin in two seconds of the clock, and more of them take two seconds.
func TestRunsAreSpread(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 3, 4, 5, int(900*time.Millisecond), time.UTC)
	for runs, want := range map[int]time.Duration{1: 100 * time.Millisecond, 2: 100 * time.Millisecond, 3: 100 * time.Millisecond, 5: 500 * time.Millisecond, 81: 25 * time.Millisecond} {
		if got := experiment.NextRun(at, experiment.DefaultApart, runs).Sub(at); got != want {
			t.Errorf("of %d runs the next begins after %v, want %v", runs, got, want)
		}
	}
}

// TestStepsAddUp: all runs of a flaky test are made, and the second step of a cell builds nothing.
func TestStepsAddUp(t *testing.T) {
	command := must.Get(exec.LookPath("go"))(t)
	tools, calls := t.TempDir(), filepath.Join(t.TempDir(), "calls")
	script := "#!/bin/sh\necho \"$@\" >> '" + calls + "'\nexec '" + command + "' \"$@\"\n"
	must.Do(t, os.WriteFile(filepath.Join(tools, "go"), []byte(script), 0o755))
	t.Setenv("PATH", tools+":"+os.Getenv("PATH"))
	l := open(t, experiment.Config{Source: checkout(t), Mode: experiment.Reruns, Budget: time.Hour})
	subject := &abi.Case{
		Subject: "TestWeather/1 fails in example.com/shop/cart", Documents: []abi.Document{{Name: "log", Text: "    environment_test.go:7: it rains\n"}},
	}
	builds := func() int {
		text := must.Get(os.ReadFile(calls))(t)
		return bytes.Count(text, []byte("test -c"))
	}
	for _, name := range []string{again, "head/head/original/alone/15"} {
		r, err := l.Run(t.Context(), subject, parse(t, name))
		if err != nil || r.Made() != r.Experiment.Runs || r.Other > 0 {
			t.Errorf("got %+v, %v", r, err)
		}
		if name != again && r.Outcome != abi.OutcomeMixed { // one time in 16,000 all 15 runs agree by chance
			t.Errorf("got %+v", r)
		}
	}
	if n := builds(); n != 1 {
		t.Errorf("%d builds", n)
	}
}

const (
	onlyTarget = "target/target/original/alone/2"
	merged     = "merge/merge/original/alone/2"
)

// bothChange is a checkout in which head and the target change what one test checks, each in a file of its own; head is not committed.
func bothChange(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	must.Git(t, dir, "init", "-q", "-b", "main")
	must.Write(t, dir, map[string]string{
		"go.mod":        "module example.com/m\n\ngo 1.26\n",
		"rate.go":       "package m\n\nfunc Rate() int { return 1 }\n",
		"total.go":      "package m\n\nfunc Total() int { return Rate() }\n",
		"total_test.go": "package m\n\nimport \"testing\"\n\nfunc TestTotal(t *testing.T) { if got := Total(); got > 2 { t.Errorf(\"%d is too much\", got) } }\n",
	})
	must.Git(t, dir, "add", ".")
	must.Git(t, dir, "commit", "-qm", "green")
	must.Git(t, dir, "tag", "green")
	must.Git(t, dir, "checkout", "-q", "-b", "target")
	must.Write(t, dir, map[string]string{"rate.go": "package m\n\nfunc Rate() int { return 2 }\n"})
	must.Git(t, dir, "commit", "-qam", "of the target")
	must.Git(t, dir, "checkout", "-q", "main")
	must.Write(t, dir, map[string]string{"total.go": "package m\n\nfunc Total() int { return 2 * Rate() }\n"})
	return dir
}

// totalCase is the failure of the merge, as a pull request's CI reports it.
func totalCase() *abi.Case {
	return &abi.Case{Subject: "TestTotal fails in example.com/m", Documents: []abi.Document{{Name: "log", Text: "    total_test.go:5: 4 is too much\n"}}}
}

// outcomesOf runs experiments of a case, and gives their outcomes.
func outcomesOf(t *testing.T, l *experiment.Lab, subject *abi.Case, names ...string) map[string]abi.ExperimentOutcome {
	t.Helper()
	got := map[string]abi.ExperimentOutcome{}
	for _, name := range names {
		r := must.Get(l.Run(t.Context(), subject, parse(t, name)))(t)
		if got[name] = r.Outcome; r.Detail != "" {
			t.Logf("%s: %s", name, r.Detail)
		}
	}
	return got
}

// TestAccept_AL2_OnlyTheMergeFails: base, head and target pass apart.
func TestAccept_AL2_OnlyTheMergeFails(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	dir := bothChange(t)
	before := snapshot(t, dir)
	config := experiment.Config{Source: dir, Base: "green", Target: "target", Mode: experiment.All, Budget: time.Hour}
	l := open(t, config)
	if why := l.Why(totalCase()); why != "" {
		t.Error(why)
	}
	want := map[string]abi.ExperimentOutcome{again: abi.OutcomePassed, onlyGreen: abi.OutcomePassed, onlyTarget: abi.OutcomePassed, merged: abi.OutcomeSame}
	if diff := cmp.Diff(want, outcomesOf(t, l, totalCase(), again, onlyGreen, onlyTarget, merged)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	offered := map[string]bool{}
	offers := must.Get(l.Offers(t.Context(), totalCase()))(t)
	for _, o := range offers {
		offered[o.Experiment.String()] = true
	}
	if !offered[onlyTarget] || !offered[merged] {
		t.Errorf("offered are %v", offered)
	}
	config.Target = "green"
	if other := open(t, config); other.Digest() == l.Digest() {
		t.Error("another target has the same digest")
	}
	if diff := cmp.Diff(before, snapshot(t, dir)); diff != "" {
		t.Errorf("the checkout changed:\n%s", diff)
	}
}

// TestWithoutAMerge: what can't be merged is not offered, and everything else is.
func TestWithoutAMerge(t *testing.T) {
	dir := bothChange(t)
	for _, c := range []struct {
		name, target, rate, why string
		offered                 map[string]bool
	}{
		{"conflict", "target", "package m\n\nfunc Rate() int { return 3 }\n", "head can't be merged into the target: they conflict in rate.go", map[string]bool{again: true, onlyGreen: true, onlyTarget: true}},
		{"unknown", "nosuch", "", `target: no such revision "nosuch"; the repository has green, main, target`, map[string]bool{again: true, onlyGreen: true}},
		{"none", "", "", "", map[string]bool{again: true, onlyGreen: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.rate != "" {
				must.Write(t, dir, map[string]string{"rate.go": c.rate})
			}
			l := open(t, experiment.Config{Source: filepath.Join(dir, "."), Base: "green", Target: c.target, Mode: experiment.All, Budget: time.Hour})
			if why := l.Why(totalCase()); why != c.why {
				t.Errorf("got %q", why)
			}
			got := map[string]bool{}
			offers, err := l.Offers(t.Context(), totalCase())
			for _, o := range offers {
				if name := o.Experiment.String(); name == again || name == onlyGreen || name == onlyTarget || name == merged {
					got[name] = true
				}
			}
			if diff := cmp.Diff(c.offered, got); diff != "" || err != nil {
				t.Errorf("offers (-want +got):\n%s\n%v", diff, err)
			}
			r, err := l.Run(t.Context(), totalCase(), parse(t, merged))
			if err != nil || r.Outcome != abi.OutcomeNotRun || !strings.Contains(r.Detail, c.why) || r.Detail == "" {
				t.Errorf("got %+v, %v", r, err)
			}
		})
	}
}

// TestTreesOutOfThePlaceOfTheCheckout: where a run can't see its tree there, as with temporary files in the checkout, what is installed
// may lead to the product of the checkout. Then a runner that needs such files runs the tree under test alone.
func TestTreesOutOfThePlaceOfTheCheckout(t *testing.T) {
	const definition = `name: check
markers: [{file: product}]
programs: [check.sh]
tests: [{alone: ["{name}", "{report}"], order: [all, "{report}"]}]
`
	dir, tools := t.TempDir(), t.TempDir()
	must.Git(t, dir, "init", "-q", "-b", "main")
	must.Write(t, dir, map[string]string{"product": "good", ".gitignore": "temporary\n"})
	must.Write(t, tools, map[string]string{
		"check.sh": "#!/bin/sh\ngrep -q good product && f= || f='<failure>got bad</failure>'\n" +
			"echo \"<testsuite name='s'><testcase classname='s' name='$1'>$f</testcase></testsuite>\" >$2\n",
	})
	must.Do(t, os.Chmod(filepath.Join(tools, "check.sh"), 0o755))
	must.Git(t, dir, "add", ".")
	must.Git(t, dir, "commit", "-qm", "green")
	must.Git(t, dir, "tag", "green")
	must.Write(t, dir, map[string]string{"product": "bad", "temporary/x": ""})
	t.Setenv("PATH", tools+string(filepath.ListSeparator)+os.Getenv("PATH"))
	t.Setenv("TMPDIR", filepath.Join(dir, "temporary"))
	subject := &abi.Case{Subject: "total fails in s", Group: "s", Documents: []abi.Document{{Name: "failure", Text: "got bad\n"}}}
	// The tests did not change: the product of the head with green tests is the tree under test.
	for keep, offers := range map[string]int{"": 34, "keep: [modules]\n": 16} {
		d := must.Get(experiment.ParseDefinition("check.yaml", []byte(definition+keep)))(t)
		l := open(t, experiment.Config{Source: dir, Base: "green", Mode: experiment.All, Budget: time.Hour, Runners: []*experiment.Definition{d}})
		if got, err := l.Offers(t.Context(), subject); len(got) != offers || err != nil {
			t.Errorf("%q: %v, %v, %s", keep, got, err, l.Why(subject))
		}
		slow := *subject
		slow.Documents = append(slices.Clip(subject.Documents), abi.Document{Name: "testcase", Text: "time=40.0\n"})
		if got, err := l.Offers(t.Context(), &slow); len(got) == 0 || len(got) >= offers || got[0].Seconds < 40 || err != nil {
			t.Errorf("of a test of 40 seconds: %v, %v", got, err)
		}
		if r, err := l.Run(t.Context(), subject, parse(t, clean)); r.Outcome != abi.OutcomeSame || err != nil {
			t.Errorf("%q: %+v, %v", keep, r, err)
		}
		want, why := abi.OutcomePassed, ""
		if keep != "" {
			want, why = abi.OutcomeNotRun, "check runs other trees than that under test only in the place of the checkout"
		}
		if r, err := l.Run(t.Context(), subject, parse(t, onlyGreen)); r.Outcome != want || !strings.Contains(r.Detail, why) || !strings.Contains(l.Why(subject), why) || err != nil {
			t.Errorf("%q: %+v, %v, %s", keep, r, err, l.Why(subject))
		}
	}
}

// rowsRunner is a runner of test_*.py files, of which it knows rows as lines "row NAME pass". Like pytest, it runs one row by its name, or
// all of a function.
const rowsRunner = `#!/bin/sh
file=${2%%::*} function=${2##*::}
row=${function#*[}
case $function in *[*) row=[$row function=${function%%[*};; *) row=;; esac
echo "<testsuite>" >$1
grep "# $function" $file | while read -r sign name result; do
  if [ -z "$row" ] || [ "$name" = "$function$row" ]; then
    body=; [ $result = pass ] || body="<failure>E       assert $name</failure>"
    echo "<testcase classname='test_rows' name='$name'>$body</testcase>" >>$1
  fi
done
echo "</testsuite>" >>$1
`

const rowsDefinition = `name: rows
markers: [{file: rows.ini}]
programs: [./rows]
tests:
  - file: {from: ["{class}"], separator: ".", extensions: [.py], join: "::"}
    alone: ["{report}", "{file}::{name}"]
    order: ["{report}", "{file}::{name}"]
    rows: ["{report}", "{file}::{function}"]
`

// TestAccept_FZ4_AnEditedRowIsAChangedTest: where green has the function of a parametrized test with other rows, all of them are run, and
// the test is a changed one; a function that green lacks is a new test. Rows that fail in green tell nothing.
func TestAccept_FZ4_AnEditedRowIsAChangedTest(t *testing.T) {
	t.Parallel()
	python := func(rows ...string) string {
		return "import pytest\n\n@pytest.mark.parametrize(\"a\", [\n" + strings.Join(rows, "\n") + "\n])\ndef test_sum(a):\n    assert a\n"
	}
	d := must.Get(experiment.ParseDefinition("rows.yaml", []byte(rowsDefinition)))(t)
	for _, tt := range []struct {
		name, green string
		want        abi.ExperimentOutcome
		change      abi.TestChange
	}{
		{"an edited row", python("# test_sum[1] pass", "# test_sum[2] pass"), abi.OutcomePassed, abi.TestChanged},
		{"an edited row, and another that fails", python("# test_sum[1] fail", "# test_sum[2] pass"), abi.OutcomeNotRun, abi.TestChanged},
		{"the same row", python("# test_sum[1] pass", "# test_sum[3] pass"), abi.OutcomePassed, abi.TestChanged},
		{"a new test", "# nothing\n", abi.OutcomeNoTest, abi.TestNew},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			must.Write(t, dir, map[string]string{"rows.ini": "a\n", "rows": rowsRunner, "test_rows.py": tt.green})
			must.Do(t, os.Chmod(filepath.Join(dir, "rows"), 0o755))
			must.Git(t, dir, "init", "-q", "-b", "main")
			must.Git(t, dir, "add", ".")
			must.Git(t, dir, "commit", "-qm", "green")
			must.Write(t, dir, map[string]string{"test_rows.py": python("# test_sum[1] pass", "# test_sum[3] fail")})
			lab := open(t, experiment.Config{Source: dir, Base: "HEAD", Mode: experiment.All, Runners: []*experiment.Definition{d}, Budget: time.Minute})
			c := abi.Case{Subject: "test_sum[3] fails in test_rows", Group: "test_rows", Documents: []abi.Document{{Name: "failure", Text: "E       assert test_sum[3]\n"}}}
			for _, e := range []abi.Experiment{
				{Product: abi.Base, Tests: abi.Base, Environment: abi.OriginalEnvironment, Order: abi.Alone, Runs: 2},
				{Product: abi.Head, Tests: abi.Base, Environment: abi.OriginalEnvironment, Order: abi.Alone, Runs: 1},
			} {
				r, err := lab.Run(t.Context(), &c, e)
				if err != nil || r.Outcome != tt.want || r.Test != tt.change {
					t.Errorf("%s: %+v %v, want %s of a %s test", e, r, err, tt.want, tt.change)
				}
			}
		})
	}
}

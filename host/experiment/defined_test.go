package experiment_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/experiment"
)

// TestTreesOutOfThePlaceOfTheCheckout: where a run can't see its tree there, as with temporary files in the checkout, what is installed
// may lead to the product of the checkout. Then a runner that needs such files runs the tree under test alone.
func TestTreesOutOfThePlaceOfTheCheckout(t *testing.T) {
	const definition = `name: check
markers: [{file: product}]
programs: [check.sh]
tests: [{alone: ["{name}", "{report}"], order: [all, "{report}"]}]
`
	dir, tools := t.TempDir(), t.TempDir()
	git(t, dir, "init", "-q", "-b", "main")
	write(t, dir, map[string]string{"product": "good", ".gitignore": "temporary\n"})
	write(t, tools, map[string]string{
		"check.sh": "#!/bin/sh\ngrep -q good product && f= || f='<failure>got bad</failure>'\n" +
			"echo \"<testsuite name='s'><testcase classname='s' name='$1'>$f</testcase></testsuite>\" >$2\n",
	})
	if err := os.Chmod(filepath.Join(tools, "check.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	git(t, dir, "add", ".")
	git(t, dir, "commit", "-qm", "green")
	git(t, dir, "tag", "green")
	write(t, dir, map[string]string{"product": "bad", "temporary/x": ""})
	t.Setenv("PATH", tools+string(filepath.ListSeparator)+os.Getenv("PATH"))
	t.Setenv("TMPDIR", filepath.Join(dir, "temporary"))
	subject := &abi.Case{Subject: "total fails in s", Group: "s", Documents: []abi.Document{{Name: "failure", Text: "got bad\n"}}}
	// The tests did not change: the product of the head with green tests is the tree under test.
	for keep, offers := range map[string]int{"": 21, "keep: [modules]\n": 10} {
		d, err := experiment.ParseDefinition("check.yaml", []byte(definition+keep))
		if err != nil {
			t.Fatal(err)
		}
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
	d, err := experiment.ParseDefinition("rows.yaml", []byte(rowsDefinition))
	if err != nil {
		t.Fatal(err)
	}
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
			write(t, dir, map[string]string{"rows.ini": "a\n", "rows": rowsRunner, "test_rows.py": tt.green})
			if err := os.Chmod(filepath.Join(dir, "rows"), 0o755); err != nil {
				t.Fatal(err)
			}
			git(t, dir, "init", "-q", "-b", "main")
			git(t, dir, "add", ".")
			git(t, dir, "commit", "-qm", "green")
			write(t, dir, map[string]string{"test_rows.py": python("# test_sum[1] pass", "# test_sum[3] fail")})
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

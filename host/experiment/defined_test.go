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

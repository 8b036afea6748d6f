package experiment_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/experiment"
)

const (
	onlyTarget = "target/target/original/alone/2"
	merged     = "merge/merge/original/alone/2"
)

// bothChange is a checkout in which head and the target change what one test checks, each in a file of its own; head is not committed.
func bothChange(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	git(t, dir, "init", "-q", "-b", "main")
	write(t, dir, map[string]string{
		"go.mod":        "module example.com/m\n\ngo 1.26\n",
		"rate.go":       "package m\n\nfunc Rate() int { return 1 }\n",
		"total.go":      "package m\n\nfunc Total() int { return Rate() }\n",
		"total_test.go": "package m\n\nimport \"testing\"\n\nfunc TestTotal(t *testing.T) { if got := Total(); got > 2 { t.Errorf(\"%d is too much\", got) } }\n",
	})
	git(t, dir, "add", ".")
	git(t, dir, "commit", "-qm", "green")
	git(t, dir, "tag", "green")
	git(t, dir, "checkout", "-q", "-b", "target")
	write(t, dir, map[string]string{"rate.go": "package m\n\nfunc Rate() int { return 2 }\n"})
	git(t, dir, "commit", "-qam", "of the target")
	git(t, dir, "checkout", "-q", "main")
	write(t, dir, map[string]string{"total.go": "package m\n\nfunc Total() int { return 2 * Rate() }\n"})
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
		r, err := l.Run(t.Context(), subject, parse(t, name))
		if err != nil {
			t.Fatal(err)
		}
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
	offers, err := l.Offers(t.Context(), totalCase())
	if err != nil {
		t.Fatal(err)
	}
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
				write(t, dir, map[string]string{"rate.go": c.rate})
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

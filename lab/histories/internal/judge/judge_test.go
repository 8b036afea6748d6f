package judge

import (
	"math"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/lab/internal/history"
)

// caseOf has the runs of head and base alone in the original environment; a run of a cell takes a second and a build two.
func caseOf(head, base string) *history.Case {
	c := &history.Case{Trees: map[history.Role]history.Tree{history.Head: {}, history.Base: {}}}
	add(c, history.Head, abi.OriginalEnvironment, abi.Alone, head)
	add(c, history.Base, abi.OriginalEnvironment, abi.Alone, base)
	return c
}

func add(c *history.Case, r history.Role, e abi.RunEnvironment, o abi.RunOrder, runs string) {
	k := history.Cell{Product: r, Tests: r, Environment: e, Order: o, Runs: runs, Wall: float64(len(runs)), Build: 2}
	if runs == "" {
		k.Why = abi.OutcomeNoTest
	}
	c.Cells = append(c.Cells, k)
	c.Trees[r] = history.Tree{}
}

func TestArmsFollowTheirRules(t *testing.T) {
	t.Parallel()
	const caused, pre, flaky, open = history.Caused, history.Preexisting, history.ByChance, history.Open
	for _, tc := range []struct {
		name, head, base                   string
		once, thrice, both, five, all, git history.Attribution
	}{
		{"the change did it", "SSSSSS", "PPPPPP", caused, caused, caused, caused, caused, caused},
		{"the base fails, too", "SSSSSS", "SSSSSS", pre, caused, pre, pre, pre, pre},
		{"another failure on the base", "SSSSSS", "aaaaaa", pre, caused, pre, pre, caused, pre},
		{"flaky on both", "PSSPPS", "SPPPSP", pre, flaky, flaky, flaky, flaky, pre},
		{"made flaky", "PSSPPS", "PPPPPP", caused, flaky, flaky, flaky, caused, caused},
		{"the test is new", "SSSSSS", "", caused, caused, caused, open, caused, caused},
		{"the failure does not come back", "PPPPPP", "PPPPPP", caused, flaky, flaky, flaky, flaky, caused},
		{"the runs told nothing", "XXXXXX", "XXXXXX", caused, caused, caused, open, open, caused},
		{"a worse flake", "SSSPSS", "PPPPSP", caused, caused, caused, flaky, caused, caused},
	} {
		c := caseOf(tc.head, tc.base)
		for _, got := range []struct {
			arm        Arm
			says, want history.Attribution
		}{
			{BaseOnce, baseOnce(c).Attribution, tc.once},
			{HeadThrice, headThrice(c).Attribution, tc.thrice},
			{Both, both(c).Attribution, tc.both},
			{FiveThree, fiveThree(c).Attribution, tc.five},
			{Everything, everything(c).Attribution, tc.all},
			{Stash, stash(c).Attribution, tc.git},
		} {
			if got.says != got.want {
				t.Errorf("%s: %s says %s, want %s", tc.name, got.arm, got.says, got.want)
			}
		}
	}
}

func TestTheTableSeesEnvironmentsAndMerges(t *testing.T) {
	t.Parallel()
	broken := caseOf("SSSS", "SSSS")
	add(broken, history.Head, abi.CleanEnvironment, abi.Alone, "PPPP")
	merged := caseOf("PPPP", "PPPP")
	add(merged, history.Merge, abi.OriginalEnvironment, abi.Alone, "SSSS")
	add(merged, history.Target, abi.OriginalEnvironment, abi.Alone, "PPPP")
	starved := caseOf("PPPP", "PPPP") // of the base nothing is known there
	add(starved, history.Head, abi.StarvedEnvironment, abi.Alone, "SSSS")
	loads := caseOf("SSSS", "SSSS")
	loads.Loaded = map[history.Role]history.Loaded{history.Base: history.Contradicted}
	for name, tc := range map[string]struct {
		c    *history.Case
		want history.Attribution
	}{
		"broken": {broken, history.Surroundings}, "merged": {merged, history.InMerge}, "starved": {starved, history.ByChance}, "loads": {loads, history.Open},
	} {
		if got := byTable(tc.c); got != tc.want {
			t.Errorf("%s: %s, want %s", name, got, tc.want)
		}
	}
	if got := fiveThree(merged).Attribution; got != history.Caused {
		t.Errorf("the merge is %s", got)
	}
}

func TestAnArmPaysWhatItAsksFor(t *testing.T) {
	t.Parallel()
	c := caseOf("SSSSSSSSSS", "PPPPPPPPPP")
	if got := fiveThree(c); got.Seconds != 5+3+2*2 || got.Lacked != 0 {
		t.Errorf("%+v", got)
	}
	if got := stash(c); got.Seconds != 1+2 || got.Lacked != 1 {
		t.Errorf("%+v", got)
	}
	if got := both(caseOf("SSPSS", "SSSSS")); got.Seconds != 3+2 {
		t.Errorf("%+v", got)
	}
}

// Results are those of the lab over the same runs.
func TestExperimentsAreAnsweredAsTheLabDoes(t *testing.T) {
	t.Parallel()
	head := abi.Experiment{Product: abi.Head, Tests: abi.Head, Environment: abi.OriginalEnvironment, Order: abi.Alone, Runs: 5}
	base := abi.Experiment{Product: abi.Base, Tests: abi.Base, Environment: abi.OriginalEnvironment, Order: abi.Alone, Runs: 2}
	for _, tc := range []struct {
		name    string
		e       abi.Experiment
		runs    string
		why     abi.ExperimentOutcome
		outcome abi.ExperimentOutcome
		made    int
	}{
		{"all pass", head, "PPPPPP", "", abi.OutcomePassed, 5},
		{"all fail", head, "SSSSSS", "", abi.OutcomeSame, 5},
		{"all runs are made", head, "PPSSSS", "", abi.OutcomeMixed, 5},
		{"in different ways", head, "SaSSSS", "", abi.OutcomeOther, 5},
		{"in one other way", head, "aaaaaa", "", abi.OutcomeNotRun, 5},
		{"in one other way, on the base", base, "aaaaaa", "", abi.OutcomeOther, 2},
		{"in two other ways", head, "ababab", "", abi.OutcomeOther, 5},
		{"some tell nothing", head, "XPXPXX", "", abi.OutcomePassed, 5},
		{"no test", base, "NNNN", "", abi.OutcomeNoTest, 1},
		{"known to have no test", base, "", abi.OutcomeNoTest, abi.OutcomeNoTest, 0},
		{"no test under test", head, "", abi.OutcomeNoTest, abi.OutcomeNotRun, 0},
		{"does not build", base, "", abi.OutcomeNotBuilt, abi.OutcomeNotBuilt, 0},
		{"does not build under test", head, "", abi.OutcomeNotBuilt, abi.OutcomeNotRun, 0},
	} {
		r, made := resultOf(&history.Cell{Runs: tc.runs, Why: tc.why}, tc.e)
		if r.Outcome != tc.outcome || made != tc.made {
			t.Errorf("%s: %s after %d runs, want %s after %d", tc.name, r.Outcome, made, tc.outcome, tc.made)
		}
	}
}

func TestOnlyTreesWithoutTheChangeAreSightings(t *testing.T) {
	t.Parallel()
	of := func(kind history.Kind, start, fix, culprit string) *history.Case {
		return &history.Case{Kind: kind, Fix: fix, Culprit: culprit, Trees: map[history.Role]history.Tree{history.Head: {Start: start}}}
	}
	made, flaky := of(history.MadeFlaky, "m", "f", "m"), of(history.Flaky, "r", "f", "")
	for name, tc := range map[string]struct {
		other, c *history.Case
		want     bool
	}{
		"an earlier sighting":    {made, flaky, false},
		"a later one":            {flaky, made, true},
		"the same tree":          {of(history.Environment, "x", "", ""), of(history.Environment, "x", "", ""), true},
		"another change":         {of(history.Regression, "x", "g", ""), flaky, false},
		"another one of its fix": {of(history.RedBase, "x", "g", ""), of(history.Regression, "y", "g", ""), true},
	} {
		if got := contains(tc.other, tc.c); got != tc.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

func TestIntervals(t *testing.T) {
	t.Parallel()
	if low, high := wilson(1, 96); math.Abs(low-0.00184) > 1e-4 || math.Abs(high-0.05667) > 1e-4 {
		t.Errorf("%v to %v", low, high)
	}
	var s share
	for i, repo := range []string{"a", "a", "b", "b", "c", "c"} {
		s.add(repo, i < 2)
	}
	low, high := s.bootstrap(1)
	if again, _ := s.bootstrap(1); low != again || low != 0 || high < 0.6 || s.k != 2 || s.n != 6 {
		t.Errorf("%v to %v of %+v", low, high, s)
	}
}

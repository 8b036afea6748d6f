package history_test

import (
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/lab/internal/history"
)

// cells makes cells from lines such as "head P*20" or "head/order S*20": tree, environment or order where it is another, and runs.
func cells(lines ...string) []history.Cell {
	var list []history.Cell
	for _, line := range lines {
		place, runs, _ := strings.Cut(line, " ")
		name, in, _ := strings.Cut(place, "/")
		c := history.Cell{Product: history.Role(name), Tests: history.Role(name), Environment: abi.OriginalEnvironment, Order: abi.Alone}
		switch in {
		case "order":
			c.Order = abi.OriginalOrder
		case "restored":
			c.Environment = history.Restored
		}
		switch runs {
		case "not built":
			c.Why = abi.OutcomeNotBuilt
		case "no test":
			c.Why = abi.OutcomeNoTest
		default:
			for part := range strings.FieldsSeq(runs) {
				letter, times, _ := strings.Cut(part, "*")
				n := 0
				for _, digit := range times {
					n = 10*n + int(digit-'0')
				}
				c.Runs += strings.Repeat(letter, n)
			}
		}
		list = append(list, c)
	}
	return list
}

var (
	caused = func(p history.Part, label string) history.Truth {
		return history.Truth{Attribution: history.Caused, Part: p, Label: label}
	}
	chance = history.Truth{Attribution: history.ByChance, Label: "flaky"}
	around = history.Truth{Attribution: history.Surroundings, Label: "system issue"}
	bug    = caused(history.Product, "product bug")
)

// TestAccept_RH2_TruthsAreDerivedFromRuns: runs that show what a recipe promises give its truth.
func TestAccept_RH2_TruthsAreDerivedFromRuns(t *testing.T) {
	t.Parallel()
	seen := map[history.Kind]bool{}
	for _, test := range []struct {
		name string
		c    history.Case
		want history.Truth
	}{
		{"regression", history.Case{Kind: history.Regression, Cells: cells("head S*20", "base P*20")}, bug},
		{"other failure on base", history.Case{Kind: history.Regression, Traps: []history.Trap{history.OtherOnBase}, Cells: cells("head S*20", "base a*20")}, bug},
		{"polluter", history.Case{Kind: history.Regression, Traps: []history.Trap{history.OrderMatters}, Cells: cells("head P*20", "base P*20", "head/order S*20", "base/order P*20")}, caused(history.Tests, "test bug")},
		{"untracked", history.Case{Kind: history.Regression, Traps: []history.Trap{history.Untracked}, Cells: cells("head S*20", "base P*20")}, caused(history.Tests, "test bug")},
		{"revert", history.Case{Kind: history.Revert, Cells: cells("head S*10", "base P*10")}, bug},
		{"new test", history.Case{Kind: history.NewTest, Cells: cells("head S*20", "base no test")}, caused(history.Tests, "product bug")},
		{"changed test", history.Case{Kind: history.NewTest, Cells: cells("head S*20", "base P*20")}, caused(history.Tests, "product bug")},
		{"stale test", history.Case{Kind: history.Stale, Cells: cells("head S*20", "base P*20")}, caused("", "test bug")},
		{"red base", history.Case{Kind: history.RedBase, Cells: cells("head S*20", "base S*20")}, history.Truth{Attribution: history.Preexisting}},
		{"flaky", history.Case{Kind: history.Flaky, Cells: cells("head P*17 S*3", "base P*15 S*4 a*1")}, chance},
		{"made flaky", history.Case{Kind: history.MadeFlaky, Cells: cells("head P*8 S*12", "base P*20")}, caused("", "flaky")},
		{"chance is planted", history.Case{Kind: history.MadeFlaky, Planted: true, Cells: cells("head P*280 S*20", "base P*300")}, caused(history.Product, "flaky")},
		{"flaky from its first commit on", history.Case{Kind: history.MadeFlaky, Cells: cells("head P*19 S*1", "base no test")}, caused(history.Tests, "flaky")},
		{"worse", history.Case{Kind: history.MadeFlaky, Traps: []history.Trap{history.WorseFlake}, Cells: cells("head P*40 S*40", "base P*75 S*5")}, caused("", "flaky")},
		{"for one run", history.Case{Kind: history.Environment, Environment: history.Condition{Name: "x"}, Cells: cells("head P*20", "base P*20")}, around},
		{"new test in a broken environment", history.Case{Kind: history.Environment, Environment: history.Condition{Name: "x"}, Cells: cells("head P*20", "base no test")}, around},
		{"for long", history.Case{Kind: history.Environment, Environment: history.Condition{Name: "x", Lasting: true}, Cells: cells("head S*20", "base S*20", "head/restored P*20")}, around},
		{"conflict", history.Case{Kind: history.Conflict, Cells: cells("merge S*20", "head P*20", "target no test")}, history.Truth{Attribution: history.InMerge}},
	} {
		if got, err := history.Derive(&test.c); err != nil || got != test.want {
			t.Errorf("%s: %+v, %v", test.name, got, err)
		}
		seen[test.c.Kind] = true
	}
	for _, kind := range history.Kinds() {
		if !seen[kind] {
			t.Errorf("no case is a %s", kind)
		}
	}
}

// TestAccept_RH2_AWrongRecipeIsFound: runs that show something else than a recipe promises give an error that says why.
func TestAccept_RH2_AWrongRecipeIsFound(t *testing.T) {
	t.Parallel()
	lasting := history.Condition{Name: "x", Lasting: true}
	trap := func(list ...history.Trap) []history.Trap { return list }
	for want, c := range map[string]history.Case{
		"head does not fail each time":                                {Kind: history.Regression, Cells: cells("head S*19 P*1", "base P*20")},
		"base does not pass each time":                                {Kind: history.Stale, Cells: cells("head S*20", "base P*9")},
		"base fails, too":                                             {Kind: history.Revert, Cells: cells("head S*20", "base P*19 a*1")},
		"base does not fail in another way each time":                 {Kind: history.Regression, Traps: trap(history.OtherOnBase), Cells: cells("head S*20", "base P*20")},
		"head does not fail each time in the order of the package":    {Kind: history.Regression, Traps: trap(history.OrderMatters), Cells: cells("head P*20", "base P*20", "head/order P*20", "base/order P*20")},
		"head does not pass each time alone":                          {Kind: history.Regression, Traps: trap(history.OrderMatters), Cells: cells("head S*20", "base P*20", "head/order S*20", "base/order P*20")},
		"base does not pass each time in the order of the package":    {Kind: history.Regression, Traps: trap(history.OrderMatters), Cells: cells("head P*20", "base P*20", "head/order S*20")},
		"base does not pass each time alone":                          {Kind: history.Regression, Traps: trap(history.OrderMatters), Cells: cells("head P*20", "head/order S*20", "base/order P*20")},
		"base does not fail each time as head does":                   {Kind: history.RedBase, Cells: cells("head S*20", "base a*20")},
		"head never passes":                                           {Kind: history.Flaky, Cells: cells("head S*20", "base P*15 S*5")},
		"head never fails when run again":                             {Kind: history.MadeFlaky, Cells: cells("head P*20", "base P*20")},
		"base never fails":                                            {Kind: history.Flaky, Cells: cells("head P*18 S*2", "base P*20")},
		"base never passes":                                           {Kind: history.Flaky, Cells: cells("head P*18 S*2", "base S*20")},
		"base can't be run":                                           {Kind: history.Flaky, Cells: cells("head P*18 S*2", "base not built")},
		"head fails more often than base":                             {Kind: history.Flaky, Cells: cells("head P*5 S*15", "base P*19 S*1")},
		"head fails so seldom that it may be chance that base passes": {Kind: history.MadeFlaky, Cells: cells("head P*18 S*2", "base P*20")},
		"head does not fail each time in the broken environment":      {Kind: history.Environment, Environment: lasting, Cells: cells("head P*20", "head/restored P*20")},
		"head does not pass each time in the whole environment":       {Kind: history.Environment, Environment: lasting, Cells: cells("head S*20", "base P*20")},
		"base does not pass each time in the whole environment":       {Kind: history.Environment, Cells: cells("head P*20", "base S*20")},
		"the merge does not fail each time in one way":                {Kind: history.Conflict, Cells: cells("merge P*20", "head P*20", "target P*20")},
		"head does not pass each time":                                {Kind: history.Conflict, Cells: cells("merge S*20", "head S*20", "target P*20")},
		"target does not pass each time":                              {Kind: history.Conflict, Cells: cells("merge S*20", "head P*20", "target a*20")},
		"neither head nor target has the test":                        {Kind: history.Conflict, Cells: cells("merge S*20", "head no test", "target no test")},
		"there is no such kind":                                       {Kind: "none"},
	} {
		if truth, err := history.Derive(&c); err == nil || err.Error() != want {
			t.Errorf("%s: expected %q, got %+v, %v", c.Kind, want, truth, err)
		}
	}
}

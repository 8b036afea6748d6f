package judge

import (
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/lab/histories/internal/history"
)

// The model asks for runs until it is sure, pays for what it asked for alone, and gives no alibi by a base that ran the code of head.
func TestTheOutcomeModelAsksUntilItIsSure(t *testing.T) {
	t.Parallel()
	many := func(letter string) string { return strings.Repeat(letter, 20) }
	mixed := strings.Repeat("PPPSP", 4)
	var known []history.Case
	for _, k := range []struct {
		n          int
		truth      history.Attribution
		head, base string
	}{
		{20, history.Caused, many("S"), many("P")}, {10, history.Preexisting, many("S"), many("S")}, {6, history.ByChance, mixed, mixed},
		{6, history.Caused, strings.Repeat("PSPPP", 4), many("P")}, {6, history.Caused, many("S"), ""}, {2, history.Surroundings, many("P"), many("P")},
	} {
		for range k.n {
			c := *caseOf(k.head, k.base)
			c.Truth.Attribution = k.truth
			known = append(known, c)
		}
	}
	m := learned([]history.Repo{{Half: history.Learning, Cases: known}, {Half: history.Reporting, Cases: []history.Case{*caseOf(many("a"), many("P"))}}})
	for name, tc := range map[string]struct {
		c       *history.Case
		want    history.Attribution
		seconds float64 // at most; both builds take two each, a run one
	}{
		"the change did it":     {caseOf(many("S"), many("P")), history.Caused, 4 + 2*5},
		"it failed before":      {caseOf(many("S"), many("S")), history.Preexisting, 4 + 2*20},
		"a flake of both":       {caseOf(mixed, mixed), history.Open, 4 + 2*20}, // to be less than 1 % worse takes more runs
		"made flaky":            {caseOf(strings.Repeat("PSPSP", 4), many("P")), history.Caused, 4 + 2*20},
		"the change brought it": {caseOf(many("S"), ""), history.Caused, 4 + 20},
		"nothing was ever told": {caseOf(many("X"), many("X")), history.Open, 4 + 2*20},
	} {
		got := outcomeModel(tc.c, m)
		if got.Attribution != tc.want || got.Seconds > tc.seconds {
			t.Errorf("%s: %s after %v s, want %s after %v at most", name, got.Attribution, got.Seconds, tc.want, tc.seconds)
		}
	}
	contradicted := caseOf(many("S"), many("S"))
	contradicted.Loaded = map[history.Role]history.Loaded{history.Base: history.Contradicted}
	if got := outcomeModel(contradicted, m).Attribution; got != history.Open {
		t.Errorf("by a base that ran the code of head: %s", got)
	}
	merged := caseOf(many("P"), many("P"))
	add(merged, history.Merge, abi.OriginalEnvironment, abi.Alone, many("S"))
	add(merged, history.Target, abi.OriginalEnvironment, abi.Alone, many("P"))
	if got := outcomeModel(merged, m).Attribution; got != history.InMerge {
		t.Errorf("a merge that fails: %s", got)
	}
}

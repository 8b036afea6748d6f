package main

import "testing"

// TestAccept_AK7_TheLockHoldsItsBoundOnTheWholeGrid: flaky for each material pair, and preexisting where the base fails in at most half of its runs.
func TestAccept_AK7_TheLockHoldsItsBoundOnTheWholeGrid(t *testing.T) {
	t.Parallel()
	pairs := append(grid(), boundary()...)
	for i, a := range characteristics(pairs) {
		if p := pairs[i]; p.material() && (a.flaky > 0.01 || p.base <= 0.5 && a.flaky+a.preexisting > 0.0125) {
			t.Errorf("%+v: %+v", p, a)
		}
	}
	equal := []pair{{0.1, 0.1}, {0.2, 0.2}, {0.3, 0.3}, {0.4, 0.4}, {0.5, 0.5}, {1, 1}}
	for i, a := range characteristics(equal) {
		if a.flaky+a.preexisting < 0.9 || equal[i].base == 1 && a.runs > 14 {
			t.Errorf("%+v: %+v", equal[i], a)
		}
	}
}

// TestTheRuleByRunsHoldsItsPrice: on the ladder that it is meant for, and decides nine of ten there; the plainest rule gives any alibi.
func TestTheRuleByRunsHoldsItsPrice(t *testing.T) {
	t.Parallel()
	l := ladders()[2]
	rule := byRuns(240)
	if o := try(&rule, &l); o.boundary > 0.01 || o.grid > o.boundary || o.decided < 0.9 || o.runs > 200 {
		t.Errorf("%+v", o)
	}
	if o := try(&rules()[0], &l); o.boundary < 0.99 {
		t.Errorf("%+v", o)
	}
	if closes := rule.closes; closes(counts{100, 100, 20, 100}) || closes(counts{3, 7, 3, 7}) || !closes(counts{50, 100, 50, 100}) {
		t.Error("it closes where rates differ or where there are few runs, or not where they are equal")
	}
}

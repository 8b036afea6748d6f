package main

import "testing"

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

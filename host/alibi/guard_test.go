package alibi

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/experiment/plan"
	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// ofRuns is an experiment with a tree alone.
func ofRuns(tree abi.TreeRevision, passed, same int) trial.Experiment {
	e := abi.Experiment{Product: tree, Tests: tree, Environment: abi.OriginalEnvironment, Order: abi.Alone, Runs: passed + same}
	r := abi.ExperimentResult{Experiment: e, Outcome: abi.OutcomeMixed, Passed: passed, Same: same, Test: abi.TestUnchanged, Loaded: abi.Certified}
	return trial.NewExperiment("", "", &r)
}

func withLabel(label string, runs ...trial.Experiment) *trial.Trial {
	t := &trial.Trial{Case: abi.Case{ID: "p.TestA", Group: "p", Subject: "TestA fails in p", Labels: Labels()}}
	t.Result.Final.Classification, t.Result.Experiments, t.Result.Activated = label, runs, true
	return t
}

func TestAccept_AL5_LabelsThatTheRunsDoNotShowAreOpen(t *testing.T) {
	t.Parallel()
	head, base := abi.Head, abi.Base
	for _, tc := range []struct {
		label string
		runs  []trial.Experiment
		want  Verdict
	}{
		{Preexisting, []trial.Experiment{ofRuns(head, 0, 5), ofRuns(base, 7, 0)}, IsYours},
		{Preexisting, []trial.Experiment{ofRuns(head, 0, 5), ofRuns(base, 2, 0)}, IsOpen},
		{Preexisting, []trial.Experiment{ofRuns(head, 0, 5), ofRuns(base, 0, 2)}, IsOpen},
		{Preexisting, []trial.Experiment{ofRuns(head, 0, 5), ofRuns(base, 0, 7)}, NotYours},
		{Caused, []trial.Experiment{ofRuns(head, 5, 0), ofRuns(base, 2, 0)}, IsOpen},
		{Caused, []trial.Experiment{ofRuns(base, 0, 2)}, IsOpen},
		{Caused, []trial.Experiment{ofRuns(head, 5, 0), ofRuns(abi.Merge, 0, 2), ofRuns(base, 2, 0)}, IsYours},
		{Flaky, []trial.Experiment{ofRuns(head, 3, 2), ofRuns(base, 2, 0)}, IsOpen},
		{Flaky, []trial.Experiment{ofRuns(head, 0, 5), ofRuns(base, 0, 7)}, NotYours},
		{Flaky, []trial.Experiment{ofRuns(head, 5, 0), ofRuns(base, 0, 7)}, IsOpen},
		{Environment, []trial.Experiment{ofRuns(head, 5, 0), ofRuns(base, 2, 0)}, IsOpen},
	} {
		a := Of(withLabel(tc.label, tc.runs...))
		if a.Verdict != tc.want || Yours(a.Label) != (tc.want == IsYours) || (a.Label == "") != (tc.want == IsOpen) || a.Why == "" {
			t.Errorf("%s: %+v", tc.label, a)
		}
	}
	if a := of(withLabel(Preexisting, ofRuns(head, 0, 5), ofRuns(base, 0, 7)), MaxFalse/1000); a.Verdict != IsOpen || a.Lock != Chance {
		t.Errorf("at a lower price: %+v", a)
	}
}

// asked is a laboratory that offers all runs of a test that passes, and keeps what it was asked for.
type asked []abi.Experiment

func (*asked) Why(*abi.Case) string { return "" }

func (*asked) Digest() string { return "asked" }

func (*asked) Offers(context.Context, *abi.Case) ([]abi.ExperimentOffer, error) {
	return plan.Offers(time.Millisecond, plan.GoPace(), plan.BuildOf), nil
}

func (l *asked) Run(_ context.Context, _ *abi.Case, e abi.Experiment) (abi.ExperimentResult, error) {
	*l = append(*l, e)
	return abi.ExperimentResult{Experiment: e, Outcome: abi.OutcomePassed, Passed: e.Runs, Test: abi.TestUnchanged, Loaded: abi.Certified}, nil
}

// TestAccept_AK4_FailuresInOtherWordsAreRunAgain: a test that fails at times, in words that it may have drawn, is not blamed for that by few runs, and head is
// run until a second failure may show what is drawn.
func TestAccept_AK4_FailuresInOtherWordsAreRunAgain(t *testing.T) {
	t.Parallel()
	otherwise := func(tree abi.TreeRevision, passed, other int) trial.Experiment {
		e := ofRuns(tree, passed, other)
		e.Same, e.Other = 0, e.Same
		return e
	}
	head, base := abi.Head, abi.Base
	for i, tc := range []struct {
		runs  []trial.Experiment
		again int // runs of head
	}{
		{[]trial.Experiment{otherwise(head, 4, 1), otherwise(base, 2, 0)}, 15},
		{[]trial.Experiment{otherwise(head, 5, 0), otherwise(base, 1, 1)}, 15},
		{[]trial.Experiment{otherwise(head, 3, 2), otherwise(base, 7, 0)}, 15},
		{[]trial.Experiment{otherwise(head, 5, 0), otherwise(base, 2, 0)}, 0},
		{[]trial.Experiment{otherwise(head, 0, 5), otherwise(base, 2, 0)}, 0},
	} {
		var lab asked
		light := must.Get(NewLight(&lab, must.Get(Profile())(t), 0))(t)
		label := ""
		if i == 2 {
			label = Caused
		}
		subject := withLabel(label, tc.runs...)
		subject.Result.Final.Confidence = 0.99
		a := must.Get(light.Settle(t.Context(), subject))(t)
		got := 0
		for _, e := range lab {
			if e.Product == head && e.Order == abi.Alone {
				got += e.Runs
			}
		}
		if a.Verdict != IsOpen || got != tc.again {
			t.Errorf("%d: %d more runs of head, want %d: %+v", i, got, tc.again, a)
		}
	}
}

// TestAccept_AK7_TheTestsAroundCount: a test that fails alone as often as before may fail more often with the tests around it. Both trees are run with them before
// there is an alibi, and the lock has to close there where head seems to fail more often.
func TestAccept_AK7_TheTestsAroundCount(t *testing.T) {
	t.Parallel()
	inOrder := func(tree abi.TreeRevision, passed, same int) trial.Experiment {
		e := ofRuns(tree, passed, same)
		e.Order = abi.OriginalOrder
		return e
	}
	head, base := abi.Head, abi.Base
	atTimes := []trial.Experiment{ofRuns(head, 50, 50), ofRuns(base, 50, 50)}
	always := []trial.Experiment{ofRuns(head, 0, 7), ofRuns(base, 0, 7)}
	light := must.Get(NewLight(nil, must.Get(Profile())(t), 0))(t)
	for _, tc := range []struct {
		runs []trial.Experiment
		want Verdict
	}{
		{append(atTimes, inOrder(head, 3, 4), inOrder(base, 4, 3)), NotYours},
		{append(atTimes, inOrder(head, 0, 7), inOrder(base, 4, 3)), IsOpen},
		{append(atTimes, inOrder(head, 0, 50), inOrder(base, 30, 20)), IsYours},
		{append(always, inOrder(head, 0, 7), inOrder(base, 0, 7)), NotYours},
		{append(always, inOrder(head, 0, 20), inOrder(base, 12, 8)), IsYours},
	} {
		if a := light.of(withLabel("", tc.runs...)); a.Verdict != tc.want {
			t.Errorf("%+v, want %s", a, tc.want)
		}
	}
	var lab asked
	must.Get(must.Get(NewLight(&lab, must.Get(Profile())(t), 0))(t).Settle(t.Context(), withLabel("", atTimes...)))(t)
	around := map[abi.TreeRevision]int{}
	for _, e := range lab {
		if e.Order == abi.OriginalOrder {
			around[e.Product] += e.Runs
		}
	}
	if around[head] < 7 || around[base] < 7 {
		t.Errorf("runs with the tests around it: %v", around)
	}
}

func TestAccept_AL5_AnAlibiNeedsABase(t *testing.T) {
	t.Parallel()
	profile := must.Get(Profile())(t)
	light := must.Get(NewLight(nil, profile, 0.5))(t)
	absent := ofRuns(abi.Base, 0, 0)
	absent.Outcome = abi.OutcomeNoTest
	for want, runs := range map[string][]trial.Experiment{
		"the base was not run":                 {ofRuns(abi.Head, 20, 0)},
		"the base does not have this test":     {ofRuns(abi.Head, 20, 0), absent},
		"5 of 5 failed here, none of 2 failed": {ofRuns(abi.Head, 0, 5), ofRuns(abi.Base, 2, 0)},
	} {
		if a := light.of(withLabel(Environment, runs...)); a.Verdict != IsOpen || !strings.Contains(a.Why, want) {
			t.Errorf("%+v, want %q", a, want)
		}
	}
}

// TestAccept_AL8_WhatFurtherRunsFoundIsTakenFromTheProof: the tests before a failing one, and why nothing ran.
func TestAccept_AL8_WhatFurtherRunsFoundIsTakenFromTheProof(t *testing.T) {
	t.Parallel()
	light := must.Get(NewLight(nil, must.Get(Profile())(t), 0))(t)
	runs := []trial.Experiment{ofRuns(abi.Head, 5, 0), ofRuns(abi.Base, 2, 0), ofRuns(abi.Head, 0, 2)}
	runs[2].Order = abi.OriginalOrder
	a, nothing := light.of(withLabel(Caused, runs...)), light.of(withLabel(""))
	a.FailsAfter([]string{"TestB"})
	nothing.Why = "go is not installed"
	must.Do(t, (&Deriver{light}).Check(a, &record.Trial{}, withLabel(Caused)))
	must.Do(t, (&Deriver{light}).Check(nothing, &record.Trial{}, withLabel("")))
}

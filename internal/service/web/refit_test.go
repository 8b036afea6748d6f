package web_test

import (
	"context"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/render"
	"github.com/shadowcourt/shadowcourt/internal/service/refit"
	"github.com/shadowcourt/shadowcourt/internal/service/web"
	"github.com/shadowcourt/shadowcourt/internal/calibrate"
)

// A refit is shown by all processes that share the database.
func TestARefitIsThatOfAllProcesses(t *testing.T) {
	t.Parallel()
	s := newService(t, serviceOptions{})
	ctx := t.Context()
	step, end := make(chan struct{}), make(chan struct{})
	ended := func(label string) *trial.Result {
		return &trial.Result{ID: "1-1", Final: trial.Final{Status: trial.Affirmed, Classification: label}}
	}
	learned := &refit.Proposal{
		Format: "jsonl", File: "profile:jsonl", Profile: []byte("name: refit\n"), Fitted: 20, HeldOut: 20, Learned: true, Model: "m",
		Compared: &calibrate.CandidateReport{
			Cases: 20, Truth: &calibrate.CandidateTruth{Cases: 20, CourtRight: 10, CandidateRight: 12, P: 0.25}, Finding: "inconclusive", Why: []string{"why"},
			Flips: []calibrate.Flip{{BesideJSON: &render.BesideJSON{ID: "1-1", Court: ended("bug"), Candidate: ended("flake")}, Mark: calibrate.ToRight}},
		},
	}
	one := web.NewBackend(web.Sources{Store: s.store, Refit: func(_ context.Context, progress func(string)) (*refit.Proposal, error) {
		progress("learning")
		close(step)
		<-end
		return learned, nil
	}})
	other := web.NewBackend(web.Sources{Store: s.store, Refit: func(context.Context, func(string)) (*refit.Proposal, error) { return learned, nil }})
	state := func() *web.Refit {
		r, err := other.Refit(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	if err := one.StartRefit(ctx); err != nil {
		t.Fatal(err)
	}
	<-step
	for state().Step != "learning" {
		runtime.Gosched()
	}
	if err := other.StartRefit(ctx); err == nil || !state().Running {
		t.Error("two refits run at once")
	}
	close(end)
	for state().Running {
		runtime.Gosched()
	}
	o := state().Outcome
	if o == nil || o.AllFlips != 1 || string(o.Profile) != "name: refit\n" || o.Compared.Finding != "inconclusive" || !o.Learned {
		t.Fatalf("%+v", o)
	}
	if diff := cmp.Diff(learned.Compared.Truth, o.Compared.Truth); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]web.RefitFlip{{ID: "1-1", Court: ended("bug").End(), Candidate: ended("flake").End(), Mark: calibrate.ToRight}}, o.Flips); diff != "" {
		t.Error(diff)
	}
}

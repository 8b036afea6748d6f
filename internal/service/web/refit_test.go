package web_test

import (
	"context"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/calibrate"
	"github.com/shadowcourt/shadowcourt/internal/render"
	"github.com/shadowcourt/shadowcourt/internal/service/work"
)

// A refit is kept in the store, where all processes find it: one runs at a time, and its page tells how far it is and what came of it.
func TestARefitIsKeptInTheStore(t *testing.T) {
	t.Parallel()
	step, end := make(chan struct{}), make(chan struct{})
	ended := func(label string) *trial.Result {
		return &trial.Result{ID: "1-1", Final: trial.Final{Status: trial.Affirmed, Classification: label}}
	}
	learned := &work.Proposal{
		Format: "jsonl", File: "profile:jsonl", Profile: []byte("name: refit\n"), Fitted: 20, HeldOut: 20, Learned: true, Model: "m",
		Compared: &calibrate.CandidateReport{
			Cases: 20, Truth: &calibrate.CandidateTruth{Cases: 20, CourtRight: 10, CandidateRight: 12, Pairs: calibrate.Pairs{P: 0.25}}, Finding: "inconclusive", Why: []string{"why"},
			Flips: []calibrate.Flip{{BesideJSON: &render.BesideJSON{ID: "1-1", Court: ended("bug"), Candidate: ended("flake")}, Mark: calibrate.ToRight}},
		},
	}
	s := newService(t, serviceOptions{refit: func(_ context.Context, progress func(string)) (*work.Proposal, error) {
		progress("learning")
		close(step)
		<-end
		return learned, nil
	}})
	const path = "/quality/refit"
	if status, place := s.post(path, nil); status != http.StatusSeeOther || place != path {
		t.Fatalf("%d %s", status, place)
	}
	<-step
	for !strings.Contains(s.ok(path), "<b>learning</b>") {
		runtime.Gosched()
	}
	if status, body := s.post(path, nil); status != http.StatusUnprocessableEntity || !strings.Contains(body, "a refit is running already") {
		t.Errorf("two refits run at once: %d", status)
	}
	close(end)
	for strings.Contains(s.ok(path), "<b>learning</b>") {
		runtime.Gosched()
	}
	shown := text(parsed(t, path, s.ok(path)))
	for _, want := range []string{
		"50.0%court in force right, of 20 held-out results", "60.0%right with the new profile", "not worseMcNemar's test, p = 0.250", "1flips", "why", "name: refit",
		"1-1In force" + ended("bug").End() + "New" + ended("flake").End() + "to right",
	} {
		if !strings.Contains(shown, want) {
			t.Errorf("the page lacks %q: %s", want, shown)
		}
	}
	if status, place := s.post(path+"/take", nil); status != http.StatusSeeOther || place != "/modules/2/activate" {
		t.Errorf("%d %s", status, place)
	}
}

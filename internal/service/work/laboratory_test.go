package work_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/experiment"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
	"github.com/shadowcourt/shadowcourt/internal/service/work"
)

// TestAUsedUpBudgetIsThatOfOneDocket submits a case at a commit twice; only the second docket has a budget that is large enough.
func TestAUsedUpBudgetIsThatOfOneDocket(t *testing.T) {
	t.Parallel()
	folder, commits := repository(t)
	s := openStore(t)
	budget := time.Nanosecond // lets the first step of a docket begin
	_, stop := start(t, s, func(c *work.Config) {
		c.Workers, c.Open = 1, withExperiments
		c.Laboratories = &work.Laboratories{Repository: "shop", Open: func(ctx context.Context, revision string) (work.Laboratory, error) {
			given := budget
			budget = experiment.DefaultPerCase
			return experiment.Open(ctx, experiment.Config{Source: folder, Commit: revision, Mode: experiment.Reruns, Budget: given})
		}}
	})
	defer stop()
	for i, want := range []abi.ExperimentOutcome{abi.OutcomeNotRun, abi.OutcomeSame} {
		d := wait(t, s, submit(t, s, store.Submission{Format: "jsonl", Repository: "shop", Revision: commits[1]}, []docket.Entry{failing()}).ID)
		tried, err := s.Trial(t.Context(), store.TrialID{Docket: d.ID, Ordinal: 1})
		must(t, err)
		if tried.Trial == nil || len(tried.Trial.Result.Experiments) == 0 || tried.Trial.Result.Experiments[0].Outcome != want {
			t.Errorf("docket %d: %+v, want %s", i+1, tried, want)
		}
	}
}

// endless runs experiments that take until the trial is ended.
type endless struct {
	*experiment.Lab
	begun func()
	ended atomic.Bool
	done  func()
}

func (e *endless) Run(ctx context.Context, _ *abi.Case, _ abi.Experiment) (abi.ExperimentResult, error) {
	e.begun()
	<-ctx.Done()
	e.ended.Store(true)
	return abi.ExperimentResult{}, ctx.Err()
}

func (e *endless) Close() error {
	if !e.ended.Load() {
		panic("closed while an experiment is run")
	}
	defer e.done()
	return e.Lab.Close()
}

// TestACancelledDocketFreesItsWorker: the experiment that it runs is ended, its laboratory closed, and the next docket tried.
func TestACancelledDocketFreesItsWorker(t *testing.T) {
	t.Parallel()
	folder, commits := repository(t)
	s := openStore(t)
	begun, closed := make(chan struct{}), make(chan struct{})
	_, stop := start(t, s, func(c *work.Config) {
		c.Workers, c.Open = 1, withExperiments
		c.Laboratories = &work.Laboratories{Repository: "shop", Open: func(ctx context.Context, revision string) (work.Laboratory, error) {
			l, err := experiment.Open(ctx, experiment.Config{Source: folder, Commit: revision, Mode: experiment.Reruns, Budget: time.Minute})
			return &endless{Lab: l, begun: sync.OnceFunc(func() { close(begun) }), done: sync.OnceFunc(func() { close(closed) })}, err
		}}
	})
	defer stop()
	d := submit(t, s, store.Submission{Format: "jsonl", Repository: "shop", Revision: commits[1]}, []docket.Entry{failing()})
	next := submit(t, s, store.Submission{Format: "jsonl", Repository: "other"}, []docket.Entry{failing()})
	<-begun
	must(t, s.Cancel(t.Context(), d.ID))
	<-closed
	if next = wait(t, s, next.ID); next.Tried != 1 {
		t.Errorf("the next docket is %+v", next)
	}
	if d = wait(t, s, d.ID); d.State != store.Cancelled || d.Tried != 0 {
		t.Errorf("the cancelled docket is %+v", d)
	}
}

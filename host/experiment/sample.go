package experiment

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/odds"
	"github.com/shadowcourt/shadowcourt/host/experiment/plan"
)

// Observation is one run of a failing test.
type Observation struct {
	// Outcome is OutcomePassed, OutcomeSame, OutcomeOther or OutcomeNoTest, or OutcomeNotRun where the run tells nothing.
	Outcome abi.ExperimentOutcome
	// Look names how the test failed: equal failures have equal ones. Empty unless it failed.
	Look string
	// Wall is from start to end, CPU of all processes.
	Wall, CPU time.Duration
}

// Sample is what the runs of a test in one cell came to: in one tree, environment and order.
type Sample struct {
	Runs []Observation
	// Build is how long it took to write and build the tree, as far as that was not done before.
	Build time.Duration
	// Failed are the documents of the first run that failed: what a report would have of it. Nil where none did.
	Failed []abi.Document
	// Test says how the failing test differs from that of the base.
	Test abi.TestChange
	// Loaded is as in results.
	Loaded abi.LoadedCode
	// Outcome is OutcomeNotBuilt, OutcomeNoTest or OutcomeNotRun where nothing was run, and Detail says why. Empty otherwise.
	Outcome abi.ExperimentOutcome
	Detail  string
}

// Sample runs the failing test of a case as often as the experiment says and gives each run by itself. Nothing ends it early, nothing is
// cached, and experiments that are never offered can be asked for. Where the case has no documents, such as one of [Lab.Named], each run
// has [plan.MostRun], and failures are all OutcomeOther. It serves studies and searches; courts ask by [Lab.Run]. The error is that of the
// context.
func (l *Lab) Sample(ctx context.Context, subject *abi.Case, e abi.Experiment) (Sample, error) {
	l.open.RLock()
	defer l.open.RUnlock()
	f, err := l.runnable(subject, e)
	var in *place
	if err == nil {
		in, err = l.place(ctx, f, e)
	}
	if err != nil {
		return Sample{Outcome: abi.OutcomeNotRun, Detail: firstLines(err.Error())}, ctx.Err()
	}
	if len(subject.Documents) == 0 {
		f.elapsed = plan.MostRun
	}
	s := Sample{Test: in.test}
	if in.absent {
		s.Outcome = abi.OutcomeNoTest
		return s, ctx.Err()
	}
	began := l.config.Now()
	run, err := l.program(ctx, in, f, e)
	s.Build = l.config.Now().Sub(began)
	t := tally{result: abi.ExperimentResult{Experiment: e}, looks: f.looks, online: l.config.Network, constant: l.constantOf(f, e)}
	for err == nil && t.runs < e.Runs {
		var r *testRun
		if r, err = l.once(ctx, in, run, f, e); err == nil {
			s.Runs = append(s.Runs, t.observe(f, r))
		}
	}
	s.end(&t, err)
	if odds.IsRerun(&e) && t.constant != nil {
		l.constants.Store(f.fingerprint, t.constant)
	}
	return s, ctx.Err()
}

// end takes what all runs have shown together, or what kept them from being made.
func (s *Sample) end(t *tally, err error) {
	s.Failed = t.first
	t.compare()
	s.Loaded = t.loaded.code
	if t.result.Other == 0 {
		for i := range s.Runs {
			if s.Runs[i].Outcome == abi.OutcomeOther {
				s.Runs[i].Outcome = abi.OutcomeSame
			}
		}
	}
	failed, isBuild := errors.AsType[*buildError](err)
	switch {
	case isBuild:
		s.Outcome, s.Detail = abi.OutcomeNotBuilt, firstLines(failed.Output)
	case errors.Is(err, errNoTests):
		s.Outcome = abi.OutcomeNoTest
	case err != nil:
		s.Outcome, s.Detail = abi.OutcomeNotRun, firstLines(err.Error())
	}
}

// observe adds a run, and says what it was.
func (t *tally) observe(f *failure, r *testRun) Observation {
	before, failures, absent := t.result, len(t.failures), t.absent
	t.add(f, r)
	o := Observation{Outcome: abi.OutcomeNotRun, Wall: r.Result.Wall, CPU: r.Result.CPU}
	switch {
	case t.result.Passed > before.Passed:
		o.Outcome = abi.OutcomePassed
	case t.result.Same > before.Same:
		o.Outcome = abi.OutcomeSame
	case t.result.Other > before.Other:
		o.Outcome = abi.OutcomeOther
	case t.absent > absent:
		o.Outcome = abi.OutcomeNoTest
	}
	if len(t.failures) > failures {
		l := &t.failures[failures]
		digest := sha256.Sum256([]byte(l.whole + l.digest()))
		o.Look = hex.EncodeToString(digest[:8])
	}
	return o
}

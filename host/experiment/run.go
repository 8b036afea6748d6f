package experiment

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/odds"
	"github.com/shadowcourt/shadowcourt/host/experiment/isolate"
	"github.com/shadowcourt/shadowcourt/host/experiment/plan"
)

// Run runs one of the experiments that are offered for the case, or takes its result from an earlier case with the same failure or
// from the cache. The error is that of the context alone; everything else is an outcome, with the reason in Detail.
func (l *Lab) Run(ctx context.Context, subject *abi.Case, e abi.Experiment) (abi.ExperimentResult, error) {
	l.open.RLock()
	defer l.open.RUnlock()
	if err := ctx.Err(); err != nil {
		return abi.ExperimentResult{}, err
	}
	f, err := l.runnable(subject, e)
	if err == nil && !plan.Has(e) {
		err = fmt.Errorf("%s is not offered", e)
	}
	if err != nil {
		return notRun(e, err.Error()), nil
	}
	in, err := l.place(ctx, f, e)
	if err != nil {
		if ctx.Err() != nil {
			return abi.ExperimentResult{}, ctx.Err()
		}
		return notRun(e, err.Error()), nil
	}
	key, learned := l.key(in, f, e), false
	return l.shared.do(ctx, key, func() (abi.ExperimentResult, bool, error) {
		if f.toolchain.about().cached {
			if r, ok := l.cache.read(key, e); ok {
				return r, true, nil
			}
		}
		expected := plan.Seconds(f.elapsed, f.toolchain.about().pace, e, l.builds(ctx, f, e))
		left := l.account.begin(time.Duration(expected * float64(time.Second)))
		defer left(0)
		known := l.varyingOf(f, e)
		r, varying, final, err := l.perform(ctx, in, f, e, left)
		if odds.IsRerun(&e) && varying != nil {
			l.varying.Store(f.fingerprint, varying)
			learned = varying.digest() != known.digest() // again in another process, which needs it for what comes after
		}
		ofTree := r.Loaded == "" || r.Loaded == abi.Certified // what lies elsewhere may change without another key
		if final && err == nil && f.toolchain.about().cached && !learned && ofTree {
			l.cache.write(key, &r)
		}
		return r, final, err
	})
}

func (l *Lab) runnable(subject *abi.Case, e abi.Experiment) (*failure, error) {
	switch {
	case l.closed:
		return nil, errors.New("experiments have ended")
	case l.problem != "":
		return nil, errors.New(l.problem)
	}
	f, err := l.failureOf(subject)
	switch {
	case err != nil:
		return nil, err
	case l.trees[revisions{e.Product, e.Tests}] == nil:
		return nil, l.lacks(e)
	}
	return f, f.toolchain.serves(l.trees[revisions{e.Product, e.Tests}].tree)
}

// perform builds and runs, and tells left which share of the runs there is to do. A result is final if running it again could not be better: nothing but the code decided it.
func (l *Lab) perform(ctx context.Context, in *place, f *failure, e abi.Experiment, left func(float64)) (r abi.ExperimentResult, known *varying, final bool, err error) {
	t := l.tally(ctx, in, f, e, false)
	if in.absent {
		r, final = t.end(errNoTests)
		return r, nil, final, nil
	}
	run, err := l.program(ctx, in, f, e)
	if unmade := in.workspace.unmade.Load(); unmade != nil {
		t.loaded = loaded{abi.NotCertified, *unmade}
	}
	if len(l.config.Left) > 0 && e.Product != abi.Head {
		t.loaded = t.loaded.worse(loaded{abi.NotCertified, "the command had " + strings.Join(l.config.Left, " ") + ", and the runs were made without"})
	}
	for err == nil && t.runs < e.Runs && !t.decided() {
		var r *testRun
		r, err = l.once(ctx, in, run, f, e)
		if err == nil {
			t.add(r)
			left(1 - float64(t.runs)/float64(e.Runs))
		}
	}
	if err := ctx.Err(); err != nil {
		return abi.ExperimentResult{}, nil, false, err
	}
	r, final = t.end(err)
	return r, t.varying, final, nil
}

// once makes one run of an experiment.
func (l *Lab) once(ctx context.Context, in *place, run program, f *failure, e abi.Experiment) (r *testRun, err error) {
	native := l.native(e)
	env := environment{
		Native: native, Without: l.config.Without, Named: f.named, Clean: e.Environment == abi.CleanEnvironment, Starve: e.Environment == abi.StarvedEnvironment,
		Order: e.Order == abi.OriginalOrder, Network: l.config.Network || native, Home: l.config.Home || native, Rows: e.Tests == abi.Base, Compared: compared(&e) && e.Order == abi.Alone, Limits: isolate.Limits{Time: runLimit(f, e)},
	}
	c, recorded := in.cellOf(f, e), &in.workspace.runs
	n := recorded.next(c, f.fingerprint)
	first := n == 0 && e.Order == abi.Alone && e.Environment == abi.OriginalEnvironment && (compared(&e) || odds.IsRerun(&e))
	if env.Trace, env.Compared = first && !native, env.Compared || first; env.Trace {
		env.Limits.Time *= 2 // each call takes longer
	}
	if !f.goTest.builds && !recorded.has(c, n) {
		if err := l.wait(ctx, in, c, e.Runs); err != nil {
			return nil, err
		}
	}
	err = l.step(ctx, f, e, func() (err error) {
		again, made := recorded.take(ctx, c, n)
		if again != nil {
			env.Again = again
			r, err = run(ctx, f, env)
			return err
		}
		l.begin(in, c)
		if r, err = l.run(ctx, in.workspace, run, f, env); err != nil {
			made(nil)
			return err
		}
		made(r.Recording)
		return nil
	})
	if err == nil {
		l.note(r, missed{in.workspace, in.cellOf(f, abi.Experiment{Order: abi.Alone}).tests}, first)
	}
	return r, err
}

// native says whether the tests of an experiment run outside of the laboratory.
func (l *Lab) native(e abi.Experiment) bool {
	return l.config.Native && e.Environment != abi.CleanEnvironment
}

// missed names the runs of a test in a tree.
type missed struct {
	in    *workspace
	tests string
}

// note keeps what the first run of a test alone lacked, which all runs of it lack: those with other tests around it are not asked what they look for.
func (l *Lab) note(r *testRun, of missed, first bool) {
	if first && (r.Result.Asked != nil || r.Lacks != "") {
		l.missed.Store(of, r.Lacks)
	}
	lacks, traced := l.missed.Load(of)
	if known, _ := lacks.(string); r.Lacks == "" {
		r.Lacks = known
	}
	r.Traced = traced
}

// cellOf names the tests of which all runs are of one kind.
func (p *place) cellOf(f *failure, e abi.Experiment) cell {
	c := cell{f.fingerprint, e.Environment, e.Order}
	if f.project != nil && f.project.whole != nil && e.Order == abi.OriginalOrder {
		c.tests = "all " + strings.Join(f.named, "\x00")
	}
	if f.goTest.module == "" || f.goTest.builds || p.needed != nil {
		return c
	}
	if c.tests = f.unit + " " + strings.Join(f.named, "\x00"); e.Order == abi.Alone {
		top, _, _ := strings.Cut(f.name, "/")
		c.tests += " " + top
	}
	return c
}

// tally begins to count the runs of an experiment. loose is for searches, which compare failures without numbers and places.
func (l *Lab) tally(ctx context.Context, in *place, f *failure, e abi.Experiment, loose bool) *tally {
	moved := l.moves(ctx, in.workspace, f, e)
	look := func(d []abi.Document) looks { return looksOf(f.group, d, moved, in.workspace.source(), l.top) }
	t := &tally{
		result: abi.ExperimentResult{Experiment: e, Test: in.test}, online: l.config.Network || l.native(e), homeless: l.hidesHome(), native: l.native(e), hidden: f.hidden, loose: loose,
		looks: f.looks, look: look, varying: l.varyingOf(f, e), also: f.also,
		logs: l.logs(ctx, in.workspace), absence: func() string { return l.absence(ctx, f) },
	}
	if loose { // runs of one call alone
		t.looks, t.varying, t.look = f.looks.loose(), &varying{}, func(d []abi.Document) looks { return look(d).loose() }
	}
	return t
}

// varyingOf is what differs among failures of the tree under test, for the experiments after their first step.
func (l *Lab) varyingOf(f *failure, e abi.Experiment) *varying {
	known, _ := l.varying.Load(f.fingerprint)
	if v, ok := known.(*varying); ok && (!odds.IsRerun(&e) || !plan.IsFirst(e)) {
		return v
	}
	return &varying{}
}

// program builds what runs the test: in a mixture with what the failing test needs of the tests beside it, or with all of them if that
// does not build; in the base with all of them, or with what it needs.
func (l *Lab) program(ctx context.Context, in *place, f *failure, e abi.Experiment) (run program, err error) {
	parts := []replaced{nil}
	switch {
	case in.needed != nil:
		parts = []replaced{in.needed, nil}
	case in.alone != nil:
		parts = []replaced{nil, in.alone}
	}
	for i, only := range parts {
		stepErr := l.step(ctx, f, e, func() (err error) {
			run, err = l.build(ctx, in.workspace, f, only)
			return err
		})
		if _, failed := errors.AsType[*buildError](stepErr); !failed {
			return run, stepErr
		} else if i == 0 || in.alone == nil {
			err = stepErr
		}
	}
	return run, err
}

// step takes a turn for one build or run, so that those of other cases come between the runs of an experiment.
func (l *Lab) step(ctx context.Context, f *failure, e abi.Experiment, do func() error) error {
	end, err := l.account.turn(ctx, f, e)
	if err != nil {
		return err
	}
	defer end()
	return do()
}

// The limits of a run's time: a multiple of what the test took when it failed, within these bounds.
const (
	elapsedFactor = 3
	leastLimit    = 20 * time.Second
	othersLimit   = time.Minute // at least, where tests run beside this one whose time is not known
)

func runLimit(f *failure, e abi.Experiment) time.Duration {
	limit, least := elapsedFactor*min(f.elapsed, plan.MostRun), leastLimit+elapsedFactor*f.toolchain.about().pace.Start
	if e.Order == abi.OriginalOrder || strings.Contains(f.name, "/") {
		least = othersLimit
	}
	if e.Order == abi.OriginalOrder {
		limit = max(limit*plan.PackageFactor, elapsedFactor*f.toolchain.about().pace.Around)
	}
	if e.Environment == abi.StarvedEnvironment {
		limit *= plan.StarvedFactor
	}
	return min(max(limit, least), plan.MostRun)
}

// DefaultApart is how long the runs of a step take at least.
const DefaultApart = 2 * time.Second

// Runs of one test in one tree are spread over several seconds, since tests that draw by the time in seconds end alike within one: five such runs
// would be one.
const (
	apart = time.Second           // at most, between two runs
	look  = 20 * time.Millisecond // between two looks at the clock
)

// begun names runs of a cell in a tree.
type begun struct {
	cell
	in *workspace
}

// wait waits until the next run of an experiment may begin. Other trials have their turns meanwhile. Its error is that of the context.
func (l *Lab) wait(ctx context.Context, in *place, c cell, runs int) error {
	last, ok := l.begun.Load(begun{c, in.workspace})
	at, _ := last.(time.Time)
	if !ok || l.config.Apart < 0 {
		return ctx.Err()
	}
	due := nextRun(at, l.config.Apart, runs)
	for range apart / look { // a clock may stand still
		if !l.config.Now().Before(due) {
			break
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(look):
		}
	}
	return nil
}

// nextRun is when the next of the runs of a step may begin, if the last one began at this time.
func nextRun(at time.Time, all time.Duration, runs int) time.Time {
	if gap := all / time.Duration(max(runs-1, 1)); gap < apart {
		return at.Add(gap)
	}
	return at.Truncate(apart).Add(apart)
}

// begin notes that a run begins.
func (l *Lab) begin(in *place, c cell) {
	l.begun.Store(begun{c, in.workspace}, l.config.Now())
}

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
	t := l.tally(ctx, in, f, e, true)
	for err == nil && t.runs < e.Runs {
		var r *testRun
		if r, err = l.once(ctx, in, run, f, e); err == nil {
			s.Runs = append(s.Runs, t.observe(r))
		}
	}
	s.end(t, err)
	return s, ctx.Err()
}

// end takes what all runs have shown together, or what kept them from being made.
func (s *Sample) end(t *tally, err error) {
	s.Failed = t.first
	t.compare()
	s.Loaded = t.loaded.code
	failures := t.failures
	for i := range s.Runs {
		if o := &s.Runs[i].Outcome; *o == abi.OutcomeSame || *o == abi.OutcomeOther {
			if *o = abi.OutcomeSame; t.differs(&failures[0]) != "" {
				*o = abi.OutcomeOther
			}
			failures = failures[1:]
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
func (t *tally) observe(r *testRun) Observation {
	before, failures, absent := t.result, len(t.failures), t.absent
	t.add(r)
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
		o.Look = t.failures[failures].digest()[:16]
	}
	return o
}

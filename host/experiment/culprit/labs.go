package culprit

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/experiment"
)

// labs are the laboratories that are open, the one that was used last at the end.
type labs struct {
	line *Line
	open []labOf
}

// labOf is the laboratory of a commit. mixed: it has the tests of head with the product of the commit.
type labOf struct {
	commit int
	mixed  bool
	lab    *experiment.Lab
}

// of gives a laboratory, and how long it took to open it.
func (o *labs) of(ctx context.Context, commit int, mixed bool) (*experiment.Lab, time.Duration, error) {
	i := slices.IndexFunc(o.open, func(l labOf) bool { return l.commit == commit && l.mixed == mixed })
	if i >= 0 {
		used := o.open[i]
		o.open = append(slices.Delete(o.open, i, i+1), used)
		return used.lab, 0, nil
	}
	if err := o.close(o.line.config.Open - 1); err != nil {
		return nil, 0, err
	}
	config := o.line.config.Lab
	config.Source, config.Commit, config.Base, config.Mode = o.line.config.Source, o.line.id(commit), "", experiment.Reruns
	if mixed {
		config.Commit, config.Base, config.Mode = o.line.head, o.line.id(commit), experiment.All
	}
	now := config.Now
	if now == nil {
		now = time.Now //nolint:forbidigo // the default of an injected clock
	}
	began := now()
	lab, err := experiment.Open(ctx, config)
	if err != nil {
		return nil, 0, err
	}
	o.open = append(o.open, labOf{commit, mixed, lab})
	return lab, now().Sub(began), nil
}

// close closes the laboratories that were not used for longest, until a number are left.
func (o *labs) close(left int) error {
	var err error
	for len(o.open) > left {
		err = errors.Join(err, o.open[0].lab.Close())
		o.open = o.open[1:]
	}
	return err
}

// id is the id of a commit by its number in a search.
func (l *Line) id(commit int) string {
	if commit == 0 {
		return l.base
	}
	return l.commits[commit-1].ID
}

// Runner runs the failing test of a case at the commits. Where a commit lacks the test, it runs the product of the commit with the tests of
// head. Only runs that pass, or fail as the case did, tell something.
func (l *Line) Runner(c *abi.Case) Runner { return l.runner(c) }

func (l *Line) runner(c *abi.Case) *runner {
	r := &runner{line: l, subject: c, lacks: make([]bool, len(l.commits)+1)}
	for i := range l.commits { // head has its own tests in any case
		r.lacks[i] = l.config.HeadTests
	}
	return r
}

type runner struct {
	line    *Line
	subject *abi.Case
	lacks   []bool // the commit has no such test, or that of head is meant
	brought bool   // a commit without the test has no failure
}

// Run implements [Runner].
func (r *runner) Run(ctx context.Context, commit, runs int) (Runs, error) {
	var out Runs
	if !r.lacks[commit] {
		s, err := r.sample(ctx, commit, false, runs, &out)
		if err != nil || out.Failed+out.Passed > 0 || !absent(&s) || commit == len(r.line.commits) {
			return out, err
		}
		r.lacks[commit] = true
	}
	if r.brought {
		return Runs{Count: Count{Passed: runs}, Known: true}, nil
	}
	_, err := r.sample(ctx, commit, true, runs, &out)
	return out, err
}

// mostRuns is the most runs of one experiment.
const mostRuns = 100

// sample adds runs to out.
func (r *runner) sample(ctx context.Context, commit int, mixed bool, runs int, out *Runs) (experiment.Sample, error) {
	lab, opened, err := r.line.labs.of(ctx, commit, mixed)
	if err != nil {
		return experiment.Sample{}, err
	}
	e := abi.Experiment{Product: abi.Head, Tests: abi.Head, Environment: abi.OriginalEnvironment, Order: abi.Alone}
	if mixed {
		e.Product = abi.Base
	}
	out.Build += opened
	var s experiment.Sample
	for runs > 0 {
		e.Runs = min(runs, mostRuns)
		runs -= e.Runs
		s, err = lab.Sample(ctx, r.subject, e)
		if err != nil {
			return s, err
		}
		out.Build += s.Build
		add(&s, out)
		if s.Outcome != "" {
			break
		}
	}
	return s, nil
}

// add counts what tells something. Another failure may hide the one that is looked for, so it tells nothing.
func add(s *experiment.Sample, out *Runs) {
	for _, o := range s.Runs {
		out.Time += o.Wall
		switch o.Outcome {
		case abi.OutcomePassed:
			out.Passed++
		case abi.OutcomeSame:
			out.Failed++
		default: // Why says it
		}
	}
	out.Why = ""
	if out.Failed+out.Passed == 0 {
		out.Why = Why(s)
	}
}

// Why says why a sample tells nothing of the failure that is looked for.
func Why(s *experiment.Sample) string {
	switch s.Outcome {
	case abi.OutcomeNotBuilt:
		return "it does not build: " + s.Detail
	case abi.OutcomeNoTest:
		return "it has no such test"
	default:
	}
	for _, o := range s.Runs {
		switch o.Outcome {
		case abi.OutcomeOther:
			return cmp.Or(s.Detail, "it fails in another way")
		case abi.OutcomeNoTest:
			return cmp.Or(s.Detail, "it has no such test")
		default:
		}
	}
	return cmp.Or(s.Detail, "a run told nothing")
}

// absent says whether a commit may lack the test: a runner that finds no file of it says no more than that it was not run.
func absent(s *experiment.Sample) bool {
	if len(s.Runs) == 0 {
		return s.Outcome == abi.OutcomeNoTest || s.Outcome == abi.OutcomeNotRun
	}
	return slices.ContainsFunc(s.Runs, func(o experiment.Observation) bool { return o.Outcome == abi.OutcomeNoTest })
}

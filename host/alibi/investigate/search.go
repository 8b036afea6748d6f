package investigate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/alibi"
	"github.com/shadowcourt/shadowcourt/host/docket/junit"
	"github.com/shadowcourt/shadowcourt/host/experiment"
	"github.com/shadowcourt/shadowcourt/host/experiment/culprit"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// Search says which test is searched for, and in which commits. Now is required.
type Search struct {
	Test string // its name, see [experiment.Lab.Named]
	// Source is a folder of the project in its git repository.
	Source string
	// Since is a revision at which the test passed, and Until one at which it fails. Empty: it is the working tree.
	Since, Until string
	// Lab are the limits of runs; its Budget is that of the whole search.
	Lab experiment.Config
	Now func() time.Time
}

// The runs of the last commit until one fails: so many at first, then in steps. Of a test that fails in 3 of 100 runs, as many as mostFirst show
// it with 95%.
const (
	firstRuns = 5
	moreRuns  = 20
	mostFirst = 100
)

// Find sees the test fail at the last commit, and finds the commit that it began to fail with. progress may be nil. Errors: ErrNoCommits,
// ErrNothingRuns, [experiment.ErrName], and that of the context.
func (s *Search) Find(ctx context.Context, progress func(Step)) (_ *alibi.Beginning, err error) {
	began := s.Now()
	config := s.Lab
	config.Progress = nil // the search tells its steps
	line, err := culprit.OpenLine(ctx, culprit.LineConfig{Source: s.Source, Base: s.Since, Head: s.Until, Lab: config})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoCommits, err)
	}
	defer func() { err = errors.Join(err, line.Close()) }()
	lab, err := line.Head(ctx)
	if err != nil {
		return nil, err
	}
	if why := lab.Why(nil); why != "" {
		return nil, fmt.Errorf("%w: %s", ErrNothingRuns, why)
	}
	subject, err := lab.Named(ctx, s.Test)
	if err != nil {
		return nil, err
	}
	list := line.Commits()
	b := &alibi.Beginning{
		ID: subject.ID, Group: subject.Group, Test: alibi.NameOf(subject.ID, subject.Group), Since: line.Base(), Until: list[len(list)-1].ID, Commits: len(list), Ending: alibi.Passes,
	}
	defer func() { b.Seconds = s.Now().Sub(began).Round(time.Millisecond).Seconds() }()
	t := teller{line, progress}
	if err := s.witness(ctx, lab, subject, b, t); err != nil || b.After.Failed == 0 {
		return b, err
	}
	r, err := line.Find(ctx, subject, culprit.Options{
		Head: culprit.Count{Failed: b.After.Failed, Passed: b.After.Passed}, Time: max(s.Lab.Budget-s.Now().Sub(began), 1), Progress: t.tell,
	})
	if err != nil {
		return nil, err
	}
	b.Message = (&trial.Trial{Case: *subject}).Message()
	conclude(ctx, b, &r, line, subject)
	return b, nil
}

// witness runs the test at the last commit until it fails. The case gets the documents of that failure.
func (s *Search) witness(ctx context.Context, lab *experiment.Lab, subject *abi.Case, b *alibi.Beginning, t teller) error {
	e := abi.Experiment{Product: abi.Head, Tests: abi.Head, Environment: abi.OriginalEnvironment, Order: abi.Alone, Runs: firstRuns}
	for made := 0; made < mostFirst && b.After.Failed == 0; made, e.Runs = made+e.Runs, min(moreRuns, mostFirst-made-e.Runs) {
		t.tell(culprit.Progress{Commit: b.Commits, Runs: e.Runs})
		sample, err := lab.Sample(ctx, subject, e)
		if err != nil {
			return err
		}
		look, told := "", 0
		for i := range sample.Runs {
			switch o := &sample.Runs[i]; {
			case o.Outcome == abi.OutcomePassed:
				b.After.Passed++
			case o.Outcome == abi.OutcomeNoTest:
				return s.notFound()
			case o.Look != "" && (look == "" || o.Look == look):
				look = o.Look
				b.After.Failed++
			default:
				continue
			}
			told++
		}
		if look != "" && endsWithout(b.Test, sample.Failed) {
			return s.notFound()
		}
		if b.Runs += told; look != "" {
			*subject = junit.Failing(b.Group, b.Test, sample.Failed)
		}
		if told == 0 {
			if b.Ending, b.Why = alibi.NotRun, shorten(culprit.Why(&sample)); b.After.Passed > 0 {
				b.Ending = alibi.Passes
			}
			return nil
		}
	}
	return nil
}

func (s *Search) notFound() error {
	return fmt.Errorf("%w %.200q: its runner finds no test of this name", experiment.ErrName, s.Test)
}

// endsWithout says whether the test of Go that a subtest would be part of failed, and never came to it.
func endsWithout(subtest string, failed []abi.Document) bool {
	test, _, is := strings.Cut(subtest, "/")
	has := func(text string) bool {
		return slices.ContainsFunc(failed, func(d abi.Document) bool { return strings.Contains(d.Text, text) })
	}
	return is && has("--- FAIL: "+test+" (") && !has(subtest)
}

// conclude says what a search came to.
func conclude(ctx context.Context, b *alibi.Beginning, r *culprit.Result, line *culprit.Line, subject *abi.Case) {
	b.Before, b.After = tally(r.Counts[0]), tally(r.Counts[b.Commits])
	for _, n := range r.Runs {
		b.Runs += n
	}
	switch r.Ending {
	case culprit.Before, culprit.None:
		b.Ending = alibi.Before
		return
	case culprit.Found:
		b.Ending = alibi.Found
	case culprit.OutOfBudget:
		b.Ending, b.Why = alibi.Undecided, "the budget is used up"
	case culprit.Undecided:
		b.Ending, b.Why = alibi.Undecided, "no run tells more"
	}
	if b.Culprit = culpritOf(r, line); b.Culprit == nil {
		b.Ending = alibi.Undecided
		return
	}
	b.Culprit.Hunk = hunkOf(ctx, line, subject, r.Suspects.Last-1)
}

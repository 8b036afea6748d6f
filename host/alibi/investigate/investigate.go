// Package investigate opens what it takes to say of failing tests whether a change made them fail: its revisions, a laboratory, the court of
// [alibi], and the search for the commit.
package investigate

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/alibi"
	"github.com/shadowcourt/shadowcourt/host/experiment"
	"github.com/shadowcourt/shadowcourt/host/experiment/culprit"
	"github.com/shadowcourt/shadowcourt/repo"
)

// Config says what is investigated. Change and Now are required.
type Config struct {
	Change Change
	// Lab are the limits of runs. What the change says is set here, and the mode.
	Lab experiment.Config
	// Host is what the court is opened on, as for [alibi.Open]; the laboratory is set here.
	Host     host.Config
	MaxFalse float64 // as for [alibi.NewLight]
	// Culprit prepares [Investigation.Find].
	Culprit bool
	// Open opens the court. Default: [alibi.Open].
	Open func(ctx context.Context, config host.Config, maxFalse float64) (*alibi.Court, error)
	// Now is a clock.
	Now func() time.Time
}

// Errors of Open, beside those of the laboratory and of the court.
var (
	ErrNothingRuns = errors.New("nothing can be run")
	ErrNoCommits   = errors.New("culprit")
	ErrUnchanged   = errors.New("this tree is the same as the base")
)

// Investigation is one of a change. Its Court may be asked by several goroutines at once, as it says; Find may not.
type Investigation struct {
	Court *alibi.Court
	// Lacking says in a line why the target or the merge is not run; empty where all revisions are.
	Lacking string

	perCase time.Duration
	lab     *experiment.Lab
	clock   *stopwatch
	line    *culprit.Line // nil where no commit is looked for
}

// Open reads the trees of a change and opens the court. The caller closes the Investigation.
func Open(ctx context.Context, c Config) (_ *Investigation, err error) {
	c.Lab.Source, c.Lab.Base, c.Lab.Target, c.Lab.Mode = c.Change.Source, c.Change.Base.Commit, c.Change.Target, experiment.All
	i := &Investigation{perCase: c.Lab.PerCase}
	defer func() {
		if err != nil {
			_ = i.Close(ctx)
		}
	}()
	if i.lab, err = experiment.Open(ctx, c.Lab); err != nil {
		return nil, err
	}
	if i.Lacking = i.lab.Why(nil); !i.lab.Compares() {
		return nil, fmt.Errorf("%w: %s", ErrNothingRuns, i.Lacking)
	}
	if i.lab.Unchanged() {
		return nil, fmt.Errorf("%w, %.12s (%s): name the revision before the change", ErrUnchanged, c.Change.Base.Commit, c.Change.Base.Why)
	}
	i.clock = newStopwatch(c.Now)
	c.Host.Experiments = i.lab
	if c.Open == nil {
		c.Open = alibi.Open
	}
	if i.Court, err = c.Open(ctx, c.Host, c.MaxFalse); err != nil {
		return nil, err
	}
	if c.Culprit {
		c.Lab.Progress = nil // the search tells its steps
		if i.line, err = culprit.OpenLine(ctx, culprit.LineConfig{Source: c.Change.Source, Base: c.Change.Base.Commit, Lab: c.Lab}); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrNoCommits, err)
		}
	}
	return i, nil
}

// Took is how long the builds and runs of a case took, and the search for its commit.
func (i *Investigation) Took(c *abi.Case) time.Duration { return i.lab.Spent(c) + i.clock.of(c.ID) }

// Close ends the court and the laboratories, and removes what they left.
func (i *Investigation) Close(ctx context.Context) error {
	var faults []error
	if i.line != nil {
		faults = append(faults, i.line.Close())
	}
	if i.Court != nil {
		faults = append(faults, i.Court.Close(context.WithoutCancel(ctx)))
	}
	if i.lab != nil {
		faults = append(faults, i.lab.Close())
	}
	return errors.Join(faults...)
}

// Change is what may have made tests fail.
type Change struct {
	Source     string // folder of the project in its git repository
	Repository *repo.Repository
	Head       string // commit of HEAD; the tree under test may have further changes
	Base       repo.Base
	Target     string // commit that the change will be merged into; empty for none
}

// AutoBase is the revision of a base that [repo.Repository.FindBase] finds.
const AutoBase = "auto"

// FindChange resolves the revisions of a change. A base that HEAD does not contain, such as a branch that went on, stands for the merge base with
// it. target may be empty; variable gives the value of an environment variable.
// Errors begin with what they are about: source, base or target.
func FindChange(ctx context.Context, dir, base, target string, variable func(string) string) (Change, error) {
	c := Change{Source: dir}
	var err error
	if c.Repository, err = repo.Open(ctx, dir); err != nil {
		return c, err
	}
	if c.Head, err = c.Repository.Commit(ctx, "HEAD"); err != nil {
		return c, fmt.Errorf("source: %w", err)
	}
	if base == AutoBase {
		c.Base, err = c.Repository.FindBase(ctx, variable)
		if err != nil {
			return c, fmt.Errorf("base %s: %w", AutoBase, err)
		}
	} else if c.Base, err = c.Repository.BaseOf(ctx, base); err != nil {
		return c, fmt.Errorf("base: %w", err)
	}
	if target != "" {
		if c.Target, err = c.Repository.Commit(ctx, target); err != nil {
			return c, fmt.Errorf("target: %w", err)
		}
	}
	return c, nil
}

// Order finds the tests after which the failing test of a case fails, where its runs show that it passes alone, and adds them to the answer.
// The error is that of the laboratory or the context.
func (i *Investigation) Order(ctx context.Context, c *abi.Case, a *alibi.Answer) error {
	if !a.DependsOnOrder() {
		return nil
	}
	tests, err := i.lab.Polluters(ctx, c)
	a.FailsAfter(tests[:min(len(tests), alibi.MostAfter)])
	return err
}

// stopwatch adds up how long the searches for each case took.
type stopwatch struct {
	now func() time.Time

	mu    sync.Mutex
	spent map[string]time.Duration
}

func newStopwatch(now func() time.Time) *stopwatch {
	return &stopwatch{now: now, spent: map[string]time.Duration{}}
}

// measure begins to measure something for a case; the function that it returns ends that.
func (s *stopwatch) measure(id string) func() {
	began := s.now()
	return func() {
		took := s.now().Sub(began)
		s.mu.Lock()
		s.spent[id] += took
		s.mu.Unlock()
	}
}

func (s *stopwatch) of(id string) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.spent[id]
}

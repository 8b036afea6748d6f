// Package investigate opens what it takes to say of failing tests whether a change made them fail: its revisions, a laboratory, the court of
// [alibi], and the search for the commit.
package investigate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/alibi"
	"github.com/shadowcourt/shadowcourt/host/experiment"
	"github.com/shadowcourt/shadowcourt/host/experiment/culprit/commits"
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
	line    *commits.Line // nil where no commit is looked for
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
		if i.line, err = commits.Open(ctx, commits.Config{Source: c.Change.Source, Base: c.Change.Base.Commit, Lab: c.Lab}); err != nil {
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

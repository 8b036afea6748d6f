package mine

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/experiment"
	"github.com/shadowcourt/shadowcourt/host/lab/internal/history"
)

func (m *Miner) sampler(c *history.Case, subject *abi.Case) *sampler {
	return &sampler{miner: m, subject: subject, labs: map[bool]*experiment.Lab{}, c: c}
}

// sampler runs the cells of one case: in a lab of head and base, and in one of merge and target.
type sampler struct {
	miner   *Miner
	c       *history.Case
	subject *abi.Case
	labs    map[bool]*experiment.Lab
	undo    func() error // what was planted; nil for nothing
	flags   []string     // of builds of Go, beside the usual ones
}

func (s *sampler) lab(ctx context.Context, merged bool) (*experiment.Lab, error) {
	if l := s.labs[merged]; l != nil {
		return l, nil
	}
	tree, green := s.c.Trees[history.Head], s.c.Trees[history.Base].Commit
	if merged {
		tree, green = s.c.Trees[history.Merge], s.c.Trees[history.Target].Commit
	}
	// What is installed for the tree under test stays beside the checkout, where the lab finds it.
	folder, err := s.miner.checkout(ctx, &tree)
	if err != nil {
		return nil, err
	}
	if p, ok := s.miner.suite.(*pySuite); ok && slices.Contains(s.c.Traps, history.LoadsHead) {
		if s.undo, err = p.plantCode(folder); err != nil {
			return nil, err
		}
	}
	runner, err := experiment.LoadDefinition(s.miner.suite.name())
	if err != nil {
		return nil, err
	}
	config := experiment.Config{
		Source: folder, Commit: tree.Commit, Base: green, Mode: experiment.All, Budget: time.Hour, PerCase: time.Hour, Runners: []*experiment.Definition{runner},
	}
	if s.miner.suite.name() == "go" {
		config.Flags = append([]string{"-trimpath", "-ldflags=-w"}, s.flags...) // trees in other folders share what was compiled, and are linked fast
	}
	l, err := experiment.Open(ctx, config)
	if err == nil {
		s.labs[merged] = l
	}
	return l, err
}

func (s *sampler) close() error {
	var err error
	for _, l := range s.labs {
		err = errors.Join(err, l.Close())
	}
	if s.undo != nil {
		err = errors.Join(err, s.undo())
	}
	return err
}

func revisionOf(r history.Role) abi.TreeRevision {
	if r == history.Head || r == history.Merge {
		return abi.Head
	}
	return abi.Base
}

// draw samples a cell, in the environment that the case has.
func (s *sampler) draw(ctx context.Context, lab *experiment.Lab, e abi.Experiment) (sample experiment.Sample, err error) {
	if e.Environment == history.Restored {
		e.Environment = abi.OriginalEnvironment
		return lab.Sample(ctx, s.subject, e)
	}
	if !s.c.Environment.Lasting {
		return lab.Sample(ctx, s.subject, e)
	}
	once := e
	once.Runs = 0
	built, err := lab.Sample(ctx, s.subject, once) // built where nothing is amiss
	if err != nil {
		return built, err
	}
	undo, err := breakEnvironment(s.c.Environment.Name)
	if err != nil {
		return built, err
	}
	defer func() { err = errors.Join(err, undo()) }()
	sample, err = lab.Sample(ctx, s.subject, e)
	sample.Build = built.Build
	return sample, err
}

// seconds are seconds to a thousandth.
func seconds(d time.Duration) float64 {
	return float64(d.Round(time.Millisecond)) / float64(time.Second)
}

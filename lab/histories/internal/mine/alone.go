package mine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/lab/internal/history"
)

// aloneRuns is how often a test runs in each cell when it is timed.
const aloneRuns = 3

// Alone runs the cells of one saved case again, while nothing else may run on the machine, and saves how long builds and runs take. Builds
// find their dependencies compiled, and the package under test not.
func (m *Miner) Alone(ctx context.Context, id string) (err error) {
	at := slices.IndexFunc(m.found.Cases, func(c history.Case) bool { return c.ID == id })
	if at < 0 {
		return fmt.Errorf("there is no case %s", id)
	}
	c := &m.found.Cases[at]
	entry, err := c.Failure.Entry()
	if err != nil {
		return err
	}
	sub := m.sampler(c, &entry.Case)
	sub.flags = []string{"-gcflags=-e"} // changes nothing in what is run, and the compiler does not find what earlier runs left
	defer func() { err = errors.Join(err, sub.close()) }()
	for i := range c.Cells {
		k := &c.Cells[i]
		if k.Runs == "" || k.Environment == history.Restored {
			continue
		}
		lab, err := sub.lab(ctx, k.Product == history.Merge || k.Product == history.Target)
		if err != nil {
			return err
		}
		sample, err := sub.draw(ctx, lab, abi.Experiment{
			Product: revisionOf(k.Product), Tests: revisionOf(k.Tests), Environment: k.Environment, Order: k.Order, Runs: min(aloneRuns, len(k.Runs)),
		})
		if err != nil {
			return err
		}
		var wall time.Duration
		for _, o := range sample.Runs {
			wall += o.Wall
		}
		k.Alone = history.Alone{Runs: len(sample.Runs), Build: seconds(sample.Build), Wall: seconds(wall)}
	}
	return history.Save(m.Saved, m.found)
}

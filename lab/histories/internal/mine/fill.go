package mine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/lab/histories/internal/history"
)

// fillTime is how long the runs of one cell may take when it is filled.
const fillTime = 90 * time.Second

// Fill runs those cells of the hard cases again that have fewer runs than they should, and saves them.
func (m *Miner) Fill(ctx context.Context) error {
	for i := range m.found.Cases {
		c := &m.found.Cases[i]
		if len(c.Traps) == 0 {
			continue
		}
		before := slices.Clone(c.Cells)
		began := time.Now()
		n, err := m.fill(ctx, c)
		if _, wrong := history.Derive(c); err != nil || wrong != nil {
			c.Cells = before // what was saved holds
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err = errors.Join(err, history.Save(m.Saved, m.found)); err != nil || n > 0 {
			fmt.Fprintf(m.Log, "%s: %d cells in %.0f s: %v\n", c.ID, n, time.Since(began).Seconds(), err)
		}
	}
	return nil
}

// fill runs the cells of one case that lack runs, and counts them.
func (m *Miner) fill(ctx context.Context, c *history.Case) (n int, err error) {
	// All that a case should have, beside the cells of which its truth follows.
	bare := *c
	bare.Cells = nil
	wanted := slices.DeleteFunc(othersOf(&bare), func(k cell) bool {
		have := c.Find(k.product, k.tests, k.environment, k.order)
		return have != nil && (have.Why != "" || len(have.Runs) >= k.runs || absentIn(have))
	})
	if len(wanted) == 0 {
		return 0, nil
	}
	entry, err := c.Failure.Entry()
	if err != nil {
		return 0, err
	}
	sub := m.sampler(c, &entry.Case)
	sub.cellTime = fillTime
	defer func() { err = errors.Join(err, sub.close()) }()
	for _, k := range wanted {
		c.Cells = slices.DeleteFunc(c.Cells, func(have history.Cell) bool {
			return have.Product == k.product && have.Tests == k.tests && have.Environment == k.environment && have.Order == k.order
		})
		if err := sub.run(ctx, k); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

func absentIn(k *history.Cell) bool {
	_, _, _, absent := k.Count(0)
	return absent > 0 || k.Why == abi.OutcomeNoTest
}

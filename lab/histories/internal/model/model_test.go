package model

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/lab/histories/internal/history"
)

// The probabilities of all sequences of some runs add up to 1, whatever the shape.
func TestSequencesAddUpToOne(t *testing.T) {
	t.Parallel()
	for _, s := range []Shape{{50, 0.05, 0.05}, {1.5, 0.5, 0.1}, {0.05, 5, 2}} {
		const n = 6
		sum := 0.0
		for passed := range n + 1 {
			for same := range n + 1 - passed {
				c := Counts{passed, same, n - passed - same}
				ways := math.Exp(logGamma(n+1) - logGamma(float64(c.Passed+1)) - logGamma(float64(c.Same+1)) - logGamma(float64(c.Other+1)))
				sum += ways * math.Exp(logMarginal(s, c))
			}
		}
		if math.Abs(sum-1) > 1e-9 {
			t.Errorf("%v: %v", s, sum)
		}
	}
}

func seen(head, base Counts) *Seen {
	cell := func(r history.Role, c Counts) Cell { return Cell{r, abi.OriginalEnvironment, abi.Alone, c} }
	return &Seen{Based: true, Cells: []Cell{cell(history.Head, head), cell(history.Base, base)}}
}

// More runs that fail on head alone never speak against the change.
func TestMoreOfTheSameMovesOneWay(t *testing.T) {
	t.Parallel()
	m, before := First(), 0.0
	for n := range 30 {
		p := m.Answers(seen(Counts{Same: n}, Counts{Passed: n}))[history.Caused]
		if p < before-1e-9 {
			t.Errorf("after %d runs %v, before %v", n, p, before)
		}
		before = p
	}
	if before < 0.99 {
		t.Errorf("after all runs it is only %v probable that the change did it", before)
	}
}

// A model that is learned from drawn cases answers further ones: those that it is sure of are right.
func TestLearnsFromDrawnCases(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	draw := func(rate float64) (c Counts) {
		for range 20 {
			if rng.Float64() < rate {
				c.Same++
			} else {
				c.Passed++
			}
		}
		return c
	}
	one := func() (Seen, history.Attribution) {
		rate := 0.1 + 0.6*rng.Float64()
		switch rng.IntN(5) {
		case 0:
			return *seen(draw(1), draw(0)), history.Caused
		case 1:
			return *seen(draw(1), draw(1)), history.Preexisting
		case 2:
			return *seen(draw(rate), draw(rate)), history.ByChance
		case 3:
			return *seen(draw(rate), draw(0)), history.Caused
		}
		return *seen(draw(0), draw(0)), history.Surroundings
	}
	var cases []Seen
	var truths []history.Attribution
	for range 200 {
		s, truth := one()
		cases, truths = append(cases, s), append(truths, truth)
	}
	m := Learn(cases, truths)
	sure, wrong, alibis := 0, 0, 0
	for range 500 {
		s, truth := one()
		for a, p := range m.Answers(&s) {
			if p > 0.95 {
				sure++
				if a != truth {
					wrong++
				}
			}
		}
		if m.Answers(&s)[history.Caused] < 0.01 && truth == history.Caused {
			alibis++
		}
	}
	if sure < 350 || wrong > sure/20 || alibis > 3 {
		t.Errorf("sure %d of 500, %d of them wrong, %d false alibis", sure, wrong, alibis)
	}
}

package mine

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/shadowcourt/shadowcourt/host/lab/internal/history"
	"github.com/shadowcourt/shadowcourt/host/lab/internal/mutate"
)

const (
	// mostChances is how many places are looked at on one change for a test that depends on them.
	mostChances = 6
	// sureRate is the percentage at which it is looked for, and triedRate the one at which its rate is measured.
	sureRate, triedRate = 95, 10
	// measured is how often the test runs for that.
	measured = 40
	// mostRare is how often a rare flake fails at most.
	mostRare = 0.3
	// mostRuns is the most that a test runs in a cell.
	mostRuns = 500
)

// plantChance plants mistakes that happen by chance: on head alone, more often on head, and as often on both.
func (m *Miner) plantChance(ctx context.Context, p *pair) error {
	rng := drawn(p.id + chance)
	lucks := mutate.Lucks()
	luck := lucks[rng.IntN(len(lucks))]
	list, err := m.places(ctx, p, chanceAt(history.Plant{Name: chance}, luck, sureRate))
	if err != nil {
		return err
	}
	for _, plant := range list[:min(mostChances, len(list))] {
		head := with(p.head, plant)
		failures, _, err := m.fails(ctx, p, &head)
		if err != nil {
			return err
		}
		if len(failures) == 0 {
			continue
		}
		f := failures[rng.IntN(len(failures))]
		wants := []wanted{withChance, worse, rare}
		for _, i := range rng.Perm(len(wants)) {
			w := wants[i]
			if !m.lacks(w) {
				continue
			}
			if kept, err := m.chanceOf(ctx, p, w, plant, luck, f, rng); kept || err != nil {
				return err // a change has one: cases shall differ
			}
		}
	}
	return nil
}

// chanceAt sets luck and percentage, by a random number where the order of a map is too coarse.
func chanceAt(p history.Plant, luck mutate.Luck, percent int) history.Plant {
	if luck == mutate.ByMap && percent < 9 {
		luck = mutate.ByNumber
	}
	p.Seed = uint64(100*int(luck) + percent)
	return p
}

// rates are how often a test shall fail, of base and of head, from one to another.
func rates(w wanted, rng *rand.Rand) (base, head float64) {
	between := func(from, to float64) float64 { return from + (to-from)*rng.Float64() }
	switch w {
	case worse:
		return between(0.03, 0.08), between(0.3, 0.45)
	case rare:
		r := between(0.04, 0.28)
		return r, r
	}
	return 0, []float64{between(0.03, 0.1), between(0.1, 0.25), between(0.25, 0.6)}[rng.IntN(3)]
}

// chanceOf makes a case of a test that depends on a place, with rates that are measured first.
func (m *Miner) chanceOf(ctx context.Context, p *pair, w wanted, plant history.Plant, luck mutate.Luck, f failure, rng *rand.Rand) (bool, error) {
	baseRate, headRate := rates(w, rng)
	percent := func(rate, often float64) int {
		return min(sureRate, max(1, int(math.Round(100*(1-math.Pow(1-rate, 1/often))))))
	}
	// How often the test comes by the place is what its rate at a known percentage tells.
	tried := with(p.head, chanceAt(plant, luck, triedRate))
	failed, _, err := m.measure(ctx, &tried, f, measured, measured)
	if err != nil {
		return false, err
	}
	often := math.Log(1-(float64(failed)+0.5)/(measured+1)) / math.Log(1-triedRate/100.0)
	if luck == mutate.ByRoutines {
		if w == worse {
			return false, nil
		}
		headRate, baseRate = float64(failed)/measured, float64(failed)/measured
	}
	if headRate < 0.03 || headRate > 0.7 {
		return false, nil
	}
	plantedHead := chanceAt(plant, luck, percent(headRate, often))
	base, head := p.base, with(p.head, plantedHead)
	switch w {
	case worse:
		base = with(p.base, chanceAt(plant, luck, percent(baseRate, often)))
	case rare:
		base = with(p.base, plantedHead)
	}
	n := max(measured, int(6/headRate))
	failed, report, err := m.measure(ctx, &head, f, n, n)
	if err != nil || failed == 0 {
		return false, err
	}
	if headRate = float64(failed) / float64(n); w == rare && headRate > mostRare {
		return false, nil
	}
	f.report = *report
	least := map[wanted]float64{withChance: 20, worse: 25, rare: 6}[w]
	return m.plant(ctx, w, f, base, head, min(mostRuns, max(manyRuns, int(least/headRate))))
}

// measure runs a test alone so often, or until it has failed so often, and gives how often it failed, and its last failure.
func (m *Miner) measure(ctx context.Context, t *history.Tree, f failure, runs, most int) (failed int, report *history.Report, err error) {
	for range runs {
		o, err := m.runUnit(ctx, t, f.unit, surroundings{only: f.report.Test})
		if err != nil || o.problem != "" {
			return failed, report, err
		}
		if r, ok := o.failed[f.report.Test]; ok {
			failed, report = failed+1, &r
			if failed == most {
				break
			}
		}
	}
	return failed, report, nil
}

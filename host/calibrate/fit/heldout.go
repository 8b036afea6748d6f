package fit

import (
	"context"
	"errors"
	"maps"
	"math"
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/odds"
)

const (
	// heldOutParts is how many parts of the cases are each left out once.
	heldOutParts = 5
	// mostHeldOut is how many cases are judged at most.
	mostHeldOut = 2000
)

// heldOut is how a profile does without truth: how well the other sources, weighed by a profile that was estimated on other
// cases, predict what a source says, beside the court without a profile.
type heldOut struct {
	// gain of log-likelihood a case over the court without a profile, and its standard error.
	gain, deviation float64
}

// statementOf is what a source that was left out says of a case, and what is expected by the others.
type statementOf struct {
	sample, source int
	weight         float64    // sources of one group share one case
	given          [2]float64 // P(the label is true that it names), with a profile and without
	overall        float64    // how often it names that label
}

// heldOut leaves out, in each part, one group of sources after the other.
func (c *corpus) heldOut(ctx context.Context, d *dependence, share []float64, workers int) (heldOut, error) {
	lists, faults := make([][]statementOf, heldOutParts), make([]error, heldOutParts)
	each(heldOutParts, workers, func(k int) { lists[k], faults[k] = c.heldOutPart(ctx, d, share, k) })
	return c.weighStatements(slices.Concat(lists...)), errors.Join(faults...)
}

func (c *corpus) heldOutPart(ctx context.Context, d *dependence, share []float64, part int) ([]statementOf, error) {
	var own, others []int
	for i := range c.samples {
		if c.samples[i].group%heldOutParts == part {
			own = append(own, i)
		} else {
			others = append(others, i)
		}
	}
	if len(own) > mostHeldOut/heldOutParts {
		own = own[:mostHeldOut/heldOutParts]
	}
	e := newEstimate(c, others, share)
	if err := e.run(ctx); err != nil {
		return nil, err
	}
	e.trust(d.group)
	models := [2]*Model{NewModel(e.profile("part")), NewModel(unlearned("none"))}
	var list []statementOf
	for _, i := range own {
		list = append(list, c.leaveOut(i, d, models)...)
	}
	return list, nil
}

// leaveOut predicts what each group says in a case by what the others say.
func (c *corpus) leaveOut(i int, d *dependence, models [2]*Model) []statementOf {
	s := &c.samples[i]
	named := s.named()
	var list []statementOf
	done := make(map[int]bool)
	for _, u := range named {
		g := d.group[u.source]
		if done[g] {
			continue
		}
		done[g] = true
		own := slices.DeleteFunc(slices.Clone(named), func(v utterance) bool { return d.group[v.source] != g })
		if len(own) == len(named) {
			continue // nobody else speaks
		}
		rest := c.without(i, d.group, g)
		var given [2][]float64
		for m := range models {
			given[m] = models[m].Posterior(&rest)
		}
		for _, v := range own {
			at := slices.Index(s.labels, v.says)
			list = append(list, statementOf{
				sample: i, source: v.source, weight: 1 / float64(len(own)), given: [2]float64{given[0][at], given[1][at]},
			})
		}
	}
	return list
}

// without is a case without the sources of a group.
func (c *corpus) without(i int, group []int, g int) abi.Case {
	rest := c.samples[i].entry.Case
	if group[0] == g {
		rest.Light = nil
	}
	rest.Evidence = slices.DeleteFunc(slices.Clone(rest.Evidence), func(item abi.Evidence) bool {
		s := slices.Index(c.sources[1:], odds.SourceKey(item.SourceRef))
		return s >= 0 && group[s+1] == g
	})
	return rest
}

// weighStatements compares the predictions. A source says what is true with some probability, which is found for each of the two
// by what fits best, and otherwise what it usually says.
func (c *corpus) weighStatements(list []statementOf) heldOut {
	said := make([][]float64, len(c.sources))
	for s := range said {
		said[s] = make([]float64, len(c.labels))
	}
	for i := range c.samples {
		for _, u := range c.samples[i].named() {
			said[u.source][u.says]++
		}
	}
	for s := range said {
		normalised(said[s])
	}
	bySource := make([][]*statementOf, len(c.sources))
	for i := range list {
		x := &list[i]
		for _, u := range c.samples[x.sample].named() {
			if u.source == x.source {
				x.overall = said[x.source][u.says]
			}
		}
		bySource[x.source] = append(bySource[x.source], x)
	}
	var losses [2][]float64
	for m := range losses {
		losses[m] = make([]float64, len(c.samples))
		for _, own := range bySource {
			follows := bestFollows(own, m)
			for _, x := range own {
				losses[m][x.sample] -= x.weight * math.Log(x.likelihood(m, follows))
			}
		}
	}
	judged := make(map[int]bool)
	for i := range list {
		judged[list[i].sample] = true
	}
	if len(judged) == 0 {
		return heldOut{}
	}
	gain, deviation := c.difference(losses[1], losses[0], slices.Sorted(maps.Keys(judged)))
	return heldOut{gain, deviation}
}

// likelihood of what is said by a source that follows the truth with a probability.
func (x *statementOf) likelihood(model int, follows float64) float64 {
	return follows*x.given[model] + (1-follows)*x.overall
}

// bestFollows is the probability with which a source follows the truth that fits best.
func bestFollows(own []*statementOf, model int) float64 {
	const steps = 50
	at, most := 0.0, math.Inf(-1)
	for step := range steps {
		follows, sum := float64(step)/steps, 0.0
		for _, x := range own {
			sum += x.weight * math.Log(x.likelihood(model, follows))
		}
		if sum > most {
			at, most = follows, sum
		}
	}
	return at
}

package fit

import (
	"context"
	"slices"
)

// blendPenalty draws the weights of the learners to equal ones, basePull the
// correction of their base rates to none.
const (
	blendPenalty = 5
	basePull     = 10
	evenRates    = 0
)

// crossed is what learners learned without each part of the cases.
type crossed struct {
	learners []learner
	use      []int
	part     []int // by sample
	k        int
	models   [][]*linear // by part, learner
	// nats by learner and sample: the log-odds of a case's labels by what was learned without its part
	nats [][][]float64
	// text is what of these nats texts tell, nil for learners that read none, and rest what everything else tells
	text, rest [][][]float64
}

// parts is how many parts cases are split into.
func parts(cases, groups int) int {
	k := 5
	if cases < 200 {
		k = 10
	}
	return min(k, groups)
}

func (c *corpus) cross(ctx context.Context, use []int, workers int, seed uint64) (*crossed, error) {
	k := parts(len(use), c.groups)
	x := &crossed{learners: learners(), use: use, k: k, part: c.folds(use, k, seed), models: make([][]*linear, k)}
	if len(c.phrases) == 0 {
		x.learners = x.learners[:fewText]
	}
	each(k, workers, func(f int) {
		train := x.without(f)
		known := newKnown(c, train)
		for _, l := range x.learners {
			if ctx.Err() != nil {
				return
			}
			x.models[f] = append(x.models[f], l.learn(c, train, known))
		}
	})
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	x.nats, x.text, x.rest = make([][][]float64, len(x.learners)), make([][][]float64, len(x.learners)), make([][][]float64, len(x.learners))
	each(len(x.learners), workers, func(l int) { c.foresee(x, l) })
	return x, nil
}

// foresee gives what a learner makes of each case by what it learned without its part.
func (c *corpus) foresee(x *crossed, l int) {
	x.nats[l] = make([][]float64, len(c.samples))
	for _, i := range x.use {
		if m := x.models[x.part[i]][l]; m != nil {
			x.nats[l][i] = m.nats(&c.samples[i])
		} else {
			x.nats[l][i] = unmeasured(&c.samples[i].entry.Case)
		}
	}
	x.rest[l] = x.nats[l]
	if !slices.ContainsFunc(x.models, func(of []*linear) bool { return of[l] != nil && len(of[l].text) > 0 }) {
		return
	}
	x.text[l], x.rest[l] = make([][]float64, len(c.samples)), make([][]float64, len(c.samples))
	for _, i := range x.use {
		s := &c.samples[i]
		x.text[l][i], x.rest[l][i] = make([]float64, len(s.labels)), slices.Clone(x.nats[l][i])
		x.models[x.part[i]][l].addText(x.text[l][i], s)
		addTo(x.rest[l][i], x.text[l][i], -1)
	}
}

// without gives the cases that are not in a part.
func (x *crossed) without(part int) []int {
	return slices.DeleteFunc(slices.Clone(x.use), func(i int) bool { return x.part[i] == part })
}

// final is what some learners learn from all cases; nil for the others.
func (x *crossed) final(c *corpus, of []int, workers int) []*linear {
	known := newKnown(c, x.use)
	out := make([]*linear, len(x.learners))
	each(len(of), workers, func(i int) { out[of[i]] = x.learners[of[i]].learn(c, x.use, known) })
	return out
}

// weights of a blend: one for each learner, and one more for each label.
type weights struct {
	learner []float64
	base    []float64
	// phrases are the learners' weights for what texts tell; nil where these are the same.
	phrases []float64
}

// blendWeights finds the weights by which the log-odds of a candidate's learners, each
// on cases that it hasn't seen, predict best; skip is a part that is left out,
// or -1. Weights below 0 are none: a learner is never believed in reverse.
func (c *corpus) blendWeights(x *crossed, by *candidate, skip int) weights {
	even := weights{learner: make([]float64, len(x.learners)), base: make([]float64, len(c.labels))}
	for _, l := range by.of {
		even.learner[l] = 1 / float64(len(by.of))
	}
	return c.solveBlend(x, by, skip, even, x.nats, nil)
}

// solveBlend draws the weights of given log-odds, by learner and sample, to others. What else is known of a case is given; nil for nothing.
func (c *corpus) solveBlend(x *crossed, by *candidate, skip int, centre weights, nats [][][]float64, given func(i int) []float64) weights {
	r := &regression{}
	first := r.parameters(len(by.of), blendPenalty)
	for i, l := range by.of {
		r.positive[i] = true
		r.centre[i] = centre.learner[l]
	}
	base := r.parameters(len(c.labels), by.base)
	copy(r.centre[base:], centre.base)
	for _, i := range x.use {
		if x.part[i] == skip {
			continue
		}
		s := &c.samples[i]
		w := row{labels: s.labels, truth: s.truth, weight: s.weight, sums: make([]scaled, 0, len(by.of))}
		if given != nil {
			w.offset = given(i)
		}
		if by.base != evenRates {
			w.class = []int32{base}
		}
		for at, l := range by.of {
			w.sums = append(w.sums, scaled{first + int32(at), nats[l][i]})
		}
		r.rows = append(r.rows, w)
	}
	v := r.solve()
	out := weights{learner: make([]float64, len(x.learners)), base: v[base:]}
	for at, l := range by.of {
		out.learner[l] = v[at]
	}
	return out
}

// blended is the log-odds of a sample's labels by the weights of a candidate's learners, from given log-odds by learner and sample.
func (c *corpus) blended(nats [][][]float64, by *candidate, w *weights, i int) []float64 {
	z := make([]float64, len(c.samples[i].labels))
	for j, l := range c.samples[i].labels {
		z[j] = w.base[l]
	}
	for _, l := range by.of {
		addTo(z, nats[l][i], w.learner[l])
	}
	return z
}

// mix is the weighted sum of models.
func (c *corpus) mix(models []*linear, w weights) *linear {
	m := newLinear(c)
	phrases := w.phrases
	if phrases == nil {
		phrases = w.learner
	}
	for i, x := range models {
		if w.learner[i] != 0 {
			m.addRest(x, w.learner[i])
		}
		if phrases[i] != 0 {
			m.addPhrases(x, phrases[i])
		}
	}
	addTo(m.base, w.base, 1)
	return m
}

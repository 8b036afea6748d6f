package fit

import (
	"context"
	"math"
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
)

// crossed is what was learned without each part of the cases, with every setting that was tried.
type crossed struct {
	use, part []int // part by sample
	k         int   // parts
	settings  []setting
	models    [][]*linear // by setting, then part
	// rest and text are, by setting and sample, what the model that was fitted without the sample's part makes of it.
	rest, text [][][]float64
	losses     []judged // by setting
	// alone is the setting without texts.
	alone int
}

// sourcePenalties and textPenalties are the settings that are tried, the strongest first.
func sourcePenalties() []float64 { return []float64{16, 4, 1} }
func textPenalties() []float64   { return []float64{300, 100, 30, 10, 3, 1, 0.3} }

// parts is how many parts cases are split into.
func parts(cases, groups int) int {
	k := 5
	if cases < 200 {
		k = 10
	}
	return min(k, groups)
}

// cross fits without each part: first on sources alone, then on texts beside them, until weaker penalties predict worse.
func (c *corpus) cross(ctx context.Context, use []int, workers int, seed uint64) (*crossed, error) {
	k := parts(len(use), c.groups)
	x := &crossed{use: use, k: k, part: c.folds(use, k, seed)}
	for _, stated := range []bool{false, true} {
		for _, penalty := range sourcePenalties() {
			c.tryOut(x, setting{sources: penalty, stated: stated}, workers)
		}
	}
	x.alone = c.trustConfidences(x)
	if len(c.phrases) == 0 {
		return x, ctx.Err()
	}
	for worse, penalties := 0, textPenalties(); len(penalties) > 0 && worse < 2 && ctx.Err() == nil; penalties = penalties[1:] {
		before := math.Inf(1)
		for i := range x.losses {
			before = min(before, x.losses[i].loss(use))
		}
		c.tryOut(x, setting{x.settings[x.alone].sources, x.settings[x.alone].stated, penalties[0]}, workers)
		if x.losses[len(x.losses)-1].loss(use) > before {
			worse++
		}
	}
	return x, ctx.Err()
}

// tryOut fits without each part with a setting.
func (c *corpus) tryOut(x *crossed, by setting, workers int) {
	n := len(c.samples)
	models, rest, text := make([]*linear, x.k), make([][]float64, n), make([][]float64, n)
	each(x.k, workers, func(part int) {
		models[part] = c.learn(x.without(part), by)
		for _, i := range x.use {
			if x.part[i] == part {
				s := &c.samples[i]
				rest[i], text[i] = models[part].rest(s, asStated), models[part].told(s)
			}
		}
	})
	x.settings, x.models, x.rest, x.text = append(x.settings, by), append(x.models, models), append(x.rest, rest), append(x.text, text)
	_, losses := c.recalibrated(x, x.use, len(x.settings)-1)
	x.losses = append(x.losses, losses)
}

// without gives the cases that are not in a part.
func (x *crossed) without(part int) []int {
	return slices.DeleteFunc(slices.Clone(x.use), func(i int) bool { return x.part[i] == part })
}

// sum gives a times one vector and b times another.
func sum(u []float64, a float64, v []float64, b float64) []float64 {
	z := make([]float64, len(u))
	addTo(z, u, a)
	addTo(z, v, b)
	return z
}

// plan is how the model is learned and written: all that cross-validation chooses.
type plan struct {
	setting int
	// sources is the setting that what sources say is learned with: beside texts, or alone where these may tell little.
	sources int
	// rest and text multiply what was learned, so that the model is as sure as it is right.
	rest, text float64
	// most is what all texts of a case may tell, in nats.
	most float64
}

// simpler is by how much of the standard error of a difference in log loss a stronger penalty may be worse than the best.
const simpler = 0.25

// plan chooses by some cases.
func (c *corpus) plan(x *crossed, use []int, config *Config) plan {
	losses := make([]judged, len(x.settings))
	plans := make([]plan, len(x.settings))
	for at := range losses {
		plans[at], losses[at] = c.recalibrated(x, use, at)
	}
	chosen := plans[c.simplest(losses, append([]int{x.alone}, places(len(losses))[2*len(sourcePenalties()):]...), use, simpler)]
	if x.settings[chosen.setting].text == 0 {
		return chosen
	}
	return c.capTexts(x, use, chosen, config.TrustText).plan
}

// scalePenalty draws what recalibration multiplies by to 1, and leastScale is the least that it is.
const (
	scalePenalty = 0.1
	leastScale   = 0.1
)

// recalibrated is the plan of a setting whose texts are not bounded, and its losses. It multiplies what sources say and what texts tell so that
// the log-odds of some cases that the models haven't seen predict these best, by the same regression.
func (c *corpus) recalibrated(x *crossed, use []int, at int) (plan, judged) {
	by := plan{setting: at, sources: at, most: mostNats}
	by.rest, by.text = c.scales(use, func(i int) (rest, text, given []float64) { return x.rest[at][i], x.text[at][i], nil })
	j := judged{make([]float64, len(c.samples))}
	for _, i := range use {
		j.losses[i] = lossOf(softmax(sum(x.rest[at][i], by.rest, x.text[at][i], by.text)), c.samples[i].truth)
	}
	if x.settings[at].text == 0 {
		by.text, by.most = 0, 0
	}
	return by, j
}

// scales finds what two parts of log-odds are to be multiplied by beside what is given.
func (c *corpus) scales(use []int, of func(i int) (u, v, given []float64)) (first, second float64) {
	r := &regression{}
	r.parameters(2, scalePenalty)
	for _, i := range use {
		s := &c.samples[i]
		u, v, given := of(i)
		w := row{labels: s.labels, truth: s.truth, offset: sum(u, 1, v, 1)}
		addTo(w.offset, given, 1)
		for j := range w.labels {
			w.shared = append(w.shared, term{0, int32(j), u[j]})
			if v != nil {
				w.shared = append(w.shared, term{1, int32(j), v[j]})
			}
		}
		r.rows = append(r.rows, w)
	}
	beyond := r.solve()
	return max(1+beyond[0], leastScale), max(1+beyond[1], leastScale)
}

// combined is the model of a plan from the models of its settings.
func combined(by plan, of func(setting int) *linear) *linear {
	m := of(by.sources).scaled(by.rest, 0)
	if by.most > 0 {
		m.text = of(by.setting).scaled(0, by.text).text
	}
	return m
}

// nobody is no part.
const nobody = -1

// written is the profile of a plan, from the models that were learned without a part, or with all cases where that is nobody's.
func (c *corpus) written(x *crossed, by plan, part int, name string, workers int) *abi.Profile {
	train := x.use
	of := func(setting int) *linear { return x.models[setting][part] }
	if part != nobody {
		train = x.without(part)
	} else {
		learned := make([]*linear, 2)
		each(2, workers, func(i int) {
			if setting := []int{by.sources, by.setting}[i]; i == 0 || setting != by.sources {
				learned[i] = c.learn(train, x.settings[setting])
			}
		})
		of = func(setting int) *linear {
			if setting == by.sources {
				return learned[0]
			}
			return learned[1]
		}
	}
	return c.profile(combined(by, of), name, train, by.most)
}

// outcome is what cross-validation shows.
type outcome struct {
	learned bool
	plan    plan
	models  []*Model // by part, of the profiles that were written without it
	rivals  *rivals
}

// crossfit chooses a plan without each part, writes its profile and sees how that predicts the part.
func (c *corpus) crossfit(x *crossed, config *Config) *outcome {
	o := &outcome{models: make([]*Model, x.k)}
	losses, court := make([]float64, len(c.samples)), make([][]float64, len(c.samples))
	each(x.k+1, config.Workers, func(part int) {
		if part == x.k {
			o.plan = c.plan(x, x.use, config)
			return
		}
		o.models[part] = NewModel(c.written(x, c.plan(x, x.without(part), config), part, "part", 1))
		for _, i := range x.use {
			if s := &c.samples[i]; x.part[i] == part {
				losses[i], court[i] = lossOf(o.models[part].Posterior(&s.entry.Case), s.truth), unmeasured(&s.entry.Case, nil)
			}
		}
	})
	o.rivals = c.rivals(x, court)
	o.learned = config.always || o.rivals.beaten(c, losses, x.use)
	return o
}

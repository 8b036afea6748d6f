package measure

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/odds"
)

// crossed is what was learned without each part of the cases, with every setting that was tried.
type crossed struct {
	use, part []int // part by sample
	k         int   // parts
	settings  []setting
	models    [][]*linear // by setting, then part
	// rest and text are, by setting and sample, what the model that was fitted without the sample's part makes of it.
	rest, text [][][]float64
	losses     [][]float64 // by setting, then sample
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
			before = min(before, mean(x.losses[i], use))
		}
		c.tryOut(x, setting{x.settings[x.alone].sources, x.settings[x.alone].stated, penalties[0]}, workers)
		if mean(x.losses[len(x.losses)-1], use) > before {
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

// atMost counts a confidence as the highest that its source stated in all but a few cases.
func (c *corpus) atMost(u *utterance) float64 {
	if r := c.ranges[u.source]; r != nil {
		return odds.Logit(r.Most)
	}
	return u.logit
}

// trustConfidences gives the setting of what sources say: the best of those in which the confidences count that sources state, unless it costs
// too many answers if all sources begin to overstate, and more than the best of the others costs now.
func (c *corpus) trustConfidences(x *crossed) int {
	n := len(sourcePenalties())
	plain, stated := c.simplest(x.losses, places(n), x.use), c.simplest(x.losses, places(2 * n)[n:], x.use)
	overstated, lost := 0.0, 0.0
	for _, i := range x.use {
		s := &c.samples[i]
		now := right(x.rest[stated][i], s.truth)
		lost += (now - right(x.rest[plain][i], s.truth)) / float64(len(x.use))
		if now == 1 {
			overstated += (1 - right(x.models[stated][x.part[i]].rest(s, c.atMost), s.truth)) / float64(len(x.use))
		}
	}
	if overstated > mostTurned && lost < overstated {
		return plain
	}
	return stated
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
func (c *corpus) plan(x *crossed, use []int, config *FitConfig) plan {
	losses, plans := make([][]float64, len(x.settings)), make([]plan, len(x.settings))
	for at := range losses {
		plans[at], losses[at] = c.recalibrated(x, use, at)
	}
	chosen := plans[c.simplest(losses, append([]int{x.alone}, places(len(losses))[2*len(sourcePenalties()):]...), use)]
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
func (c *corpus) recalibrated(x *crossed, use []int, at int) (plan, []float64) {
	by, losses := plan{setting: at, sources: at, most: mostNats}, make([]float64, len(c.samples))
	by.rest, by.text = c.scales(use, func(i int) (rest, text, given []float64) { return x.rest[at][i], x.text[at][i], nil })
	for _, i := range use {
		losses[i] = lossOf(softmax(plus(x.rest[at][i], by.rest, x.text[at][i], by.text)), c.samples[i].truth)
	}
	if x.settings[at].text == 0 {
		by.text, by.most = 0, 0
	}
	return by, losses
}

// scales finds what two parts of log-odds are to be multiplied by beside what is given.
func (c *corpus) scales(use []int, of func(i int) (u, v, given []float64)) (first, second float64) {
	r := &Regression{}
	r.Parameters(2, scalePenalty)
	for _, i := range use {
		s := &c.samples[i]
		u, v, given := of(i)
		w := Row{Labels: s.labels, Truth: s.truth, Offset: plus(u, 1, v, 1)}
		addTo(w.Offset, given, 1)
		for j := range w.Labels {
			w.Own = append(w.Own, Term{Parameter: 0, Label: int32(j), Value: u[j]})
			if v != nil {
				w.Own = append(w.Own, Term{Parameter: 1, Label: int32(j), Value: v[j]})
			}
		}
		r.Rows = append(r.Rows, w)
	}
	beyond := r.Solve()
	return max(1+beyond[0], leastScale), max(1+beyond[1], leastScale)
}

// textCaps are what the signals of a case may tell at most, in nats, from nothing to all.
func textCaps() []float64 {
	return []float64{0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.7, 1, 1.5, 2, 3, 5, mostNats}
}

// mostTurned is how large a share of the answers a made-up text may turn at most, if to prevent it makes no larger share of them wrong.
const mostTurned = 0.05

// capped is a plan, judged on cases that its models haven't seen.
type capped struct {
	plan
	// losses by sample; hits and turned are 1 or 0: whether the answer is right, and whether it is right and some text turns it.
	losses, hits, turned []float64
}

// capTexts chooses how far texts are trusted, by some cases: anybody may write into a document.
//
// The largest cap is taken with which no text could turn more than mostTurned of the answers. A text turns an answer whose lead by
// everything else is less than the cap. Where texts decide, so small a cap makes answers wrong, whether somebody makes up texts or not. If
// these are more than as many, by a standard error, the least cap is taken that predicts as well as the best.
func (c *corpus) capTexts(x *crossed, use []int, by plan, trust bool) *capped {
	var list []*capped
	var losses [][]float64
	safe := 0
	for i, most := range textCaps() {
		better := c.capped(x, use, plan{setting: by.setting, sources: by.setting, text: by.text, most: most})
		if alone := c.capped(x, use, plan{setting: by.setting, sources: x.alone, text: by.text, most: most}); mean(alone.losses, use) < mean(better.losses, use) {
			better = alone
		}
		list, losses = append(list, better), append(losses, better.losses)
		if mean(better.turned, use) <= mostTurned {
			safe = i
		}
	}
	useful := c.simplest(losses, places(len(list)), use)
	lost, deviation := c.difference(list[useful].hits, list[safe].hits, use)
	if trust || useful < safe || lost-deviation > mostTurned {
		return list[useful]
	}
	return list[safe]
}

// capped weighs what sources say beside texts within a cap, and judges that.
func (c *corpus) capped(x *crossed, use []int, by plan) *capped {
	n := len(c.samples)
	j := &capped{by, make([]float64, n), make([]float64, n), make([]float64, n)}
	within := make([][]float64, n)
	for _, i := range use {
		within[i] = plus(x.text[by.setting][i], by.text, nil, 0)
		odds.Limit(within[i], by.most)
	}
	j.rest, _ = c.scales(use, func(i int) (u, v, given []float64) { return x.rest[by.sources][i], nil, within[i] })
	for _, i := range use {
		truth, rest := c.samples[i].truth, x.rest[by.sources][i]
		z := plus(rest, j.rest, within[i], 1)
		j.hits[i] = right(z, truth)
		if j.rest*margin(rest, truth) < by.most {
			j.turned[i] = j.hits[i]
		}
		j.losses[i] = lossOf(softmax(z), truth)
	}
	return j
}

// nobody is no part.
const nobody = -1

// written is the profile of a plan, from the models that were learned without a part, or with all cases where that is nobody's.
func (c *corpus) written(x *crossed, by plan, part int, name string, workers int) *abi.Profile {
	train, settings := x.use, []int{by.sources, by.setting}
	models := make([]*linear, 2)
	if part != nobody {
		train = x.without(part)
		models[0], models[1] = x.models[by.sources][part], x.models[by.setting][part]
	} else {
		each(len(slices.Compact(settings)), workers, func(i int) { models[i] = c.learn(train, x.settings[settings[i]]) })
		models[1] = cmp.Or(models[1], models[0])
	}
	if by.most == 0 {
		by.text = 0
	}
	return c.profile(combined(models[0], by.rest, models[1], by.text), name, train, by.most)
}

// outcome is what cross-validation shows.
type outcome struct {
	learned bool
	plan    plan
	models  []*Model // by part, of the profiles that were written without it
}

// crossfit chooses a plan without each part, writes its profile and sees how that predicts the part.
func (c *corpus) crossfit(x *crossed, config *FitConfig) *outcome {
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
	o.learned = c.rivals(x, court).beaten(c, losses, x.use)
	return o
}

package measure

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"

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

const (
	// floor is by how many nats of log loss something must be better than base rates at least, however small the standard error.
	floor = 0.01
	// ahead, likely and certain are numbers of standard errors of a difference in log loss.
	ahead   = 0.5
	likely  = 1
	certain = 2
)

// rivals are what a profile has to be better than: their losses on cases that they haven't seen.
type rivals struct {
	rates  []float64 // base rates alone, or even ones where these predict better
	scaled []float64 // the court without a profile, as sure as it is right
	both   []float64 // the same with base rates
}

// rivals judges them. The court's log-odds are given.
func (c *corpus) rivals(x *crossed, court [][]float64) *rivals {
	n := len(c.samples)
	r := &rivals{make([]float64, n), make([]float64, n), make([]float64, n)}
	even := make([]float64, n)
	for part := range x.k {
		others := x.without(part)
		frequent := c.frequencies(others)
		rates := func(i int) []float64 {
			z := make([]float64, len(c.samples[i].labels))
			for j, l := range c.samples[i].labels {
				z[j] = frequent[l]
			}
			return z
		}
		scaled := func(i int, by float64) []float64 { return plus(court[i], by, nil, 0) }
		both := func(i int, by float64) []float64 { return plus(court[i], by, rates(i), 1) }
		alone, beside := c.scaleOf(others, scaled), c.scaleOf(others, both)
		for _, i := range x.use {
			if x.part[i] != part {
				continue
			}
			truth := c.samples[i].truth
			even[i] = math.Log(float64(len(court[i])))
			r.rates[i] = lossOf(softmax(rates(i)), truth)
			r.scaled[i] = lossOf(softmax(scaled(i, alone)), truth)
			r.both[i] = lossOf(softmax(both(i, beside)), truth)
		}
	}
	if mean(even, x.use) < mean(r.rates, x.use) {
		r.rates = even
	}
	return r
}

// scaleOf is what the court's log-odds are to be multiplied by to predict some cases best; nothing makes it much surer.
func (c *corpus) scaleOf(use []int, nats func(i int, by float64) []float64) float64 {
	return least(0, 1.2, func(by float64) float64 {
		loss := 0.0
		for _, i := range use {
			loss += lossOf(softmax(nats(i, by)), c.samples[i].truth)
		}
		return loss
	})
}

// frequencies are the logs of how often each label is true, smoothed.
func (c *corpus) frequencies(train []int) []float64 {
	out := make([]float64, len(c.labels))
	for _, i := range train {
		out[c.trueLabel(i)]++
	}
	for l, n := range out {
		out[l] = math.Log((n + 0.5) / (float64(len(train)) + 0.5*float64(len(out))))
	}
	return out
}

// better says whether something predicts some cases better than base rates by so many standard errors, and not by next to nothing.
func (r *rivals) better(c *corpus, losses []float64, use []int, by float64) bool {
	gain, deviation := c.difference(r.rates, losses, use)
	return gain > max(by*deviation, floor)
}

// beaten says whether a profile predicts some cases better than base rates, by more than chance, and better than the court without one,
// however sure that is. Where the court tells labels apart that nobody taught it, they are not noise, and less is asked for.
func (r *rivals) beaten(c *corpus, losses []float64, use []int) bool {
	needed := float64(certain)
	if r.better(c, r.both, use, likely) {
		needed = likely
	}
	lead, deviation := c.difference(r.scaled, losses, use)
	return r.better(c, losses, use, needed) && lead > ahead*deviation
}

// usual is the share of what sources say that is said by those who speak in several cases, from which on others are strangers.
const usual = 0.95

// seen are the sources that speak in several cases: nothing was learned of them, and they count as without a profile, but no stranger decides
// beside them. Where many speak once, so do strangers, and nobody is told from them.
func (c *corpus) seen() []string {
	said, all, known := make([]int, len(c.sources)), 0, 0
	c.eachStated(func(u *utterance) {
		if u.source > 0 {
			said[u.source]++
			all++
		}
	})
	var list []string
	for source, n := range said {
		if n >= leastCases {
			list, known = append(list, c.sources[source]), known+n
		}
	}
	if float64(known) < usual*float64(all) {
		return nil
	}
	slices.Sort(list)
	return list
}

// folds splits samples into k parts so that no group is in two of them and that sizes and labels are spread evenly. It gives the part of each sample.
func (c *corpus) folds(use []int, k int, seed uint64) []int {
	members := make([][]int, c.groups)
	for _, i := range use {
		g := c.samples[i].group
		members[g] = append(members[g], i)
	}
	order := make([]int, 0, c.groups)
	for g := range members {
		if len(members[g]) > 0 {
			order = append(order, g)
		}
	}
	random := rand.New(rand.NewPCG(seed, 0x5bd1e995)) //nolint:gosec // reproducible folds, no secret
	random.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(len(members[b]), len(members[a])), cmp.Compare(c.trueLabel(members[a][0]), c.trueLabel(members[b][0])))
	})
	part := make([]int, len(c.samples))
	sizes := make([]int, k)
	labels := make([]map[int]int, k) // by part: how many of its cases have a label
	for f := range labels {
		labels[f] = make(map[int]int)
	}
	for _, g := range order {
		crowd := make([]int, k) // how many cases of the group's labels a part has already
		for f := range k {
			for _, i := range members[g] {
				crowd[f] += labels[f][c.trueLabel(i)]
			}
		}
		best := slices.MinFunc(places(k), func(a, b int) int { return cmp.Or(cmp.Compare(crowd[a], crowd[b]), cmp.Compare(sizes[a], sizes[b])) })
		for _, i := range members[g] {
			part[i] = best
			labels[best][c.trueLabel(i)]++
		}
		sizes[best] += len(members[g])
	}
	return part
}

func (c *corpus) trueLabel(i int) int {
	s := &c.samples[i]
	return s.labels[s.truth]
}

// simplest gives the first of some candidates, by their losses, that is no worse than the best of them by more
// than a share of the standard error of their difference: see simpler.
func (c *corpus) simplest(losses [][]float64, of, use []int) int {
	top := slices.MinFunc(of, func(a, b int) int { return cmp.Compare(mean(losses[a], use), mean(losses[b], use)) })
	for _, at := range of {
		worse, deviation := c.difference(losses[at], losses[top], use)
		if worse <= simpler*deviation {
			return at
		}
	}
	return top
}

// difference gives the mean of a - b over cases and its standard error, which allows for what the cases of a group have in common.
func (c *corpus) difference(a, b []float64, use []int) (mean, deviation float64) {
	n := float64(len(use))
	for _, i := range use {
		mean += (a[i] - b[i]) / n
	}
	sums := make([]float64, c.groups)
	for _, i := range use {
		sums[c.samples[i].group] += a[i] - b[i] - mean
	}
	for _, x := range sums {
		deviation += x * x
	}
	return mean, math.Sqrt(deviation) / n
}

// places are 0 to n-1.
func places(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

// best is the first place of the largest figure.
func best(p []float64) int { return slices.Index(p, slices.Max(p)) }

// right is 1 where a label is the best, otherwise 0.
func right(z []float64, label int) float64 {
	return asNumber(best(z) == label)
}

// mean of what is given by sample.
func mean(v []float64, use []int) float64 {
	sum := 0.0
	for _, i := range use {
		sum += v[i]
	}
	return sum / float64(len(use))
}

func lossOf(p []float64, truth int) float64 { return -math.Log(p[truth]) }

// margin is by how much a label is ahead of the next, below 0 if it is not.
func margin(z []float64, label int) float64 {
	others := slices.Clone(z)
	others[label] = math.Inf(-1)
	return z[label] - slices.Max(others)
}

// least gives the x of a range in which a convex function is least (golden section), to three digits.
func least(from, to float64, of func(x float64) float64) float64 {
	const golden = 0.6180339887498949
	a, b := to-golden*(to-from), from+golden*(to-from)
	atA, atB := of(a), of(b)
	for to-from > 1e-3 {
		if atA <= atB {
			to, b, atB = b, a, atA
			a = to - golden*(to-from)
			atA = of(a)
		} else {
			from, a, atA = a, b, atB
			b = from + golden*(to-from)
			atB = of(b)
		}
	}
	return (from + to) / 2
}

// each calls do for 0 to n-1, at most so many at a time. What do writes must belong to its own index, so that the order doesn't matter.
func each(n, workers int, do func(i int)) {
	var next atomic.Int64
	var wg sync.WaitGroup
	for range max(1, min(workers, n)) {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				do(i)
			}
		})
	}
	wg.Wait()
}

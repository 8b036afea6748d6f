package fit

import (
	"math"
	"slices"

	"github.com/shadowcourt/shadowcourt/abi/odds"
)

// textCaps are what the signals of a case may tell at most, in nats, from nothing to all.
func textCaps() []float64 {
	return []float64{0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.7, 1, 1.5, 2, 3, 5, mostNats}
}

// mostTurned is how large a share of the answers a made-up text may turn at most, if to prevent it makes no larger share of them wrong.
const mostTurned = 0.05

// mostJudged is about how many cases caps are judged on at most, spread over all: by so many, the share that texts turn is known to half a point.
const mostJudged = 2000

// capped is a blend of learners whose signals are capped, judged on cases that it hasn't seen.
type capped struct {
	judged
	most float64 // nats
	// hits and turned are 1 or 0, by sample: whether the answer is right, and whether it is right and some text turns it.
	hits, turned []float64
}

// textTrust finds how far each candidate may trust texts. It can be used by one goroutine at a time.
type textTrust struct {
	c          *corpus
	x          crossed // with the cases that caps are judged on
	judgements []judged
	config     *Config
	known      map[int][]capped // by place of the candidate
}

func newTextTrust(c *corpus, x *crossed, judgements []judged, config *Config) *textTrust {
	t := &textTrust{c, *x, judgements, config, make(map[int][]capped)}
	t.x.use = t.some(x.use)
	return t
}

// some are those of some cases that caps are judged on.
func (t *textTrust) some(use []int) []int {
	step := len(t.c.samples)/mostJudged + 1
	return slices.DeleteFunc(slices.Clone(use), func(i int) bool { return i%step != 0 })
}

// of judges a candidate with each cap; without learners that read texts there is one cap, and no text counts.
func (t *textTrust) of(at int) []capped {
	if list, ok := t.known[at]; ok {
		return list
	}
	by := &t.judgements[at]
	caps := textCaps()
	if !t.x.reads(&by.candidate) {
		caps = caps[:1]
	}
	list := make([]capped, len(caps))
	for i := range list {
		n := len(t.c.samples)
		list[i] = capped{judged{candidate: by.candidate, losses: make([]float64, n), weights: by.weights}, caps[i], make([]float64, n), make([]float64, n)}
	}
	each(len(list)*t.x.k, t.config.Workers, func(i int) {
		t.c.judgeCapped(&t.x, &list[i/t.x.k], i%t.x.k)
	})
	t.known[at] = list
	return list
}

// cap chooses how far a candidate trusts texts, by some cases: anybody may write into a document.
//
// The largest cap is taken with which no text could turn more than mostTurned of the answers. A text turns an answer whose lead by
// everything else is less than the cap. Where texts decide, so small a cap makes answers wrong, whether somebody makes up texts or not. If
// these are more than as many, by a standard error, the least cap is taken that predicts as well as the best.
func (t *textTrust) cap(at int, use []int) *capped {
	list := t.of(at)
	use = t.some(use)
	plain := make([]judged, len(list))
	safe := 0
	for i := range list {
		plain[i] = list[i].judged
		if mean(list[i].turned, use) <= mostTurned {
			safe = i
		}
	}
	useful := t.c.simplest(plain, places(len(list)), use, withinLearned)
	lost, deviation := t.c.difference(list[useful].hits, list[safe].hits, use)
	if t.config.TrustText || useful < safe || lost-deviation > mostTurned {
		return &list[useful]
	}
	return &list[safe]
}

// judgeCapped finds the weights of a candidate's learners without a part, and predicts that part.
func (c *corpus) judgeCapped(x *crossed, j *capped, part int) {
	plain := j.weights[part]
	w := c.beside(x, &j.candidate, plain, j.most, part)
	for _, i := range x.use {
		if x.part[i] != part {
			continue
		}
		s := &c.samples[i]
		rest, text := c.blended(x.rest, &j.candidate, &w, i), x.textOf(&j.candidate, plain.learner, i)
		odds.Limit(text, j.most)
		z := slices.Clone(rest)
		addTo(z, text, 1)
		right := best(z) == s.truth
		j.losses[i] = lossOf(softmax(z), s.truth)
		if right {
			j.hits[i] = 1
		}
		if right && margin(rest, s.truth) < j.most {
			j.turned[i] = 1
		}
	}
}

// beside finds the weights of what a candidate's learners make of all but texts again, beside what texts may tell within
// a cap. The phrases keep theirs.
func (c *corpus) beside(x *crossed, by *candidate, w weights, most float64, skip int) weights {
	if !x.reads(by) {
		return w
	}
	out := c.solveBlend(x, by, skip, w, x.rest, func(i int) []float64 {
		text := x.textOf(by, w.learner, i)
		odds.Limit(text, most)
		return text
	})
	out.phrases = w.learner
	if most == 0 {
		out.phrases = make([]float64, len(w.learner))
	}
	return out
}

// reads says whether a learner of a candidate reads texts.
func (x *crossed) reads(by *candidate) bool {
	return slices.ContainsFunc(by.of, func(l int) bool { return x.text[l] != nil })
}

// textOf is what the learners of a candidate make of the texts of a case that they haven't seen.
func (x *crossed) textOf(by *candidate, weight []float64, i int) []float64 {
	z := make([]float64, len(x.rest[by.of[0]][i]))
	for _, l := range by.of {
		if x.text[l] != nil {
			addTo(z, x.text[l][i], weight[l])
		}
	}
	return z
}

// margin is by how much a label is ahead of the next, below 0 if it is not.
func margin(z []float64, label int) float64 {
	least := math.Inf(1)
	for j, x := range z {
		if j != label {
			least = min(least, z[label]-x)
		}
	}
	return least
}

// mean of what is given by sample.
func mean(v []float64, use []int) float64 {
	sum := 0.0
	for _, i := range use {
		sum += v[i]
	}
	return sum / float64(len(use))
}

package fit

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
)

// alike is the overlap (Jaccard) of cases from which on two phrases say the same.
const alike = 0.75

// choosePhrases gives up to most phrases that tell most of what a model leaves
// open, none of them alike: by the score test of adding each to the model.
func (c *corpus) choosePhrases(train []int, m *linear, most int) []int32 {
	var chosen []rated
	out := []int32{}
	for _, x := range c.ratePhrases(train, m) {
		if len(chosen) == most {
			break
		}
		if !slices.ContainsFunc(chosen, func(y rated) bool { return overlap(x.cases, y.cases, x.n, y.n) >= alike }) {
			chosen = append(chosen, x)
			out = append(out, x.phrase)
		}
	}
	return out
}

// rated is a phrase with its score and the cases in which it stands.
type rated struct {
	phrase int32
	score  float64
	cases  []uint64 // a bit for each place in the training cases
	n      int
}

// ratePhrases gives the phrases that stand in enough of the cases and are
// missing in enough, the best first; of equal ones the shortest.
func (c *corpus) ratePhrases(train []int, m *linear) []rated {
	k := len(c.labels)
	all := make([]*sums, len(c.phrases))
	for at, i := range train {
		s := &c.samples[i]
		p := softmax(m.nats(s))
		for _, f := range s.phrases {
			if all[f] == nil {
				all[f] = &sums{make([]float64, k), make([]float64, k), make([]uint64, (len(train)+63)/64), 0}
			}
			all[f].add(s, p, at)
		}
	}
	var list []rated
	for f, a := range all {
		if a == nil || a.n < leastCases || len(train)-a.n < leastCases {
			continue
		}
		score, rest := 0.0, 1-float64(a.n)/float64(len(train))
		for l := range k {
			score += a.residual[l] * a.residual[l] / (a.variance[l]*rest + 0.5)
		}
		list = append(list, rated{int32(f), score, a.cases, a.n})
	}
	slices.SortFunc(list, func(a, b rated) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(len(c.phrases[a.phrase]), len(c.phrases[b.phrase])), cmp.Compare(a.phrase, b.phrase))
	})
	return list
}

// sums over the cases in which a phrase stands: by label, what the model
// leaves open and its variance.
type sums struct {
	residual, variance []float64
	cases              []uint64
	n                  int
}

func (a *sums) add(s *sample, p []float64, at int) {
	for j, l := range s.labels {
		y := 0.0
		if j == s.truth {
			y = 1
		}
		a.residual[l] += y - p[j]
		a.variance[l] += p[j] * (1 - p[j])
	}
	a.cases[at/64] |= 1 << (at % 64)
	a.n++
}

// overlap is the Jaccard index of two sets of a and b members.
func overlap(x, y []uint64, a, b int) float64 {
	if float64(min(a, b)) < alike*float64(max(a, b)) {
		return 0
	}
	both := 0
	for i := range x {
		both += bits.OnesCount64(x[i] & y[i])
	}
	return float64(both) / float64(a+b-both)
}

// bayesText is naive Bayes over the presence of phrases.
func (c *corpus) bayesText(train []int, phrases []int32, strength float64) *linear {
	m := newLinear(c)
	c.frequencies(m.base, train)
	seen := make(map[int32][]float64, len(phrases))
	for _, p := range phrases {
		seen[p] = make([]float64, len(c.labels))
	}
	for _, i := range train {
		s := &c.samples[i]
		for _, p := range s.phrases {
			if v := seen[p]; v != nil {
				v[s.labels[s.truth]] += s.weight
			}
		}
	}
	n := c.count(train)
	for _, p := range phrases {
		m.text[p] = c.bernoulli(m.base, seen[p], n, strength)
	}
	return m
}

// bernoulli gives the log-odds of a phrase by label, smoothed towards those
// that know no label, and adds to base what its absence tells.
func (c *corpus) bernoulli(base, seen []float64, n counts, strength float64) []float64 {
	sum := 0.0
	for _, x := range seen {
		sum += x
	}
	marginal := (sum + 0.5) / (n.total + 1)
	out := make([]float64, len(seen))
	for l := range seen {
		p := (seen[l] + strength*marginal) / (n.label[l] + strength)
		absent := math.Log(1-p) - math.Log(1-marginal)
		out[l] = math.Log(p) - math.Log(marginal) - absent
		base[l] += absent
	}
	return out
}

// lossOf is -log of the probability of the truth.
func lossOf(p []float64, truth int) float64 { return -math.Log(p[truth]) }

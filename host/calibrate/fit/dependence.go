package fit

import (
	"cmp"
	"math"
	"slices"
)

// pair is how two sources agree in the cases in which both name a label.
type pair struct {
	a, b  int
	cases float64
	// agree is how much more often than by chance, 1 for always: Cohen's kappa; deviation is its standard error.
	agree, deviation float64
}

// Bounds of what shows that two sources err alike.
const (
	leastPairs    = 20   // cases of a pair
	leastAlike    = 0.1  // agreement beyond what their skills explain
	alikeByChance = 0.01 // chance that of independent sources any pair is taken for dependent
	skillRounds   = 200
	pairGap       = 1.5 // how much more two sources agree with each other than with others if they are a block
	blockGap      = 2.0 // the same of more than two
)

// pairs measures all pairs of sources that name different labels in enough cases. A source's statement of a case is the first
// label that it names.
func (c *corpus) pairs() []pair {
	k, n := len(c.labels), len(c.sources)
	counts := make([][]float64, n*n) // by pair, label of the one and label of the other
	for i := range c.samples {
		named := c.samples[i].named()
		for x, u := range named {
			for _, v := range named[x+1:] {
				if counts[u.source*n+v.source] == nil {
					counts[u.source*n+v.source] = make([]float64, k*k)
				}
				counts[u.source*n+v.source][u.says*k+v.says]++
			}
		}
	}
	var list []pair
	for at, table := range counts {
		if table == nil {
			continue
		}
		p := pair{a: at / n, b: at % n}
		as, bs, same, chance := make([]float64, k), make([]float64, k), 0.0, 0.0
		for cell, x := range table {
			p.cases += x
			as[cell/k] += x
			bs[cell%k] += x
		}
		for l := range k {
			same += table[l*k+l] / p.cases
			chance += as[l] * bs[l] / (p.cases * p.cases)
		}
		if p.cases < leastPairs || chance > 1-1e-9 {
			continue
		}
		p.agree = (same - chance) / (1 - chance)
		// as if one more case had fallen to either side
		smooth := (same*p.cases + 1) / (p.cases + 2)
		p.deviation = math.Sqrt(smooth*(1-smooth)/p.cases) / (1 - chance)
		list = append(list, p)
	}
	return list
}

// named are the first labels that sources name, by source.
func (s *sample) named() []utterance {
	var list []utterance
	for _, u := range s.uttered {
		if u.says != noLabel && !slices.ContainsFunc(list, func(v utterance) bool { return v.source == u.source }) {
			list = append(list, u)
		}
	}
	slices.SortFunc(list, func(a, b utterance) int { return cmp.Compare(a.source, b.source) })
	return list
}

// dependence says which sources err alike.
type dependence struct {
	pairs []pair
	skill []float64 // by source: independent sources agree by the product of their skills
	group []int     // by source
	// weakest is the least agreement for which two groups were joined; 1 where none were.
	weakest float64
}

// dependent joins blocks. Then it joins sources that agree more than their skills explain, which how they agree with others shows:
// the pair that deviates most, and so on, while it is no chance.
func (c *corpus) dependent(pairs []pair) *dependence {
	d := &dependence{pairs: pairs, skill: make([]float64, len(c.sources)), group: places(len(c.sources)), weakest: 1}
	d.joinBlocks()
	limit := normalQuantile(1 - alikeByChance/max(float64(len(pairs)), 1))
	for {
		d.fitSkills()
		var worst *pair
		most := limit
		for i := range pairs {
			p := &pairs[i]
			over := p.agree - d.skill[p.a]*d.skill[p.b]
			if z := over / p.deviation; !d.together(p) && over > leastAlike && z > most {
				worst, most = p, z
			}
		}
		if worst == nil {
			return d
		}
		d.weakest = min(d.weakest, worst.agree)
		join(d.group, d.group[worst.a], d.group[worst.b])
	}
}

// join makes two groups one.
func join(group []int, a, b int) {
	for s := range group {
		if group[s] == b {
			group[s] = a
		}
	}
}

// joinBlocks joins sources that agree with each other much more than with anybody else. They may be better than the others, or
// share what misleads them: nothing in the data tells these apart, and so they count as if they erred alike.
func (d *dependence) joinBlocks() {
	byAgreement := slices.SortedStableFunc(slices.Values(d.pairs), func(a, b pair) int { return cmp.Compare(b.agree, a.agree) })
	tree := slices.Clone(d.group)
	for i := range byAgreement {
		p := &byAgreement[i]
		if p.agree < leastAlike || tree[p.a] == tree[p.b] {
			continue
		}
		join(tree, tree[p.a], tree[p.b])
		members, within, beyond := 0, 1.0, 0.0
		for s := range tree {
			if tree[s] == tree[p.a] {
				members++
			}
		}
		for k := range d.pairs {
			q := &d.pairs[k]
			switch one, other := tree[q.a] == tree[p.a], tree[q.b] == tree[p.a]; {
			case one && other:
				within = min(within, q.agree)
			case one || other:
				beyond = max(beyond, q.agree)
			}
		}
		gap := pairGap
		if members > 2 {
			gap = blockGap
		}
		if beyond < leastAlike || within < gap*beyond {
			continue
		}
		for s := range tree {
			if tree[s] == tree[p.a] {
				join(d.group, d.group[p.a], d.group[s])
			}
		}
	}
}

// ambiguous: where two sources agree too much, either they err alike, or all the others do. The former is believed only of
// those that agree more than any two of different groups.
func (d *dependence) ambiguous() bool {
	return slices.ContainsFunc(d.pairs, func(p pair) bool { return d.group[p.a] != d.group[p.b] && p.agree > d.weakest })
}

func (d *dependence) together(p *pair) bool { return d.group[p.a] == d.group[p.b] }

// groups counts the groups that agree with another one more than by chance.
func (d *dependence) groups() int {
	seen := make(map[int]bool)
	for i := range d.pairs {
		if p := &d.pairs[i]; !d.together(p) && p.agree > max(leastAlike, 2*p.deviation) {
			seen[d.group[p.a]], seen[d.group[p.b]] = true, true
		}
	}
	return len(seen)
}

// fitSkills finds the skills whose products are nearest to how sources of different groups agree, by least squares.
func (d *dependence) fitSkills() {
	for s := range d.skill {
		d.skill[s] = 0.5
	}
	for range skillRounds {
		change := 0.0
		for s := range d.skill {
			above, below := 0.0, 0.0
			for i := range d.pairs {
				p := &d.pairs[i]
				if p.a != s && p.b != s || d.together(p) {
					continue
				}
				other := d.skill[p.a+p.b-s]
				w := 1 / (p.deviation * p.deviation)
				above += w * p.agree * other
				below += w * other * other
			}
			if below == 0 {
				continue
			}
			x := min(max(above/below, 0), 1)
			change = max(change, math.Abs(x-d.skill[s]))
			d.skill[s] = x
		}
		if change < 1e-6 {
			break
		}
	}
}

// shares are how much of each source's word counts beside the others of its group: 1/(1 + the sum of what it shares with each
// of them), the design effect of samples that are drawn in clusters (Kish 1965).
func (c *corpus) shares(d *dependence) []float64 {
	speaks := make([]float64, len(c.sources))
	for i := range c.samples {
		for _, u := range c.samples[i].named() {
			speaks[u.source]++
		}
	}
	out := make([]float64, len(c.sources))
	for s := range out {
		out[s] = 1
	}
	for i := range d.pairs {
		p := &d.pairs[i]
		if !d.together(p) {
			continue
		}
		explained := d.skill[p.a] * d.skill[p.b]
		shared := min(max((p.agree-explained)/max(1-explained, 1e-9), 0), 1)
		out[p.a] += shared * p.cases / speaks[p.a]
		out[p.b] += shared * p.cases / speaks[p.b]
	}
	for s := range out {
		out[s] = 1 / out[s]
	}
	return out
}

// normalQuantile is the point below which a normal variable lies with probability p, by bisection.
func normalQuantile(p float64) float64 {
	low, high := 0.0, 10.0
	for range 60 {
		if mid := (low + high) / 2; math.Erfc(-mid/math.Sqrt2)/2 < p {
			low = mid
		} else {
			high = mid
		}
	}
	return high
}

package fit

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
)

// Smoothing of the tables, in cases: so many more are taken to have been seen
// as the source's one figure of skill would have it.
const (
	tableStrength = 3
	rateStrength  = 1
	mostRounds    = 500
	settled       = 1e-7 // of the posteriors, between two rounds
)

// estimate is the state of the EM: the tables of all sources and the
// probabilities of each case's labels, each from the other.
type estimate struct {
	corpus *corpus
	rates  []float64     // P(label)
	tables [][][]float64 // by source, true label, named label; nil for one that names none
	skill  []float64     // by source: how far it is above chance, 0 to 1
	// posterior by sample, in the order of its labels.
	posterior [][]float64
}

// newEstimate starts at the vote: each case's labels by the share of the voices.
func newEstimate(c *corpus) *estimate {
	k := len(c.labels)
	e := &estimate{
		corpus: c, rates: make([]float64, k), tables: make([][][]float64, len(c.sources)), skill: make([]float64, len(c.sources)),
		posterior: make([][]float64, len(c.samples)),
	}
	for i := range c.samples {
		s := &c.samples[i]
		q := make([]float64, len(s.labels))
		for j := range q {
			q[j] = 1 / float64(len(q))
		}
		for _, u := range s.uttered {
			if j := slices.Index(s.labels, u.says); j >= 0 {
				q[j]++
			}
		}
		e.posterior[i] = normalised(q)
	}
	return e
}

func normalised(q []float64) []float64 {
	sum := 0.0
	for _, x := range q {
		sum += x
	}
	for j := range q {
		q[j] /= sum
	}
	return q
}

// run goes on until the posteriors stand still.
func (e *estimate) run(ctx context.Context) error {
	for range mostRounds {
		if err := ctx.Err(); err != nil {
			return err
		}
		e.maximize()
		if e.expect() < settled {
			break
		}
	}
	return nil
}

// maximize finds rates and tables from the posteriors.
func (e *estimate) maximize() {
	c, k := e.corpus, len(e.corpus.labels)
	counts := make([][][]float64, len(c.sources))
	for l := range e.rates {
		e.rates[l] = rateStrength / float64(k)
	}
	for i := range c.samples {
		s := &c.samples[i]
		for j, l := range s.labels {
			e.rates[l] += e.posterior[i][j]
		}
		for _, u := range s.uttered {
			if u.says == noLabel {
				continue
			}
			if counts[u.source] == nil {
				counts[u.source] = square(k)
			}
			for j, l := range s.labels {
				counts[u.source][l][u.says] += e.posterior[i][j]
			}
		}
	}
	normalised(e.rates)
	for s := range counts {
		if counts[s] != nil {
			e.tables[s], e.skill[s] = smoothed(counts[s])
		}
	}
}

func square(k int) [][]float64 {
	out := make([][]float64, k)
	for l := range out {
		out[l] = make([]float64, k)
	}
	return out
}

// smoothed turns counts by true and named label into a table. Each row is drawn
// to what a source of one skill would say: the true label with that
// probability, and otherwise what it says of any case. One that always says the
// same has no skill and equal rows.
func smoothed(counts [][]float64) (table [][]float64, skill float64) {
	k := len(counts)
	says, truth := make([]float64, k), make([]float64, k)
	total, right := 0.0, 0.0
	for l := range counts {
		for m, n := range counts[l] {
			says[m] += n
			truth[l] += n
			total += n
		}
		right += counts[l][l]
	}
	chance := 0.0
	for l := range says {
		says[l] = (says[l] + 0.01) / (total + 0.01*float64(k))
		chance += says[l] * truth[l] / total
	}
	skill = (right/total - chance) / max(1-chance, 1e-9)
	table = square(k)
	for l := range counts {
		for m, n := range counts[l] {
			expected := (1 - max(skill, 0)) * says[m]
			if l == m {
				expected += max(skill, 0)
			}
			table[l][m] = (n + tableStrength*expected) / (truth[l] + tableStrength)
		}
	}
	return table, skill
}

// expect finds the posteriors from rates and tables, and gives the largest change.
func (e *estimate) expect() float64 {
	change := 0.0
	for i := range e.corpus.samples {
		s := &e.corpus.samples[i]
		z := make([]float64, len(s.labels))
		for j, l := range s.labels {
			z[j] = math.Log(e.rates[l])
			for _, u := range s.uttered {
				if u.says != noLabel {
					z[j] += math.Log(e.tables[u.source][l][u.says])
				}
			}
		}
		softmax(z)
		for j := range z {
			change = max(change, math.Abs(z[j]-e.posterior[i][j]))
		}
		e.posterior[i] = z
	}
	return change
}

// meanSkill is over the sources that name labels. Below 0 the labels would
// have changed their places.
func (e *estimate) meanSkill() float64 {
	sum, n := 0.0, 0.0
	for s := range e.tables {
		if e.tables[s] != nil {
			sum += e.skill[s]
			n++
		}
	}
	return sum / max(n, 1)
}

// profile writes the tables down.
func (e *estimate) profile(name string) *abi.Profile {
	c := e.corpus
	p := &abi.Profile{Name: name, Sources: []abi.SourceReliability{}, Signals: []abi.Signal{}}
	for l, x := range e.rates {
		p.BaseRates = append(p.BaseRates, abi.LabelWeight{Label: c.labels[l], Weight: round(x)})
	}
	for s, table := range e.tables {
		if table == nil {
			continue
		}
		r := abi.SourceReliability{Source: c.sources[s], Share: 1}
		for m := range c.labels {
			statement := abi.SourceStatement{Says: c.labels[m]}
			for l := range c.labels {
				statement.Given = append(statement.Given, abi.LabelWeight{Label: c.labels[l], Weight: round(max(table[l][m], leastProb))})
			}
			r.Statements = append(r.Statements, statement)
		}
		if s == 0 {
			p.Light = &r
		} else {
			p.Sources = append(p.Sources, r)
		}
	}
	slices.SortFunc(p.Sources, func(a, b abi.SourceReliability) int { return cmp.Compare(a.Source, b.Source) })
	c.setCaps(p, places(len(c.samples)))
	return p
}

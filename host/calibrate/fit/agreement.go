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
	settled       = 1e-5 // of the posteriors, between two rounds
	slopePenalty  = 4    // of what stated confidences tell
	mostSlope     = 2
	trustRounds   = 12
)

// estimate is the state of the EM: the tables of all sources and the
// probabilities of each case's labels, each from the other.
type estimate struct {
	corpus *corpus
	use    []int         // the samples that it learns from
	share  []float64     // by source: how much of its word counts
	rates  []float64     // P(label)
	tables [][][]float64 // by source, true label, named label; nil for one that names none
	logs   [][][]float64 // of the tables
	skill  []float64     // by source: how far it is above chance, 0 to 1
	// usual is the mean logit that a source states, slope the nats that one more adds for the label that it names.
	usual, slope []float64
	// tempered is by how much every word is scaled at last.
	tempered float64
	// posterior by sample, in the order of its labels.
	posterior [][]float64
}

// newEstimate starts at the vote: each case's labels by the share of the voices.
func newEstimate(c *corpus, use []int, share []float64) *estimate {
	k, n := len(c.labels), len(c.sources)
	e := &estimate{
		corpus: c, use: use, share: share, rates: make([]float64, k), tables: make([][][]float64, n), logs: make([][][]float64, n), skill: make([]float64, n),
		usual: make([]float64, n), slope: make([]float64, n), tempered: 1, posterior: make([][]float64, len(c.samples)),
	}
	spoken := make([]float64, n)
	for _, i := range use {
		s := &c.samples[i]
		q := make([]float64, len(s.labels))
		for j := range q {
			q[j] = 1 / float64(len(q))
		}
		for _, u := range s.uttered {
			if j := slices.Index(s.labels, u.says); j >= 0 {
				q[j] += share[u.source]
				spoken[u.source]++
				e.usual[u.source] += (u.logit - e.usual[u.source]) / spoken[u.source]
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
	for _, i := range e.use {
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
			e.logs[s] = square(k)
			for l, row := range e.tables[s] {
				for m, x := range row {
					e.logs[s][l][m] = math.Log(x)
				}
			}
		}
	}
}

// trust finds what stated confidences tell: for each source a logistic regression, drawn to no slope, of being right on the
// logit that it states. What is right is what the sources of other groups say: by its own word a source would confirm itself.
func (e *estimate) trust(group []int) {
	type point struct{ x, right float64 }
	points := make([][]point, len(e.slope))
	for _, i := range e.use {
		s := &e.corpus.samples[i]
		own := make(map[int][]float64) // nats of each group
		for k := range s.uttered {
			if u := &s.uttered[k]; u.says != noLabel {
				if own[group[u.source]] == nil {
					own[group[u.source]] = make([]float64, len(s.labels))
				}
				e.add(own[group[u.source]], s, u)
			}
		}
		all := e.nats(s)
		for g, nats := range own {
			for j := range nats {
				nats[j] = all[j] - nats[j]
			}
			own[g] = softmax(nats)
		}
		for _, u := range s.uttered {
			if j := slices.Index(s.labels, u.says); j >= 0 {
				points[u.source] = append(points[u.source], point{u.logit - e.usual[u.source], own[group[u.source]][j]})
			}
		}
	}
	for s, list := range points {
		offset, slope := 0.0, 0.0
		for range trustRounds {
			g0, g1, h00, h01, h11 := 0.0, -slopePenalty*slope, 1e-6, 0.0, float64(slopePenalty)
			for _, p := range list {
				y := 1 / (1 + math.Exp(-offset-slope*p.x))
				w := y * (1 - y)
				g0, g1 = g0+p.right-y, g1+(p.right-y)*p.x
				h00, h01, h11 = h00+w, h01+w*p.x, h11+w*p.x*p.x
			}
			det := h00*h11 - h01*h01
			offset, slope = offset+(h11*g0-h01*g1)/det, slope+(h00*g1-h01*g0)/det
		}
		e.slope[s] = min(max(slope, 0), mostSlope)
	}
	e.expect()
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
	for _, i := range e.use {
		z := softmax(e.nats(&e.corpus.samples[i]))
		for j := range z {
			change = max(change, math.Abs(z[j]-e.posterior[i][j]))
		}
		e.posterior[i] = z
	}
	return change
}

// nats are those of a case's labels, by base rates and by what is said.
func (e *estimate) nats(s *sample) []float64 {
	z := make([]float64, len(s.labels))
	for j, l := range s.labels {
		z[j] = math.Log(e.rates[l])
	}
	for k := range s.uttered {
		if u := &s.uttered[k]; u.says != noLabel {
			e.add(z, s, u)
		}
	}
	return z
}

// add adds what one statement counts.
func (e *estimate) add(z []float64, s *sample, u *utterance) {
	for j, l := range s.labels {
		nats := e.logs[u.source][l][u.says]
		if l == u.says {
			nats += e.slope[u.source] * (u.logit - e.usual[u.source])
		}
		z[j] += e.share[u.source] * nats
	}
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
		share := e.share[s] * e.tempered
		r := abi.SourceReliability{Source: c.sources[s], Share: round(share)}
		if slope := round(share * e.slope[s]); slope > 0 {
			r.Stated = &abi.LogitMap{Offset: round(-slope * e.usual[s]), Slope: slope, Range: c.ranges[s]}
		}
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
	c.setCaps(p, e.use, mostNats)
	return p
}

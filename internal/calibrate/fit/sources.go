package fit

import "math"

// commonPenalty is on what all sources have in common, which is hardly
// penalised: there are enough cases for two figures.
const commonPenalty = 0.05

// unheard is the penalty of what may not count: it stays next to nothing.
const unheard = 1e6

// textBase penalises the base rates of regressions on phrases alone.
const textBase = 0.5

// sourceTerms says how a regression sees the sources.
type sourceTerms struct {
	// own penalises how far a source's trust lies from what all have in common;
	// 0 gives the sources none of their own.
	own float64
	// table penalises what a statement tells of each label beyond that; 0 leaves it out.
	table float64
	// element penalises what it tells by which element a statement is made; 0 leaves it out. Where that differs, stated confidences don't
	// count beside it: elements say much of what they say, and nobody overstates an element.
	element float64
	// base penalises how far base rates lie from even ones.
	base float64
}

// layout is where the parameters of a regression are.
type layout struct {
	base                       int32
	commonOffset, commonSlope  int32
	offset, slope, table, text int32
	kind                       int32
	sources                    *sourceTerms
	tabled, kinds              bool
	phrases                    []int32
}

// design builds the regression of cases on sources and phrases. A nil sources
// leaves them out.
func (c *corpus) design(train []int, sources *sourceTerms, phrases []int32, textPenalty float64) (*regression, *layout) {
	r, l := &regression{}, &layout{sources: sources, phrases: phrases}
	k := len(c.labels)
	if sources == nil {
		l.base = r.parameters(k, textBase)
	} else {
		l.base = r.parameters(k, sources.base)
		l.commonOffset = r.parameters(1, commonPenalty)
		l.commonSlope = r.parameters(1, commonPenalty)
		r.positive[l.commonSlope] = true
		unstated := sources.element > 0 && len(c.elements) > 0
		if sources.own > 0 {
			l.offset = r.parameters(len(c.sources), sources.own)
			l.slope = r.parameters(len(c.sources), sources.own)
			for s := range c.sources {
				r.parent[int(l.offset)+s] = l.commonOffset
				r.positive[int(l.slope)+s] = true
				if unstated {
					r.penalty[int(l.slope)+s] = unheard
				} else {
					r.parent[int(l.slope)+s] = l.commonSlope
				}
			}
		}
		l.tabled = sources.table > 0 && c.tableable()
		if l.tabled {
			l.table = r.parameters(len(c.statements)*k, sources.table)
		}
		l.kinds = sources.element > 0 && c.tableable()
		if l.kinds {
			l.kind = r.parameters(len(c.elements)*k, sources.element)
		}
	}
	l.text = r.parameters(len(phrases)*k, textPenalty)
	place := make(map[int32]int32, len(phrases))
	for i, p := range phrases {
		place[p] = l.text + int32(i*k)
	}
	for _, i := range train {
		r.rows = append(r.rows, c.row(&c.samples[i], l, place))
	}
	return r, l
}

func (c *corpus) row(s *sample, l *layout, place map[int32]int32) row {
	w := row{labels: s.labels, truth: s.truth, weight: s.weight, class: []int32{l.base}}
	if l.sources != nil {
		for i := range s.uttered {
			u := &s.uttered[i]
			if l.tabled {
				w.class = append(w.class, l.table+int32(u.statement*len(c.labels)))
			}
			w.shared = append(w.shared, trustTerms(s, u, l)...)
		}
		if l.kinds {
			for _, e := range s.elements {
				w.class = append(w.class, l.kind+e*int32(len(c.labels)))
			}
		}
	}
	if len(place) > 0 {
		for _, p := range s.phrases {
			if at, ok := place[p]; ok {
				w.class = append(w.class, at)
			}
		}
	}
	return w
}

// trustTerms are what the label that a source names gets.
func trustTerms(s *sample, u *utterance, l *layout) []term {
	for j, label := range s.labels {
		if label != u.says {
			continue
		}
		at := int32(j)
		if l.sources.own > 0 {
			source := int32(u.source)
			return []term{{l.offset + source, at, 1}, {l.slope + source, at, u.logit}}
		}
		return []term{{l.commonOffset, at, 1}, {l.commonSlope, at, u.logit}}
	}
	return nil
}

// model reads a linear model from the parameters.
func (c *corpus) model(l *layout, x []float64) *linear {
	m := newLinear(c)
	k := len(c.labels)
	copy(m.base, x[l.base:])
	if l.sources != nil {
		for s := range c.sources {
			m.offset[s], m.slope[s] = x[l.commonOffset], x[l.commonSlope]
			if l.sources.own > 0 {
				m.offset[s], m.slope[s] = x[int(l.offset)+s], x[int(l.slope)+s]
			}
		}
		if l.tabled {
			for i := range c.statements {
				m.table[i] = x[int(l.table)+i*k : int(l.table)+(i+1)*k]
			}
		}
		if l.kinds {
			for i := range c.elements {
				m.kind[i] = x[int(l.kind)+i*k : int(l.kind)+(i+1)*k]
			}
		}
	}
	for i, p := range l.phrases {
		m.text[p] = x[int(l.text)+i*k : int(l.text)+(i+1)*k]
	}
	return m
}

// regress fits sources and phrases together.
func (c *corpus) regress(train []int, sources *sourceTerms, phrases []int32, textPenalty float64) *linear {
	r, l := c.design(train, sources, phrases, textPenalty)
	return c.model(l, r.solve())
}

// mostFigures bounds the tables of all sources together, and the weights of all
// signals: where there are hundreds of labels, no docket fills such tables.
const mostFigures = 20_000

// tableable says whether sources may have tables.
func (c *corpus) tableable() bool {
	return (len(c.statements)+len(c.elements))*len(c.labels) <= mostFigures
}

// counts of what stands beside which true label.
type counts struct {
	label []float64 // cases by true label
	total float64
}

func (c *corpus) count(train []int) counts {
	n := counts{label: make([]float64, len(c.labels))}
	for _, i := range train {
		s := &c.samples[i]
		n.label[s.labels[s.truth]] += s.weight
		n.total += s.weight
	}
	return n
}

// likelihood is log P(seen | label) - log P(seen), smoothed towards nothing:
// seen[l] of all[l] cases, and strength more that know no label.
func likelihood(seen, all []float64, strength float64) []float64 {
	sum, of := 0.0, 0.0
	for l := range seen {
		sum += seen[l]
		of += all[l]
	}
	out := make([]float64, len(seen))
	if sum == 0 {
		return out
	}
	marginal := sum / of
	for l := range seen {
		out[l] = math.Log((seen[l]+strength*marginal)/(all[l]+strength)) - math.Log(marginal)
	}
	return out
}

// tables is naive Bayes over what the sources say: for each, how likely it is
// given each label, among the cases in which the source speaks.
func (c *corpus) tables(train []int, strength float64) *linear {
	m := newLinear(c)
	c.frequencies(m.base, train)
	if !c.tableable() {
		return m
	}
	seen := make([][]float64, len(c.statements))
	speaks := make([][]float64, len(c.sources))
	for i := range seen {
		seen[i] = make([]float64, len(c.labels))
	}
	for i := range speaks {
		speaks[i] = make([]float64, len(c.labels))
	}
	for _, i := range train {
		s := &c.samples[i]
		truth := s.labels[s.truth]
		last := make(map[int]bool)
		for k := range s.uttered {
			u := &s.uttered[k]
			seen[u.statement][truth] += s.weight
			if !last[u.source] {
				last[u.source] = true
				speaks[u.source][truth] += s.weight
			}
		}
	}
	for i := range seen {
		m.table[i] = likelihood(seen[i], speaks[c.statements[i].source], strength)
	}
	return m
}

// frequencies are the logs of how often each label is true, smoothed.
func (c *corpus) frequencies(to []float64, train []int) {
	n := c.count(train)
	for l := range to {
		to[l] = math.Log((n.label[l] + 0.5) / (n.total + 0.5*float64(len(to))))
	}
}

package fit

import (
	"cmp"
	"math"
	"slices"
)

// setting is how strongly the regression is regularized.
type setting struct {
	// sources multiplies the penalties of what sources say.
	sources float64
	// stated lets the confidences count that sources state.
	stated bool
	// text penalizes each weight of a phrase; 0 leaves texts out.
	text float64
}

// Penalties of what sources say, and of base rates. What all sources have in common is hardly penalized: there are enough cases for two
// figures. How far a source's trust lies from that is, and more so what a statement tells of each label beyond that, and by
// which element it is made.
const (
	basePenalty    = 0.5
	commonPenalty  = 0.05
	ownPenalty     = 1
	tablePenalty   = 2
	elementPenalty = 2
)

// silenced is the penalty of what may not count: it stays next to nothing.
const silenced = 1e6

// linear is a model of the labels' log-odds as a sum: what a profile can say.
type linear struct {
	base   []float64           // by label
	table  [][]float64         // by statement, then label; nil tells nothing
	kind   [][]float64         // by element statement, then label; nil tells nothing
	offset []float64           // by source, for the label that it names
	slope  []float64           // by source, times the logit of the stated confidence
	text   map[int32][]float64 // by phrase, then label
}

// layout is where the parameters of a regression are.
type layout struct {
	base, offset, slope, table, kind, text int32
	tabled                                 bool
	phrases                                []int32
}

// mostFigures bounds the tables of all sources together: where there are hundreds of labels, no docket fills such tables.
const mostFigures = 20_000

// tabled says whether sources may have tables.
func (c *corpus) tabled() bool {
	return (len(c.statements)+len(c.elements))*len(c.labels) <= mostFigures
}

// design builds the regression of cases on what sources say and on phrases.
func (c *corpus) design(train []int, by setting, phrases []int32) (*regression, *layout) {
	r, l := &regression{}, &layout{phrases: phrases, tabled: c.tabled()}
	k := len(c.labels)
	l.base = r.parameters(k, basePenalty)
	commonOffset, commonSlope := r.parameters(1, commonPenalty), r.parameters(1, commonPenalty)
	r.positive[commonSlope] = true
	if !by.stated {
		r.penalty[commonSlope] = silenced
	}
	l.offset, l.slope = r.parameters(len(c.sources), ownPenalty*by.sources), r.parameters(len(c.sources), ownPenalty*by.sources)
	for s := range int32(len(c.sources)) {
		if !by.stated {
			r.penalty[l.slope+s] = silenced
		}
		r.parent[l.offset+s], r.parent[l.slope+s], r.positive[l.slope+s] = commonOffset, commonSlope, true
	}
	if l.tabled {
		l.table = r.parameters(len(c.statements)*k, tablePenalty*by.sources)
		l.kind = r.parameters(len(c.elements)*k, elementPenalty*by.sources)
	}
	l.text = r.parameters(len(phrases)*k, by.text)
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
	k := int32(len(c.labels))
	w := row{labels: s.labels, truth: s.truth, class: []int32{l.base}}
	for i := range s.uttered {
		u := &s.uttered[i]
		if l.tabled {
			w.class = append(w.class, l.table+int32(u.statement)*k)
		}
		if at := slices.Index(s.labels, u.says); at >= 0 {
			source := int32(u.source)
			w.shared = append(w.shared, term{l.offset + source, int32(at), 1}, term{l.slope + source, int32(at), u.logit})
		}
	}
	if l.tabled {
		for _, e := range s.elements {
			w.class = append(w.class, l.kind+e*k)
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

// model reads a linear model from the parameters.
func (c *corpus) model(l *layout, x []float64) *linear {
	k := len(c.labels)
	m := &linear{base: x[l.base:][:k], offset: x[l.offset:][:len(c.sources)], slope: x[l.slope:][:len(c.sources)], text: make(map[int32][]float64, len(l.phrases))}
	m.table, m.kind = make([][]float64, len(c.statements)), make([][]float64, len(c.elements))
	if l.tabled {
		for i := range m.table {
			m.table[i] = x[int(l.table)+i*k:][:k]
		}
		for i := range m.kind {
			m.kind[i] = x[int(l.kind)+i*k:][:k]
		}
	}
	for i, p := range l.phrases {
		m.text[p] = x[int(l.text)+i*k:][:k]
	}
	return m
}

// mostSignals is how many phrases a profile has at most: every trial reads them.
const mostSignals = 500

// learn fits the model on some cases. Of the phrases those stay that tell most of these cases, and the others are left out.
func (c *corpus) learn(train []int, by setting) *linear {
	phrases := c.standing(train, by)
	r, l := c.design(train, by, phrases)
	x := r.solve()
	if len(phrases) > mostSignals {
		l.phrases = phrases
		r, l = c.design(train, by, c.strongest(train, c.model(l, x)))
		x = r.solve()
	}
	return c.model(l, x)
}

// standing are the phrases that stand in enough of some cases.
func (c *corpus) standing(train []int, by setting) []int32 {
	if by.text == 0 {
		return nil
	}
	n := make([]int, len(c.phrases))
	for _, i := range train {
		for _, p := range c.samples[i].phrases {
			n[p]++
		}
	}
	var list []int32
	for p, cases := range n {
		if cases >= leastCases && cases < len(train) {
			list = append(list, int32(p))
		}
	}
	return list
}

// strongest are the phrases that tell most: by how far a phrase moves two labels apart, and in how many cases that makes a difference.
func (c *corpus) strongest(train []int, m *linear) []int32 {
	stands := make([]float64, len(c.phrases))
	for _, i := range train {
		for _, p := range c.samples[i].phrases {
			stands[p] += 1 / float64(len(train))
		}
	}
	worth := func(p int32) float64 { return spread(m.text[p]) * math.Sqrt(stands[p]*(1-stands[p])) }
	var list []int32
	for p := range m.text {
		list = append(list, p)
	}
	slices.SortFunc(list, func(a, b int32) int { return cmp.Or(cmp.Compare(worth(b), worth(a)), cmp.Compare(a, b)) })
	list = list[:min(mostSignals, len(list))]
	slices.Sort(list)
	return list
}

// scaled is a model with everything multiplied, and what texts tell by another figure.
func (m *linear) scaled(rest, text float64) *linear {
	times := func(v []float64, by float64) []float64 {
		out := make([]float64, len(v))
		addTo(out, v, by)
		return out
	}
	out := &linear{base: times(m.base, rest), offset: times(m.offset, rest), slope: times(m.slope, rest), text: make(map[int32][]float64, len(m.text))}
	for _, v := range m.table {
		out.table = append(out.table, times(v, rest))
	}
	for _, v := range m.kind {
		out.kind = append(out.kind, times(v, rest))
	}
	for p, v := range m.text {
		if text > 0 {
			out.text[p] = times(v, text)
		}
	}
	return out
}

// rest gives the log-odds of a sample's labels, in its order, without what texts tell. stated is what a source's confidence counts as.
func (m *linear) rest(s *sample, stated func(u *utterance) float64) []float64 {
	z := make([]float64, len(s.labels))
	add := func(v []float64) {
		if v == nil {
			return
		}
		for j, l := range s.labels {
			z[j] += v[l]
		}
	}
	add(m.base)
	for i := range s.uttered {
		u := &s.uttered[i]
		add(m.table[u.statement])
		if at := slices.Index(s.labels, u.says); at >= 0 {
			z[at] += m.offset[u.source] + m.slope[u.source]*stated(u)
		}
	}
	for _, e := range s.elements {
		add(m.kind[e])
	}
	return z
}

// told gives what the texts of a sample tell of its labels.
func (m *linear) told(s *sample) []float64 {
	z := make([]float64, len(s.labels))
	for _, p := range s.phrases {
		if w := m.text[p]; w != nil {
			for j, l := range s.labels {
				z[j] += w[l]
			}
		}
	}
	return z
}

func addTo(to, v []float64, times float64) {
	for i, x := range v {
		to[i] += times * x
	}
}

// softmax turns log-odds into probabilities, in place.
func softmax(z []float64) []float64 {
	largest, sum := math.Inf(-1), 0.0
	for _, x := range z {
		largest = max(largest, x)
	}
	for i, x := range z {
		z[i] = math.Exp(x - largest)
		sum += z[i]
	}
	for i := range z {
		z[i] /= sum
	}
	return z
}

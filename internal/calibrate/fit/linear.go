package fit

import "math"

// linear is a model of the labels' log-odds as a sum: what a profile can say.
// All learners give one, and a weighted sum of some is one again.
type linear struct {
	base   []float64           // by label
	table  [][]float64         // by statement, then label; nil tells nothing
	kind   [][]float64         // by element statement, then label; nil tells nothing
	offset []float64           // by source, for the label that it names
	slope  []float64           // by source, times the logit of the stated confidence
	text   map[int32][]float64 // by phrase, then label
}

func newLinear(c *corpus) *linear {
	return &linear{
		base: make([]float64, len(c.labels)), table: make([][]float64, len(c.statements)), kind: make([][]float64, len(c.elements)),
		offset: make([]float64, len(c.sources)), slope: make([]float64, len(c.sources)),
		text: make(map[int32][]float64),
	}
}

// addRest adds times what another model makes of everything but texts.
func (m *linear) addRest(other *linear, times float64) {
	addTo(m.base, other.base, times)
	addTables(m.table, other.table, times)
	addTables(m.kind, other.kind, times)
	addTo(m.offset, other.offset, times)
	addTo(m.slope, other.slope, times)
}

// addPhrases adds times what another model makes of texts.
func (m *linear) addPhrases(other *linear, times float64) {
	for p, v := range other.text {
		m.text[p] = grown(m.text[p], len(v))
		addTo(m.text[p], v, times)
	}
}

func addTables(to, tables [][]float64, times float64) {
	for i, v := range tables {
		if v != nil {
			to[i] = grown(to[i], len(v))
			addTo(to[i], v, times)
		}
	}
}

func grown(v []float64, n int) []float64 {
	if v == nil {
		return make([]float64, n)
	}
	return v
}

func addTo(to, v []float64, times float64) {
	for i, x := range v {
		to[i] += times * x
	}
}

// nats gives the log-odds of a sample's labels, in its order.
func (m *linear) nats(s *sample) []float64 {
	z := make([]float64, len(s.labels))
	m.addSources(z, s)
	m.addText(z, s)
	for j, l := range s.labels {
		z[j] += m.base[l]
	}
	return z
}

func (m *linear) addSources(z []float64, s *sample) {
	for i := range s.uttered {
		u := &s.uttered[i]
		table := m.table[u.statement]
		for j, l := range s.labels {
			if table != nil {
				z[j] += table[l]
			}
			if l == u.says {
				z[j] += m.offset[u.source] + m.slope[u.source]*u.logit
			}
		}
	}
	for _, e := range s.elements {
		if table := m.kind[e]; table != nil {
			for j, l := range s.labels {
				z[j] += table[l]
			}
		}
	}
}

func (m *linear) addText(z []float64, s *sample) {
	if len(m.text) == 0 {
		return
	}
	for _, p := range s.phrases {
		if w := m.text[p]; w != nil {
			for j, l := range s.labels {
				z[j] += w[l]
			}
		}
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

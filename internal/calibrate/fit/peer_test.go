package fit_test

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/odds"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/internal/calibrate"
)

// rule answers a case with one of its labels.
type rule func(*voters) string

// voters are those who name a label in a case, and its words.
type voters struct {
	Labels     []string
	Light      statement
	Statements []statement
	Words      map[string]int
	Truth      string
}

type statement struct {
	Source, Label string
	Confidence    float64
}

func votersOf(e *docket.Entry) *voters {
	c := &e.Case
	v := &voters{Labels: c.Labels, Statements: statementsOf(c), Words: wordsOf(c), Truth: e.Truth.Classification}
	if c.Light != nil {
		v.Light = statement{":light", c.Light.Classification, c.Light.Confidence}
	}
	return v
}

func (c *voters) all() []statement {
	if c.Light.Label == "" {
		return c.Statements
	}
	return append([]statement{c.Light}, c.Statements...)
}

// peer is a logistic regression over the sources and TF-IDF, fitted on the same cases.
func peer(entries []docket.Entry) rule {
	var training []*voters
	for i := range entries {
		training = append(training, votersOf(&entries[i]))
	}
	return fitLogistic(training)
}

// statementsOf gives each source one statement: the label for which its items state the most together, ties to the earlier label of
// the case, with the highest confidence of those items.
func statementsOf(c *abi.Case) []statement {
	totals, most := map[string]map[string]float64{}, map[string]map[string]float64{}
	for i := range c.Evidence {
		e := &c.Evidence[i]
		if e.Supports == "" {
			continue
		}
		source := odds.SourceKey(e.SourceRef)
		if totals[source] == nil {
			totals[source], most[source] = map[string]float64{}, map[string]float64{}
		}
		totals[source][e.Supports] += e.RelevanceConfidence
		most[source][e.Supports] = max(most[source][e.Supports], e.RelevanceConfidence)
	}
	list := make([]statement, 0, len(totals))
	for source, of := range totals {
		best := statement{Source: source}
		for _, label := range c.Labels {
			if total, ok := of[label]; ok && (best.Label == "" || total > of[best.Label]) {
				best.Label, best.Confidence = label, most[source][label]
			}
		}
		list = append(list, best)
	}
	slices.SortFunc(list, func(a, b statement) int { return cmp.Compare(a.Source, b.Source) })
	return list
}

// wordsOf counts runs of letters and digits with at least one letter, in lower case, of 2 to 40 bytes.
func wordsOf(c *abi.Case) map[string]int {
	seen := map[string]int{}
	add := func(text string) {
		for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
			if len(word) < 2 || len(word) > 40 || !strings.ContainsFunc(word, unicode.IsLetter) {
				continue
			}
			lower := strings.ToLower(word)
			if _, ok := seen[lower]; !ok {
				lower = strings.Clone(lower) // a part of a document would keep all of it
			}
			seen[lower]++
		}
	}
	for i := range c.Documents {
		add(c.Documents[i].Text)
	}
	for i := range c.Evidence {
		add(c.Evidence[i].Content)
	}
	return seen
}

// tieWidth is how near two sums are that are a tie: sums of floats depend on the order of their terms.
const tieWidth = 1e-9

// mostOf is the label with the highest score. A tie goes to Light's answer if it is among the tied, else to the first of the
// case's labels.
func mostOf(c *voters, scores map[string]float64) string {
	most := math.Inf(-1)
	for _, score := range scores {
		most = max(most, score)
	}
	for _, label := range append([]string{c.Light.Label}, c.Labels...) {
		if score, ok := scores[label]; ok && score >= most-tieWidth {
			return label
		}
	}
	return c.Light.Label
}

// logistic is a multinomial logistic regression over what the sources say, Light's answer included, and over the words: by TF-IDF
// with a logarithm of the counts, each case scaled to length 1. The penalty is half the square of the weights for a log loss summed over the
// cases, the default of scikit-learn. Words of one training case only are left out.
type logistic struct {
	idf               map[string]float64 // of the words
	features, classes map[string]int
	weights           []float64 // by feature, then class; the last of each class is its own
}

func fitLogistic(training []*voters) rule {
	m := &logistic{features: map[string]int{}, idf: map[string]float64{}, classes: map[string]int{}}
	for _, c := range training {
		for word := range c.Words {
			m.idf[word]++
		}
	}
	maps.DeleteFunc(m.idf, func(_ string, cases float64) bool { return cases < 2 })
	for word, cases := range m.idf {
		m.idf[word] = 1 + math.Log(float64(1+len(training))/(1+cases))
	}
	number := func(known map[string]int, name string) {
		if _, ok := known[name]; !ok {
			known[name] = len(known)
		}
	}
	for _, c := range training {
		number(m.classes, c.Truth)
		m.describe(c, func(feature string, _ float64) { number(m.features, feature) })
	}
	k := len(m.classes)
	r, labels := &calibrate.Regression{}, make([]int, k)
	r.Parameters(len(m.features)*k, 1)
	r.Parameters(k, 0) // what is a class's own is free
	for l := range labels {
		labels[l] = l
	}
	for _, c := range training {
		r.Rows = append(r.Rows, calibrate.Row{Labels: labels, Truth: m.classes[c.Truth], Each: m.terms(c)})
	}
	if len(training) > 0 {
		m.weights = r.Solve()
	}
	return m.answer
}

// describe tells each feature of a case and its value, always in the same order.
func (m *logistic) describe(c *voters, feature func(name string, value float64)) {
	for _, s := range c.all() {
		feature("says "+s.Source+"\x00"+s.Label, 1)
		feature("states "+s.Source+"\x00"+s.Label, odds.Logit(s.Confidence))
	}
	words := slices.Sorted(maps.Keys(c.Words))
	weight := func(word string) float64 { return m.idf[word] * (1 + math.Log(float64(c.Words[word]))) }
	length := 0.0
	for _, word := range words {
		length += weight(word) * weight(word)
	}
	for _, word := range words {
		if w := weight(word); w > 0 {
			feature("word "+word, w/math.Sqrt(length))
		}
	}
}

// terms are the features that the training cases have.
func (m *logistic) terms(c *voters) []calibrate.Term {
	k := int32(len(m.classes))
	var list []calibrate.Term
	m.describe(c, func(name string, value float64) {
		if at, known := m.features[name]; known {
			list = append(list, calibrate.Term{Parameter: int32(at) * k, Value: value})
		}
	})
	return append(list, calibrate.Term{Parameter: int32(len(m.features)) * k, Value: 1})
}

// answer gives the most likely of the case's labels, Light's where it knows none of them.
func (m *logistic) answer(c *voters) string {
	var known []string
	w := calibrate.Row{Each: m.terms(c)}
	for _, label := range c.Labels {
		if class, ok := m.classes[label]; ok {
			known, w.Labels = append(known, label), append(w.Labels, class)
		}
	}
	scores := make(map[string]float64, len(known))
	for i, score := range w.Scores(nil, m.weights) {
		scores[known[i]] = score
	}
	return mostOf(c, scores)
}

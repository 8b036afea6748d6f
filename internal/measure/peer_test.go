package measure

import (
	"maps"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/odds"
	"github.com/shadowcourt/shadowcourt/host/docket"
)

// wordsOf counts runs of letters and digits with at least one letter, in lower case, of 2 to 40 bytes.
func wordsOf(c *abi.Case) map[string]int {
	seen := map[string]int{}
	for _, text := range append(texts(c), itemsOf(c)...) {
		for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
			if len(word) >= 2 && len(word) <= 40 && strings.ContainsFunc(word, unicode.IsLetter) {
				seen[strings.ToLower(word)]++
			}
		}
	}
	return seen
}

// itemsOf are the contents of the items that name a label, which texts leaves out.
func itemsOf(c *abi.Case) []string {
	var list []string
	for i := range c.Evidence {
		if c.Evidence[i].Supports != "" {
			list = append(list, c.Evidence[i].Content)
		}
	}
	return list
}

// peer is a multinomial logistic regression over what the sources say and state, Light included, and over the words: by TF-IDF with a logarithm
// of the counts, each case scaled to length 1. The penalty is half the square of the weights for a log loss summed over the cases, the default
// of scikit-learn. Words of one training case only are left out.
type peer struct {
	idf               map[string]float64
	features, classes map[string]int
	weights           []float64 // by feature, then class; the last of each class is its own
}

func fitPeer(training []docket.Entry) *peer {
	m := &peer{features: map[string]int{}, idf: map[string]float64{}, classes: map[string]int{}}
	for i := range training {
		for word := range wordsOf(&training[i].Case) {
			m.idf[word]++
		}
	}
	maps.DeleteFunc(m.idf, func(_ string, cases float64) bool { return cases < 2 })
	for word, cases := range m.idf {
		m.idf[word] = 1 + math.Log(float64(1+len(training))/(1+cases))
	}
	for i := range training {
		number(m.classes, training[i].Truth.Classification)
		m.describe(&training[i].Case, func(feature string, _ float64) { number(m.features, feature) })
	}
	r, labels := &Regression{}, places(len(m.classes))
	r.Parameters(len(m.features)*len(labels), 1)
	r.Parameters(len(labels), 0) // what is a class's own is free
	for i := range training {
		r.Rows = append(r.Rows, Row{Labels: labels, Truth: m.classes[training[i].Truth.Classification], Each: m.terms(&training[i].Case)})
	}
	m.weights = r.Solve()
	return m
}

// describe tells each feature of a case and its value, always in the same order.
func (m *peer) describe(c *abi.Case, feature func(name string, value float64)) {
	say := func(source, label string, confidence float64) {
		feature("says "+source+"\x00"+label, 1)
		feature("states "+source+"\x00"+label, odds.Logit(confidence))
	}
	if c.Light != nil {
		say(":light", c.Light.Classification, c.Light.Confidence)
	}
	for _, s := range statements(c) {
		for _, x := range s.said {
			if x.label != "" {
				say(s.source, x.label, x.stated)
			}
		}
	}
	words, length := wordsOf(c), 0.0
	weight := func(word string) float64 { return m.idf[word] * (1 + math.Log(float64(words[word]))) }
	for _, word := range slices.Sorted(maps.Keys(words)) {
		length += weight(word) * weight(word)
	}
	for _, word := range slices.Sorted(maps.Keys(words)) {
		if w := weight(word); w > 0 {
			feature("word "+word, w/math.Sqrt(length))
		}
	}
}

// terms are the features that the training cases have.
func (m *peer) terms(c *abi.Case) []Term {
	k := int32(len(m.classes))
	var list []Term
	m.describe(c, func(name string, value float64) {
		if at, known := m.features[name]; known {
			list = append(list, Term{Parameter: int32(at) * k, Value: value})
		}
	})
	return append(list, Term{Parameter: int32(len(m.features)) * k, Value: 1})
}

// answer gives the most likely of the case's labels that it knows.
func (m *peer) answer(c *abi.Case) string {
	var known []string
	w := Row{Each: m.terms(c)}
	for _, label := range c.Labels {
		if class, ok := m.classes[label]; ok {
			known, w.Labels = append(known, label), append(w.Labels, class)
		}
	}
	return known[best(w.Scores(nil, m.weights))]
}

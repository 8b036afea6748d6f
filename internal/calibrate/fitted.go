package calibrate

import (
	"maps"
	"math"
	"slices"

	"github.com/shadowcourt/shadowcourt/abi/odds"
)

// fitWitness follows the one witness that is most reliable on the training cases, and Light where it is silent.
//
// The reliability of a witness is the smoothed share of cases that the rule has right which follows it: right statements over
// statements, with one right and one wrong one added (Laplace's rule of succession), and Light's smoothed share where it is
// silent, each weighted by how often it speaks. So a witness that was right the three times it spoke does not come before
// one that is right nine times in ten, always. A witness whose rule is not better than Light's is not followed. Ties go to
// the witness whose name sorts first.
func fitWitness(training []*BaselineCase) Rule {
	// What a witness stated, right statements, and how often Light was right in the same cases.
	type tally struct{ stated, right, lightRight float64 }
	var lightRight float64
	said := map[string]tally{}
	for _, c := range training {
		light := asNumber(c.Light.Label == c.Truth)
		lightRight += light
		for _, s := range c.Statements {
			t := said[s.Source]
			said[s.Source] = tally{t.stated + 1, t.right + asNumber(s.Label == c.Truth), t.lightRight + light}
		}
	}
	smoothed := func(right, of float64) float64 { return (right + 1) / (of + 2) }
	cases := float64(len(training))
	best, most, found := "", smoothed(lightRight, cases), false
	for _, source := range slices.Sorted(maps.Keys(said)) {
		t := said[source]
		silent := cases - t.stated
		rule := (t.stated*smoothed(t.right, t.stated) + silent*smoothed(lightRight-t.lightRight, silent)) / cases
		if rule > most {
			best, most, found = source, rule, true
		}
	}
	return func(c *BaselineCase) string {
		for _, s := range c.Statements {
			if found && s.Source == best {
				return s.Label
			}
		}
		return c.Light.Label
	}
}

// counts are by label.
type counts map[string]float64

// bayes is a plain naive Bayes: the prior of a label, times the likelihood of each source's statement, Light's included,
// times that of each distinct word (the multinomial model over presence, Jurafsky and Martin, Speech and Language
// Processing, ch. 4), all with Laplace's one added. A source that is silent and a word that was never seen say nothing.
// Words seen in one training case only are left out.
type bayes struct {
	cases  float64
	labels counts               // cases of a label
	stated map[[2]string]counts // how often a source names a label
	spoken map[string]counts    // how often a source speaks at all
	says   map[string]counts    // which labels a source is known to name
	words  map[string]counts
	length counts // words of all cases of a label
}

func fitBayes(training []*BaselineCase) Rule {
	m := &bayes{
		float64(len(training)), counts{}, map[[2]string]counts{}, map[string]counts{}, map[string]counts{}, map[string]counts{}, counts{},
	}
	for _, c := range training {
		m.labels[c.Truth]++
		for _, s := range withLight(c) {
			increment(m.stated, [2]string{s.Source, s.Label}, c.Truth)
			increment(m.spoken, s.Source, c.Truth)
			increment(m.says, s.Source, s.Label)
		}
		for word := range c.Words {
			increment(m.words, word, c.Truth)
		}
	}
	maps.DeleteFunc(m.words, func(_ string, by counts) bool {
		total := 0.0
		for _, n := range by {
			total += n
		}
		return total < 2
	})
	for _, by := range m.words {
		for label, n := range by {
			m.length[label] += n
		}
	}
	return m.answer
}

func increment[K comparable](m map[K]counts, key K, label string) {
	if m[key] == nil {
		m[key] = counts{}
	}
	m[key][label]++
}

// answer gives the most likely of the case's labels.
func (m *bayes) answer(c *BaselineCase) string {
	scores := make(map[string]float64, len(c.Labels))
	words := slices.Sorted(maps.Keys(c.Words)) // sums of floats depend on the order
	for _, label := range c.Labels {
		score := math.Log((m.labels[label] + 1) / (m.cases + float64(len(c.Labels))))
		for _, s := range withLight(c) {
			kinds := max(len(m.says[s.Source]), len(c.Labels))
			score += math.Log((m.stated[[2]string{s.Source, s.Label}][label] + 1) / (m.spoken[s.Source][label] + float64(kinds)))
		}
		for _, word := range words {
			if by, known := m.words[word]; known {
				score += math.Log((by[label] + 1) / (m.length[label] + float64(len(m.words))))
			}
		}
		scores[label] = score
	}
	return mostOf(c, scores)
}

func withLight(c *BaselineCase) []Statement {
	if c.Light.Label == "" {
		return c.Statements
	}
	return append([]Statement{c.Light}, c.Statements...)
}

// logistic is a multinomial logistic regression over what the sources say, Light's answer included, and over the words: by TF-IDF
// with a logarithm of the counts, each case scaled to length 1. The penalty is half the square of the weights for a log loss summed over the
// cases, the default of scikit-learn. Words of one training case only are left out.
type logistic struct {
	idf               map[string]float64 // of the words
	features, classes map[string]int
	weights           []float64 // by feature, then class; the last of each class is its own
}

func fitLogistic(training []*BaselineCase) Rule {
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
	r, labels := &Regression{}, make([]int, k)
	r.Parameters(len(m.features)*k, 1)
	r.Parameters(k, 0) // what is a class's own is free
	for l := range labels {
		labels[l] = l
	}
	for _, c := range training {
		r.Rows = append(r.Rows, Row{Labels: labels, Truth: m.classes[c.Truth], Each: m.terms(c)})
	}
	if len(training) > 0 {
		m.weights = r.Solve()
	}
	return m.answer
}

// describe tells each feature of a case and its value, always in the same order.
func (m *logistic) describe(c *BaselineCase, feature func(name string, value float64)) {
	for _, s := range withLight(c) {
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
func (m *logistic) terms(c *BaselineCase) []Term {
	k := int32(len(m.classes))
	var list []Term
	m.describe(c, func(name string, value float64) {
		if at, known := m.features[name]; known {
			list = append(list, Term{Parameter: int32(at) * k, Value: value})
		}
	})
	return append(list, Term{Parameter: int32(len(m.features)) * k, Value: 1})
}

// answer gives the most likely of the case's labels, Light's where it knows none of them.
func (m *logistic) answer(c *BaselineCase) string {
	var known []string
	w := Row{Each: m.terms(c)}
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

package baseline

import (
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/optimize"

	"github.com/shadowcourt/shadowcourt/abi/odds"
)

// fitLogistic is a multinomial logistic regression over what the sources say, Light's answer included, and over the words: by TF-IDF
// with a logarithm of the counts, each case scaled to length 1. The penalty is half the square of the weights for a log loss summed over the
// cases, the default of scikit-learn. Words of one training case only are left out.
func fitLogistic(training []*Case) Rule {
	training = slices.DeleteFunc(slices.Clone(training), func(c *Case) bool { return c.Truth == "" })
	m := &logistic{features: map[string]int{}, idf: map[string]float64{}, classes: map[string]int{}}
	if len(training) == 0 {
		return m.answer
	}
	m.countWords(training)
	p := &logisticProblem{}
	for _, c := range training {
		number(m.classes, c.Truth)
		m.describe(c, func(feature string, _ float64) { number(m.features, feature) })
	}
	for _, c := range training {
		p.rows, p.truth = append(p.rows, m.row(c)), append(p.truth, m.classes[c.Truth])
	}
	p.width, p.classes = len(m.features)+1, len(m.classes)
	m.weights = p.solve()
	return m.answer
}

type logistic struct {
	idf               map[string]float64 // of the words
	features, classes map[string]int
	weights           []float64 // by class, then feature; the last of each is its own
}

func number(known map[string]int, name string) {
	if _, ok := known[name]; !ok {
		known[name] = len(known)
	}
}

func (m *logistic) countWords(training []*Case) {
	for _, c := range training {
		for _, token := range c.Tokens {
			m.idf[token]++
		}
	}
	maps.DeleteFunc(m.idf, func(_ string, cases float64) bool { return cases < 2 })
	for token, cases := range m.idf {
		m.idf[token] = 1 + math.Log(float64(1+len(training))/(1+cases))
	}
}

// describe tells each feature of a case and its value.
func (m *logistic) describe(c *Case, feature func(name string, value float64)) {
	for _, s := range withLight(c) {
		feature("says "+s.Source+"\x00"+s.Label, 1)
		feature("states "+s.Source+"\x00"+s.Label, odds.Logit(s.Confidence))
	}
	weight := func(i int) float64 { return m.idf[c.Tokens[i]] * (1 + math.Log(float64(c.Times[i]))) }
	length := 0.0
	for i := range c.Tokens {
		length += weight(i) * weight(i)
	}
	for i := range c.Tokens {
		if w := weight(i); w > 0 {
			feature("word "+c.Tokens[i], w/math.Sqrt(length))
		}
	}
}

// entry is a feature of a case that is not 0.
type entry struct {
	feature int
	value   float64
}

// row has the features that the training cases have.
func (m *logistic) row(c *Case) []entry {
	var row []entry
	m.describe(c, func(name string, value float64) {
		if at, known := m.features[name]; known {
			row = append(row, entry{at, value})
		}
	})
	return append(row, entry{len(m.features), 1})
}

// answer gives the most likely of the case's labels, Light's where it knows none of them.
func (m *logistic) answer(c *Case) string {
	row, scores := m.row(c), make(map[string]float64, len(c.Labels))
	for _, label := range c.Labels {
		if class, known := m.classes[label]; known {
			scores[label] = dot(row, m.weights[class*(len(m.features)+1):])
		}
	}
	return mostOf(c, scores)
}

func dot(row []entry, weights []float64) float64 {
	sum := 0.0
	for _, e := range row {
		sum += e.value * weights[e.feature]
	}
	return sum
}

type logisticProblem struct {
	rows           [][]entry
	truth          []int
	width, classes int
}

func (p *logisticProblem) solve() []float64 {
	gradient := make([]float64, p.width*p.classes)
	problem := optimize.Problem{
		Func: func(x []float64) float64 { return p.value(x, gradient) },
		Grad: func(to, x []float64) { p.value(x, to) },
	}
	settings := &optimize.Settings{MajorIterations: 200, Converger: &optimize.FunctionConverge{Relative: 1e-6, Iterations: 3}}
	// A line search that finds no better point has arrived as far as floats go.
	if result, _ := optimize.Minimize(problem, make([]float64, len(gradient)), settings, &optimize.LBFGS{}); result != nil && result.X != nil {
		return result.X
	}
	return make([]float64, len(gradient))
}

// value is the penalized log loss, with its gradient.
func (p *logisticProblem) value(x, gradient []float64) float64 {
	total := 0.0
	for i, w := range x {
		gradient[i] = 0
		if i%p.width != p.width-1 { // what is a class's own is free
			total, gradient[i] = total+w*w/2, w
		}
	}
	z := make([]float64, p.classes)
	for i, row := range p.rows {
		for class := range z {
			z[class] = dot(row, x[class*p.width:])
		}
		largest, sum := slices.Max(z), 0.0
		for _, s := range z {
			sum += math.Exp(s - largest)
		}
		log := largest + math.Log(sum)
		total += log - z[p.truth[i]]
		for class, s := range z {
			slope := math.Exp(s - log)
			if class == p.truth[i] {
				slope--
			}
			for _, e := range row {
				gradient[class*p.width+e.feature] += slope * e.value
			}
		}
	}
	return total
}

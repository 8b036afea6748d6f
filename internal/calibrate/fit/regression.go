package fit

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/optimize"
)

// term is a parameter that counts for one label of a case.
type term struct {
	parameter int32
	label     int32 // index into the case's labels
	value     float64
}

// row is one case of a regression: which parameters count for which label.
type row struct {
	labels []int
	truth  int
	offset []float64 // nats that are given; may be nil
	// class holds parameters that have one value for each label of the corpus:
	// parameter + label. shared holds those that count for one label.
	class  []int32
	shared []term
}

// regression is a multinomial logistic regression with quadratic penalties: it minimizes the sum over the
// rows of -log P(truth), plus the sum of penalty/2 * parameter^2.
type regression struct {
	rows    []row
	penalty []float64
	// parent of a parameter is another one that it is drawn to; -1 is zero.
	parent []int32
	// positive parameters may not be negative.
	positive []bool
}

// parameters adds n parameters and gives the index of the first.
func (r *regression) parameters(n int, penalty float64) int32 {
	first := int32(len(r.penalty))
	for range n {
		r.penalty = append(r.penalty, penalty)
		r.parent = append(r.parent, -1)
		r.positive = append(r.positive, false)
	}
	return first
}

// value gives the objective and its gradient.
func (r *regression) value(gradient, x []float64) float64 {
	total := 0.0
	clear(gradient)
	var z []float64
	for i := range r.rows {
		w := &r.rows[i]
		z = append(z[:0], w.offset...)
		for len(z) < len(w.labels) {
			z = append(z, 0)
		}
		w.addTo(z, x)
		total += lossAndSlope(z, w.truth)
		w.addGradient(gradient, z)
	}
	for p, penalty := range r.penalty {
		d := x[p]
		if parent := r.parent[p]; parent >= 0 {
			d -= x[parent]
			gradient[parent] -= penalty * d
		}
		total += penalty / 2 * d * d
		gradient[p] += penalty * d
	}
	return total
}

func (w *row) addTo(z, x []float64) {
	for _, p := range w.class {
		own := x[p:]
		for j, l := range w.labels {
			z[j] += own[l]
		}
	}
	for i := range w.shared {
		t := &w.shared[i]
		z[t.label] += t.value * x[t.parameter]
	}
}

func (w *row) addGradient(gradient, z []float64) {
	for _, p := range w.class {
		own := gradient[p:]
		for j, l := range w.labels {
			own[l] += z[j]
		}
	}
	for i := range w.shared {
		t := &w.shared[i]
		gradient[t.parameter] += t.value * z[t.label]
	}
}

// lossAndSlope gives -log P(truth), and turns z into the derivative by z.
func lossAndSlope(z []float64, truth int) float64 {
	largest, sum := slices.Max(z), 0.0
	own := z[truth] - largest
	for j, x := range z {
		z[j] = math.Exp(x - largest)
		sum += z[j]
	}
	for j := range z {
		z[j] /= sum
	}
	z[truth]--
	return math.Log(sum) - own
}

// rounds bounds the steps of one minimization.
const rounds = 300

// solve gives the parameters that minimize the objective. Those that may not be
// negative and would be are held at zero, and the others are found again.
func (r *regression) solve() []float64 {
	held, x := make([]bool, len(r.penalty)), make([]float64, len(r.penalty))
	for again := true; again; {
		x, again = r.minimize(x, held), false
		for p := range x {
			if r.positive[p] && x[p] < 0 {
				x[p], held[p], again = 0, true, true
			}
		}
	}
	return x
}

func (r *regression) minimize(from []float64, held []bool) []float64 {
	at := point{x: make([]float64, len(from)), gradient: make([]float64, len(from))}
	problem := optimize.Problem{
		Func: func(x []float64) float64 { return at.move(r, x, held) },
		Grad: func(g, x []float64) { at.move(r, x, held); copy(g, at.gradient) },
	}
	settings := &optimize.Settings{
		MajorIterations: rounds, GradientThreshold: 1e-3 * math.Sqrt(float64(len(r.rows))),
		Converger: &optimize.FunctionConverge{Relative: 1e-6, Iterations: 5},
	}
	// A line search that finds no better point has arrived as far as floats go.
	result, err := optimize.Minimize(problem, from, settings, &optimize.LBFGS{})
	if result == nil || err != nil && result.X == nil {
		return from
	}
	return result.X
}

// point keeps the value and the gradient of the place that was asked for last:
// the optimizer asks for them one after the other.
type point struct {
	x, gradient []float64
	value       float64
	known       bool
}

func (at *point) move(r *regression, x []float64, held []bool) float64 {
	if at.known && slices.Equal(at.x, x) {
		return at.value
	}
	copy(at.x, x)
	at.value, at.known = r.value(at.gradient, x), true
	for p, h := range held {
		if h {
			at.gradient[p] = 0
		}
	}
	return at.value
}

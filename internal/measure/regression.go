package measure

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/optimize"
)

// Term is a parameter that counts with a value, in Row.Own for one label of a case.
type Term struct {
	Parameter int32
	Label     int32 // index into the case's labels
	Value     float64
}

// Row is one case of a regression: which parameters count for which label.
type Row struct {
	Labels []int
	Truth  int       // index into Labels
	Offset []float64 // log-odds that are given; may be nil
	// Each holds parameters with one value for each label: Parameter + label. Own holds those that count for one label.
	Each, Own []Term
}

// Regression is a multinomial logistic regression with quadratic penalties: it minimizes the sum over the
// rows of -log P(truth), plus the sum of penalty/2 * parameter^2.
type Regression struct {
	Rows    []Row
	Penalty []float64
	// Parent of a parameter is another one that it is drawn to; -1 is zero.
	Parent []int32
	// Positive parameters may not be negative.
	Positive []bool
}

// Parameters adds n parameters and gives the index of the first.
func (r *Regression) Parameters(n int, penalty float64) int32 {
	first := int32(len(r.Penalty))
	r.Penalty = append(r.Penalty, slices.Repeat([]float64{penalty}, n)...)
	r.Parent = append(r.Parent, slices.Repeat([]int32{-1}, n)...)
	r.Positive = append(r.Positive, make([]bool, n)...)
	return first
}

// value gives the objective and its gradient.
func (r *Regression) value(gradient, x []float64) float64 {
	total := 0.0
	clear(gradient)
	var z []float64
	for i := range r.Rows {
		w := &r.Rows[i]
		z = w.Scores(z, x)
		total += lossAndSlope(z, w.Truth)
		w.addGradient(gradient, z)
	}
	for p, penalty := range r.Penalty {
		d := x[p]
		if parent := r.Parent[p]; parent >= 0 {
			d -= x[parent]
			gradient[parent] -= penalty * d
		}
		total += penalty / 2 * d * d
		gradient[p] += penalty * d
	}
	return total
}

// Scores are the log-odds of the labels with parameters x, in the memory of z.
func (w *Row) Scores(z, x []float64) []float64 {
	z = append(z[:0], w.Offset...)
	for len(z) < len(w.Labels) {
		z = append(z, 0)
	}
	labels := w.Labels[:len(z)]
	for i := range w.Each {
		value, of := w.Each[i].Value, x[w.Each[i].Parameter:]
		for j, l := range labels {
			z[j] += value * of[l]
		}
	}
	for i := range w.Own {
		t := &w.Own[i]
		z[t.Label] += t.Value * x[t.Parameter]
	}
	return z
}

func (w *Row) addGradient(gradient, slope []float64) {
	labels := w.Labels[:len(slope)]
	for i := range w.Each {
		value, of := w.Each[i].Value, gradient[w.Each[i].Parameter:]
		for j, l := range labels {
			of[l] += value * slope[j]
		}
	}
	for i := range w.Own {
		t := &w.Own[i]
		gradient[t.Parameter] += t.Value * slope[t.Label]
	}
}

// lossAndSlope gives -log P(truth), and turns z into the derivative by z.
func lossAndSlope(z []float64, truth int) float64 {
	largest, own := slices.Max(z), z[truth]
	sum := 0.0
	for j, x := range z {
		z[j] = math.Exp(x - largest)
		sum += z[j]
	}
	for j := range z {
		z[j] /= sum
	}
	z[truth]--
	return math.Log(sum) - (own - largest)
}

// Solve gives the parameters that minimize the objective. Those that may not be
// negative and would be are held at zero, and the others are found again.
func (r *Regression) Solve() []float64 {
	held, x := make([]bool, len(r.Penalty)), make([]float64, len(r.Penalty))
	for again := true; again; {
		x, again = r.minimize(x, held), false
		for p := range x {
			if r.Positive[p] && x[p] < 0 {
				x[p], held[p], again = 0, true, true
			}
		}
	}
	return x
}

func (r *Regression) minimize(from []float64, held []bool) []float64 {
	// The optimizer asks for the value and the gradient of one place, one after the other.
	at, gradient, value := []float64(nil), make([]float64, len(from)), 0.0
	move := func(x []float64) {
		if at != nil && slices.Equal(at, x) {
			return
		}
		at, value = append(at[:0], x...), r.value(gradient, x)
		for p, h := range held {
			if h {
				gradient[p] = 0
			}
		}
	}
	problem := optimize.Problem{
		Func: func(x []float64) float64 { move(x); return value },
		Grad: func(g, x []float64) { move(x); copy(g, gradient) },
	}
	settings := &optimize.Settings{
		MajorIterations: 300, GradientThreshold: 1e-3 * math.Sqrt(float64(len(r.Rows))),
		Converger: &optimize.FunctionConverge{Relative: 1e-6, Iterations: 5},
	}
	// A line search that finds no better point has arrived as far as floats go.
	result, err := optimize.Minimize(problem, from, settings, &optimize.LBFGS{})
	if result == nil || err != nil && result.X == nil {
		return from
	}
	return result.X
}

package measure

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/optimize"
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
	basePenalty   = 0.5
	commonPenalty = 0.05
	ownPenalty    = 1
	tablePenalty  = 2
)

// silenced is the penalty of what may not count: it stays next to nothing.
const silenced = 1e6

// linear is a model of the labels' log-odds as a sum: what a profile can say.
type linear struct {
	layout
	x       []float64     // the parameters
	phrases map[int32]int // their places among those that have weights
}

// layout is where the parameters of a regression begin: by label; by source; by statement and label; by element statement and label; by
// phrase and label.
type layout struct {
	labels                                    int
	base, offset, slope, table, element, text int
	// tabled says whether sources have tables.
	tabled bool
}

// mostFigures bounds the tables of all sources together: where there are hundreds of labels, no docket fills such tables.
const mostFigures = 20_000

func (c *corpus) layout() layout {
	l := layout{labels: len(c.labels), tabled: (len(c.statements)+len(c.elements))*len(c.labels) <= mostFigures}
	l.offset = l.labels + 2 // behind what all sources have in common
	l.slope = l.offset + len(c.sources)
	l.table = l.slope + len(c.sources)
	l.element, l.text = l.table, l.table
	if l.tabled {
		l.element += len(c.statements) * l.labels
		l.text = l.element + len(c.elements)*l.labels
	}
	return l
}

// nats are what the i-th of a list of parameters adds to each label of the corpus.
func (m *linear) nats(list, i int) []float64 { return m.x[list+i*m.labels:][:m.labels] }

// stating is what a statement adds to each label; nil where there are no tables.
func (m *linear) stating(statement int) []float64 {
	if !m.tabled {
		return nil
	}
	return m.nats(m.table, statement)
}

// terms are the parameters that count in a case, without those of phrases. stated is what a source's confidence counts as.
func (l *layout) terms(s *sample, stated func(u *utterance) float64) Row {
	w := Row{Labels: s.labels, Truth: s.truth}
	each := func(list, i int) {
		w.Each = append(w.Each, Term{Parameter: int32(list + i*l.labels), Value: 1})
	}
	each(l.base, 0)
	for i := range s.uttered {
		u := &s.uttered[i]
		if l.tabled {
			each(l.table, u.statement)
		}
		if at := slices.Index(s.labels, u.says); at >= 0 {
			w.Own = append(w.Own, Term{Parameter: int32(l.offset + u.source), Label: int32(at), Value: 1},
				Term{Parameter: int32(l.slope + u.source), Label: int32(at), Value: stated(u)})
		}
	}
	if l.tabled {
		for _, e := range s.elements {
			each(l.element, int(e))
		}
	}
	return w
}

// phraseTerms are the parameters of the phrases of a case.
func (m *linear) phraseTerms(s *sample) []Term {
	var list []Term
	if len(m.phrases) > 0 {
		for _, p := range s.phrases {
			if i, ok := m.phrases[p]; ok {
				list = append(list, Term{Parameter: int32(m.text + i*m.labels), Value: 1})
			}
		}
	}
	return list
}

// rest gives the log-odds of a sample's labels, in its order, without what texts tell.
func (m *linear) rest(s *sample, stated func(u *utterance) float64) []float64 {
	w := m.terms(s, stated)
	return w.Scores(nil, m.x)
}

// told gives what the texts of a sample tell of its labels.
func (m *linear) told(s *sample) []float64 {
	w := Row{Labels: s.labels, Each: m.phraseTerms(s)}
	return w.Scores(nil, m.x)
}

// regression is that of a model without cases: the parameters with their penalties.
func (c *corpus) regression(l *layout, by setting) *Regression {
	r, sources := &Regression{}, len(c.sources)
	r.Parameters(l.labels, basePenalty)
	common := r.Parameters(2, commonPenalty)
	r.Parameters(2*sources, ownPenalty*by.sources)
	r.Parameters(l.text-l.table, tablePenalty*by.sources)
	slope := func(p int) {
		r.Positive[p] = true
		if !by.stated {
			r.Penalty[p] = silenced
		}
	}
	slope(int(common) + 1)
	for s := range sources {
		r.Parent[l.offset+s], r.Parent[l.slope+s] = common, common+1
		slope(l.slope + s)
	}
	return r
}

// mostSignals is how many phrases a profile has at most: every trial reads them.
const mostSignals = 500

// learn fits the model on some cases. Of the phrases those stay that tell most of these cases, and the others are left out.
func (c *corpus) learn(train []int, by setting) *linear {
	stands := c.standing(train, by)
	m := c.solve(train, by, slices.Sorted(maps.Keys(stands)))
	if len(stands) > mostSignals {
		worth := func(p int32) float64 {
			share := stands[p] / float64(len(train))
			return spread(m.nats(m.text, m.phrases[p])) * math.Sqrt(share*(1-share))
		}
		list := slices.SortedFunc(maps.Keys(stands), func(a, b int32) int { return cmp.Or(cmp.Compare(worth(b), worth(a)), cmp.Compare(a, b)) })
		m = c.solve(train, by, slices.Sorted(slices.Values(list[:mostSignals])))
	}
	return m
}

// solve fits the model with the weights of some phrases.
func (c *corpus) solve(train []int, by setting, phrases []int32) *linear {
	m := &linear{layout: c.layout(), phrases: make(map[int32]int, len(phrases))}
	r := c.regression(&m.layout, by)
	r.Parameters(len(phrases)*m.labels, by.text)
	for i, p := range phrases {
		m.phrases[p] = i
	}
	for _, i := range train {
		s := &c.samples[i]
		w := m.terms(s, asStated)
		w.Each = append(w.Each, m.phraseTerms(s)...)
		r.Rows = append(r.Rows, w)
	}
	m.x = r.Solve()
	return m
}

// standing are the phrases that stand in enough of some cases, and in how many.
func (c *corpus) standing(train []int, by setting) map[int32]float64 {
	stands := make(map[int32]float64)
	if by.text == 0 {
		return stands
	}
	for _, i := range train {
		for _, p := range c.samples[i].phrases {
			stands[p]++
		}
	}
	maps.DeleteFunc(stands, func(_ int32, cases float64) bool { return cases < leastCases || cases >= float64(len(train)) })
	return stands
}

// asStated counts a confidence as it is stated.
func asStated(u *utterance) float64 { return u.logit }

// combined is a model of what one says of sources, times a figure, and another one of texts, times another.
func combined(sources *linear, rest float64, texts *linear, text float64) *linear {
	m := &linear{layout: sources.layout, x: plus(sources.x[:sources.text], rest, nil, 0)}
	if text > 0 {
		m.phrases = texts.phrases
		m.x = append(m.x, plus(texts.x[texts.text:], text, nil, 0)...)
	}
	return m
}

// plus gives a times one vector and b times another.
func plus(u []float64, a float64, v []float64, b float64) []float64 {
	z := make([]float64, len(u))
	addTo(z, u, a)
	addTo(z, v, b)
	return z
}

func addTo(to, v []float64, times float64) {
	for i, x := range v {
		to[i] += times * x
	}
}

// softmax turns log-odds into probabilities, in place.
func softmax(z []float64) []float64 {
	largest, total := slices.Max(z), 0.0
	for i, x := range z {
		z[i] = math.Exp(x - largest)
		total += z[i]
	}
	for i := range z {
		z[i] /= total
	}
	return z
}

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

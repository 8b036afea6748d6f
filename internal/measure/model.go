package measure

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"gonum.org/v1/gonum/optimize"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/odds"
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

// Penalties of what sources say, and of base rates. What all sources have in common is hardly penalized: there are enough cases for two figures. How
// far a source's trust lies from that is, and more so what a statement tells of each label beyond that, and by which element it is made.
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

// Model gives the probabilities that the court's personas give a case by a profile alone: all its items stand
// unchallenged, and all its documents are read. It can be used by many goroutines at once.
type Model struct {
	profile *abi.Profile
	finder  odds.Signals
}

// NewModel is for a profile, which must not be changed afterwards.
func NewModel(p *abi.Profile) *Model { return &Model{p, odds.NewSignals(p)} }

// Posterior gives the probability of each label of a case, in its order.
// Sources that the profile doesn't know count nothing, unless it knows none: then all are believed at their word.
func (m *Model) Posterior(c *abi.Case) []float64 {
	return odds.Probabilities(m.nats(c), odds.Doubt)
}

func (m *Model) nats(c *abi.Case) []float64 {
	z := make([]float64, len(c.Labels))
	if m.profile.Light == nil && len(m.profile.Sources) == 0 {
		z = unmeasured(c, m.profile)
	}
	odds.AddBaseRates(z, c.Labels, m.profile)
	if c.Light != nil && m.profile.Light != nil {
		addTo(z, heardLight(m.profile.Light, c), 1)
	}
	for _, x := range statements(c) {
		if known := odds.Source(m.profile, x.source); known != nil {
			addTo(z, heard(known, c.Labels, x.said), 1)
		}
	}
	addTo(z, m.signals(c), 1)
	odds.Temper(z, m.profile)
	return z
}

// unmeasured is what the court makes of a case without a profile, challenges and documents aside. Strangers to a profile count nothing.
func unmeasured(c *abi.Case, p *abi.Profile) []float64 {
	z := make([]float64, len(c.Labels))
	var sources []string
	stated := make(map[string][][]float64) // by source and label
	for i := range c.Evidence {
		item := &c.Evidence[i]
		j, key := slices.Index(c.Labels, item.Supports), odds.SourceKey(item.SourceRef)
		if j < 0 || odds.Stranger(p, key) {
			continue
		}
		if stated[key] == nil {
			sources, stated[key] = append(sources, key), make([][]float64, len(c.Labels))
		}
		stated[key][j] = append(stated[key][j], item.RelevanceConfidence)
	}
	for _, key := range sources {
		v := make([]float64, len(c.Labels))
		for j, list := range stated[key] {
			slices.SortFunc(list, func(a, b float64) int { return cmp.Compare(b, a) })
			for times, confidence := range list { // each repetition counts half of the one before
				v[j] += math.Ldexp(odds.Unmeasured(confidence, len(c.Labels)), -times)
			}
		}
		odds.Limit(v, odds.UnmeasuredSource)
		addTo(z, v, 1)
	}
	for j := range z {
		z[j] = min(z[j], odds.UnmeasuredAll)
	}
	if c.Light != nil {
		if j := slices.Index(c.Labels, c.Light.Classification); j >= 0 {
			z[j] += odds.Beyond(z, j, odds.Witness(c.Light.Confidence, len(c.Labels), odds.UnmeasuredLight))
		}
	}
	return z
}

// said is a label, or none, with the strongest confidence that is stated with it.
type said struct {
	label    string
	stated   float64
	elements []abi.Element // by which it is said, each once
}

type speaker struct {
	source string
	said   []said
}

// statements gives what each source of evidence says, each thing once.
func statements(c *abi.Case) []speaker {
	var out []speaker
	place := make(map[string]int)
	for i := range c.Evidence {
		item := &c.Evidence[i]
		key := odds.SourceKey(item.SourceRef)
		at, ok := place[key]
		if !ok {
			at = len(out)
			place[key] = at
			out = append(out, speaker{source: key})
		}
		out[at].add(item.Supports, item.RelevanceConfidence, odds.ElementOf(item.Element))
	}
	return out
}

func (s *speaker) add(label string, stated float64, element abi.Element) {
	i := slices.IndexFunc(s.said, func(x said) bool { return x.label == label })
	if i < 0 {
		i = len(s.said)
		s.said = append(s.said, said{label: label})
	}
	x := &s.said[i]
	x.stated = max(x.stated, stated)
	if !slices.Contains(x.elements, element) {
		x.elements = append(x.elements, element)
	}
}

// heard is what a source's statements add, within its cap.
func heard(s *abi.SourceReliability, labels []string, list []said) []float64 {
	v := make([]float64, len(labels))
	for _, x := range list {
		odds.AddStatement(v, labels, s, x.label, x.stated)
		for _, element := range x.elements {
			odds.AddElement(v, labels, s, x.label, element)
		}
	}
	odds.Limit(v, s.Cap)
	return v
}

// heardLight is what Light's answer adds, within its cap.
func heardLight(s *abi.SourceReliability, c *abi.Case) []float64 {
	return heard(s, c.Labels, []said{{label: c.Light.Classification, stated: c.Light.Confidence}})
}

// signals is what the signals in a case's texts add, within their cap.
func (m *Model) signals(c *abi.Case) []float64 {
	v := make([]float64, len(c.Labels))
	if m.finder.Empty() {
		return v
	}
	found := make([]bool, len(m.profile.Signals))
	for _, text := range texts(c) {
		m.finder.Scan(text, func(i, _, _ int) { found[i] = true })
	}
	for i, ok := range found {
		if ok {
			odds.AddSignal(v, c.Labels, &m.profile.Signals[i])
		}
	}
	odds.Limit(v, m.profile.SignalCap)
	return v
}

// passageBytes is how long the passages are whose signals are bounded together, by what they tell in all
// but a few of the cases: passageShare of a hundred.
const (
	passageBytes = 96
	passageShare = 95
)

// setCaps bounds each source by the most that it moved any case of the fit, and by what so many cases can show: who was right n
// times is right in the next case with odds of n+1 to 1 (Laplace). It bounds the signals together by textCap, and by what they tell at
// most in any case of the fit, and those of a passage.
func (c *corpus) setCaps(p *abi.Profile, train []int, textCap float64) {
	p.SignalCap = mostNats
	if p.Light != nil {
		p.Light.Cap = mostNats
	}
	for i := range p.Sources {
		p.Sources[i].Cap = mostNats
	}
	m := NewModel(p)
	densestOf := m.finder.Densest(p, passageBytes)
	most, speaks := make(map[string]float64), make(map[string]int)
	light, lights, told, densest := 0.0, 0, 0.0, []float64(nil)
	for _, i := range train {
		k := &c.samples[i].entry.Case
		if k.Light != nil {
			light = max(light, spread(heardLight(p.Light, k)))
			lights++
		}
		for _, x := range statements(k) {
			if known := odds.Source(p, x.source); known != nil {
				most[x.source] = max(most[x.source], spread(heard(known, k.Labels, x.said)))
				speaks[x.source]++
			}
		}
		told = max(told, spread(m.signals(k)))
		most := 0.0
		for _, text := range texts(k) {
			most = max(most, densestOf(text))
		}
		densest = append(densest, most)
	}
	if p.Light != nil {
		p.Light.Cap = capOf(light, lights)
	}
	for i := range p.Sources {
		p.Sources[i].Cap = capOf(most[p.Sources[i].Source], speaks[p.Sources[i].Source])
	}
	p.SignalCap = min(textCap, roundUp(told))
	if len(p.Signals) > 0 {
		slices.Sort(densest)
		at := max(int(math.Ceil(float64(len(densest)*passageShare)/100))-1, 0)
		p.SignalPassage = &abi.SignalPassage{Bytes: passageBytes, Nats: roundUp(densest[at])}
	}
}

// capOf rounds up, so that no case of the fit is cut by the rounding.
func capOf(most float64, n int) float64 {
	return roundUp(min(most, math.Log(float64(n)+2)+1, mostNats))
}

// roundUp keeps two decimal places.
func roundUp(x float64) float64 { return math.Ceil(100*x) / 100 }

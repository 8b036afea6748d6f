package measure

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket"
)

// LeastCases is how many labelled cases a fit needs at least.
const LeastCases = 20

// MostLabels is how many labels, of all cases together, a fit tells apart where the cases are many: beyond, it would take minutes to find
// what no docket has the cases to show. mostChoices is up to how many labels, of every case summed up, there may be more.
const (
	MostLabels  = 128
	mostChoices = 30_000
)

// The reasons why there is nothing to fit on.
var (
	ErrNoTruth  = errors.New("no case names the right classification (truth), so there is nothing to learn from")
	ErrTooFew   = errors.New("too few cases to fit on")
	ErrOneLabel = errors.New("one label is true in every case, so nothing tells labels apart")

	ErrTooManyLabels = errors.New("too many labels to tell apart")
)

// FitConfig says how to fit. Its zero value is useful.
type FitConfig struct {
	// Name of the profile. Default: fitted.
	Name string
	// Seed of the folds.
	Seed uint64
	// Workers is how many folds are fitted at once; the result doesn't depend on it. Default: 1.
	Workers int
	// NoText leaves out what documents say: no text moves the court then, whoever writes it.
	NoText bool
	// TrustText trusts texts as far as that helps, however many answers a made-up one could turn.
	TrustText bool
	// LightPath says that a Light path answers the cases. It goes by the profile and the evidence, so that its answer counts nothing
	// beside them. What a text turns is not bounded then, since that answer depends on texts, too.
	LightPath bool
	// Progress is told what is being done. Optional.
	Progress func(step string)
}

// Fitted is a profile and how well such profiles do on cases that they were not fitted on.
type Fitted struct {
	Profile *abi.Profile
	Report  FitReport
}

// Fit learns a profile from the cases whose truth is known. The others are counted in the report and left out.
//
// A profile says the log-odds of the labels as a sum: base rates, what each source's statements and stated confidences add, what each phrase
// adds (package odds says it exactly). One multinomial logistic regression with quadratic penalties finds these figures. Cross-validation chooses
// the penalties, how sure the whole is, how far texts and stated confidences are trusted, and whether anything is learned at all.
// docs/fitting.md tells it in full.
//
// The same entries, seed and configuration give the same profile, on any machine and with any number of workers. Errors: [ErrNoTruth],
// [ErrTooFew], [ErrOneLabel], [ErrTooManyLabels], or that of the context.
func Fit(ctx context.Context, entries []docket.Entry, config FitConfig) (*Fitted, error) {
	config.Name, config.Workers = cmp.Or(config.Name, "fitted"), max(config.Workers, 1)
	if config.Progress == nil {
		config.Progress = func(string) {}
	}
	labelled := slices.DeleteFunc(slices.Clone(entries), func(e docket.Entry) bool { // the others name no right label, or one that they lack
		return e.Truth == nil || e.Truth.Classification == "" || !slices.Contains(e.Case.Labels, e.Truth.Classification)
	})
	if config.LightPath {
		config.TrustText = true
		for i := range labelled {
			labelled[i].Case.Light = nil
		}
	}
	config.Progress("reading")
	c := newCorpus(labelled)
	if err := c.enough(len(entries)); err != nil {
		return nil, err
	}
	if !config.NoText {
		config.Progress("looking for phrases")
		c.minePhrases(config.Workers)
	}
	config.Progress("fitting without each part")
	x, err := c.cross(ctx, places(len(c.samples)), config.Workers, config.Seed)
	if err != nil {
		return nil, err
	}
	config.Progress("comparing")
	o := c.crossfit(x, &config)
	config.Progress("fitting on all")
	p := unlearned(config.Name)
	if o.learned {
		p = c.written(x, o.plan, nobody, config.Name, config.Workers)
		if config.LightPath {
			p.Light = &abi.SourceReliability{Source: lightSource, Statements: []abi.SourceStatement{}, Share: 1}
		}
	} else {
		p.Seen = c.seen()
	}
	r := c.report(x, o, p, &config)
	r.WithoutTruth = len(entries) - len(c.samples)
	return &Fitted{p, r}, nil
}

func unlearned(name string) *abi.Profile {
	return &abi.Profile{Name: name, BaseRates: []abi.LabelWeight{}, Sources: []abi.SourceReliability{}, Signals: []abi.Signal{}}
}

// enough says why the cases can't be fitted on.
func (c *corpus) enough(entries int) error {
	if len(c.samples) == 0 {
		return fmt.Errorf("%w; %s read", ErrNoTruth, were(entries))
	}
	if len(c.samples) < LeastCases {
		return fmt.Errorf("%w: %d have a truth, %d are needed", ErrTooFew, len(c.samples), LeastCases)
	}
	choices := 0
	for i := range c.samples {
		choices += len(c.samples[i].labels)
	}
	if len(c.labels) > MostLabels && choices > mostChoices {
		return fmt.Errorf("%w: %d, at most %d; put the rare ones together", ErrTooManyLabels, len(c.labels), MostLabels)
	}
	for i := range c.samples {
		if c.trueLabel(i) != c.trueLabel(0) {
			return nil
		}
	}
	return fmt.Errorf("%w: %s, in all %d", ErrOneLabel, c.labels[c.trueLabel(0)], len(c.samples))
}

func were(n int) string {
	if n == 1 {
		return "1 was"
	}
	return fmt.Sprintf("%d were", n)
}

// Figures are how well something predicts the cases.
type Figures struct {
	Name string `json:"name"`
	// Accuracy is the share of cases in which the most probable label is right.
	Accuracy float64 `json:"accuracy"`
	// LogLoss is the mean of -ln P(right label), in nats.
	LogLoss float64 `json:"log_loss"`
}

// FitReport says what a fit saw and how well it does. All figures of how well are
// of profiles that were fitted without the part that they are measured on.
type FitReport struct {
	Cases        int `json:"cases"`
	WithoutTruth int `json:"without_truth"`
	// Outcomes is from how many cases an outcome model was learned, for who adds one to the profile; 0 for none.
	Outcomes int `json:"-"`
	// Groups is 0 where no case names one; cases of a group are in one part. With
	// 1 the parts are of that group, and no figure is of groups not fitted on.
	Groups int `json:"groups"`
	Parts  int `json:"parts"`
	// Learned says whether the profile knows what sources or texts tell. It doesn't where nothing predicts better than the court without a profile.
	Learned bool `json:"learned"`
	// Model says what the profile is made of.
	Model string `json:"model"`
	// Figures of the court's model, with and without the profile.
	Figures []Figures `json:"figures"`
	Signals int       `json:"signals"`
	// TextTurns is the share of the cases whose answer is right and could be turned by a text that somebody makes up: its lead by everything else is
	// less than the profile's cap on signals. Light's answer and what sources say must not depend on the text. Nil for a Light path, where they may.
	TextTurns *float64 `json:"text_turns,omitempty"`
}

// report says what was learned, and how the profiles do that were written without each part.
func (c *corpus) report(x *crossed, o *outcome, p *abi.Profile, config *FitConfig) FitReport {
	r := FitReport{
		Cases: len(x.use), Parts: x.k, Learned: o.learned, Model: c.name(x, o, p),
		Signals: len(p.Signals),
	}
	if c.grouped {
		r.Groups = c.named
	}
	models, noProfile := o.models, NewModel(unlearned("none"))
	if !o.learned {
		models = slices.Repeat([]*Model{noProfile}, x.k)
	}
	r.Figures = []Figures{
		c.measure("the court's model", x.use, func(i int) *Model { return models[x.part[i]] }),
		c.measure("the court's model without a profile", x.use, func(int) *Model { return noProfile }),
	}
	if config.LightPath {
		return r
	}
	r.TextTurns = new(float64)
	for _, i := range x.use {
		if s := &c.samples[i]; r.Signals > 0 && models[x.part[i]].turns(&s.entry.Case, s.truth, p.SignalCap) {
			*r.TextTurns += 1 / float64(len(x.use))
		}
	}
	return r
}

// name says what the profile is made of.
func (c *corpus) name(x *crossed, o *outcome, p *abi.Profile) string {
	switch {
	case !o.learned:
		return "no profile"
	case len(p.Signals) > 0:
		return fmt.Sprintf("logistic regression on what sources say (penalty %v) and on phrases (penalty %v)", x.settings[o.plan.sources].sources, x.settings[o.plan.setting].text)
	default:
		return fmt.Sprintf("logistic regression on what sources say (penalty %v)", x.settings[o.plan.sources].sources)
	}
}

// turns says whether the most probable label of a case is right, and a text that tells as much as a cap could make another one more probable.
func (m *Model) turns(c *abi.Case, truth int, textCap float64) bool {
	z := m.nats(c)
	right := best(z) == truth
	addTo(z, m.signals(c), -1)
	return right && margin(z, truth) < textCap
}

func (c *corpus) measure(name string, use []int, model func(i int) *Model) Figures {
	f, n := Figures{Name: name}, float64(len(use))
	for _, i := range use {
		p, truth := model(i).Posterior(&c.samples[i].entry.Case), c.samples[i].truth
		f.Accuracy += right(p, truth) / n
		f.LogLoss -= math.Log(max(p[truth], 1e-3)) / n
	}
	return f
}

// Bounds of what is written.
const (
	mostNats   = 20   // of any figure of a profile
	leastNats  = 0.01 // a weight below that is left out
	leastProb  = 1e-9
	mostLabels = 32 // up to so many labels every source's table has a statement for each
)

// profile writes a linear model down. Which cases it was fitted on says how
// often each thing is said, and how far sources may go; the signals together go as far as most.
func (c *corpus) profile(m *linear, name string, train []int, most float64) *abi.Profile {
	u := c.usage(train)
	base := slices.Clone(m.nats(m.base, 0))
	p := &abi.Profile{Name: name, Sources: []abi.SourceReliability{}, Signals: c.signals(m, base, u)}
	for s := range c.sources {
		if u.speaks[s] == 0 {
			continue
		}
		r := c.reliability(m, s, base, u)
		if s == 0 {
			p.Light = r
		} else {
			p.Sources = append(p.Sources, *r)
		}
	}
	slices.SortFunc(p.Sources, func(a, b abi.SourceReliability) int { return cmp.Compare(a.Source, b.Source) })
	p.BaseRates = c.weights(softmax(base))
	c.setCaps(p, train, most)
	return p
}

// usage is how often cases of a set hold what a model speaks of.
type usage struct {
	cases  float64
	base   []float64 // smoothed frequency of each label
	speaks []float64 // by source: cases in which it speaks
	once   []bool    // by source: it says one thing in every case
	said   []float64 // by statement
	by     []float64 // by element statement
	logit  []float64 // by source: mean of what it states with a label
	varies []bool    // by source: it doesn't always state the same
	stands []float64 // by phrase
}

func (c *corpus) usage(train []int) *usage {
	n := len(c.sources)
	u := &usage{
		float64(len(train)), softmax(c.frequencies(train)), make([]float64, n), make([]bool, n), make([]float64, len(c.statements)),
		make([]float64, len(c.elements)), make([]float64, n), make([]bool, n), make([]float64, len(c.phrases)),
	}
	first, named, several := make([]*utterance, n), make([]float64, n), make([]bool, n)
	for _, i := range train {
		s := &c.samples[i]
		spoke := make(map[int]bool)
		for k := range s.uttered {
			x := &s.uttered[k]
			u.said[x.statement]++
			several[x.source] = several[x.source] || spoke[x.source]
			if !spoke[x.source] {
				spoke[x.source] = true
				u.speaks[x.source]++
			}
			if x.says != noLabel {
				named[x.source]++
				u.logit[x.source] += x.logit
				first[x.source] = cmp.Or(first[x.source], x)
				u.varies[x.source] = u.varies[x.source] || first[x.source].logit != x.logit
			}
		}
		for _, e := range s.elements {
			u.by[e]++
		}
		for _, f := range s.phrases {
			u.stands[f]++
		}
	}
	for s := range n {
		u.logit[s] /= max(named[s], 1)
		u.once[s] = !several[s] && u.speaks[s] == u.cases
	}
	return u
}

// reliability writes one source down. What its statements tell on average goes to
// the base rates where it speaks in every case: only differences count.
func (c *corpus) reliability(m *linear, s int, base []float64, u *usage) *abi.SourceReliability {
	r := &abi.SourceReliability{Source: c.sources[s], Statements: []abi.SourceStatement{}, Share: 1}
	offset, slope := m.x[m.offset+s], bounded(m.x[m.slope+s])
	if slope < leastNats || !u.varies[s] {
		offset, slope = offset+slope*u.logit[s], 0
	}
	fold := c.same && len(c.labels) <= mostLabels
	says, nats, said := c.saidBy(m, s, u, fold)
	if fold {
		for i, label := range says {
			if label != noLabel {
				nats[i][label] += offset + slope*u.logit[s]
			}
		}
		offset = -slope * u.logit[s]
	}
	if u.once[s] {
		for l := range base {
			mean := 0.0
			for i := range says {
				mean += said[i] / u.cases * nats[i][l]
			}
			for i := range says {
				nats[i][l] -= mean
			}
			base[l] += mean
		}
	}
	for i, label := range says {
		given := c.given(nats[i], (said[i]+0.01)/(u.speaks[s]+0.01*float64(len(says))), u.base)
		r.Statements = append(r.Statements, abi.SourceStatement{Says: c.labelOf(label), Given: given, Elements: c.byElement(m, statement{s, label}, u)})
	}
	if slope > 0 || offset != 0 {
		r.Stated = &abi.LogitMap{Offset: round(bounded(offset)), Slope: round(slope)}
		if slope > 0 {
			r.Stated.Range = c.ranges[s]
		}
	}
	return r
}

// byElement gives what it tells by which element a statement is made.
func (c *corpus) byElement(m *linear, of statement, u *usage) []abi.ElementLikelihood {
	var out []abi.ElementLikelihood
	for i, x := range c.elements {
		if c.statements[x.statement] != of || !m.tabled || u.by[i] == 0 {
			continue
		}
		if nats := m.nats(m.element, i); spread(nats) >= leastNats {
			out = append(out, abi.ElementLikelihood{Element: x.element, Given: c.given(nats, u.by[i]/u.said[x.statement], u.base)})
		}
	}
	return out
}

// saidBy gives what a source says, in the order of the labels and without a label last: its nats by label, and in how
// many cases it was said. With all, labels that it never named are there too.
func (c *corpus) saidBy(m *linear, s int, u *usage, all bool) (says []int, nats [][]float64, said []float64) {
	for _, label := range append(places(len(c.labels)), noLabel) {
		own, n := make([]float64, len(c.labels)), 0.0
		if i := slices.Index(c.statements, statement{s, label}); i >= 0 && u.said[i] > 0 {
			copy(own, m.stating(i))
			n = u.said[i]
		}
		if n > 0 && m.tabled || all && (n > 0 || label != noLabel) {
			says, nats, said = append(says, label), append(nats, own), append(said, n)
		}
	}
	return says, nats, said
}

// given turns nats into probabilities of the statement, given each label, of which the mean over the labels is how often it is said.
func (c *corpus) given(nats []float64, marginal float64, base []float64) []abi.LabelWeight {
	sum, largest := 0.0, slices.Max(nats)
	for l, x := range nats {
		sum += base[l] * math.Exp(x-largest)
	}
	scale := min(marginal/sum, 1)
	p := make([]float64, len(nats))
	for l, x := range nats {
		p[l] = scale * math.Exp(x-largest)
	}
	return c.weights(p)
}

// weights are probabilities with their labels.
func (c *corpus) weights(p []float64) []abi.LabelWeight {
	out := make([]abi.LabelWeight, len(p))
	for l := range p {
		out[l] = abi.LabelWeight{Label: c.labels[l], Weight: round(max(p[l], leastProb))}
	}
	return out
}

// signals writes the phrases down that tell most, the strongest first. What the others tell on average goes to the base rates.
func (c *corpus) signals(m *linear, base []float64, u *usage) []abi.Signal {
	type weighed struct {
		phrase int32
		worth  float64
		nats   []float64
	}
	list := make([]weighed, 0, len(m.phrases))
	for f, at := range m.phrases {
		share := u.stands[f] / u.cases
		nats := slices.Clone(m.nats(m.text, at))
		for level, l := mean(nats, places(len(nats))), 0; l < len(nats); l++ {
			nats[l] -= level
		}
		list = append(list, weighed{f, spread(nats) * math.Sqrt(share*(1-share)), nats})
	}
	slices.SortFunc(list, func(a, b weighed) int {
		return cmp.Or(cmp.Compare(b.worth, a.worth), cmp.Compare(a.phrase, b.phrase))
	})
	out := []abi.Signal{}
	for i, w := range list {
		if i >= mostSignals || spread(w.nats) < leastNats {
			addTo(base, w.nats, u.stands[w.phrase]/u.cases)
			continue
		}
		signal := abi.Signal{Phrase: c.phrases[w.phrase], Weights: []abi.LabelWeight{}}
		for l, x := range w.nats {
			if math.Abs(x) >= leastNats/10 {
				signal.Weights = append(signal.Weights, abi.LabelWeight{Label: c.labels[l], Weight: round(bounded(x))})
			}
		}
		out = append(out, signal)
	}
	return out
}

func spread(v []float64) float64 { return slices.Max(v) - slices.Min(v) }

func bounded(x float64) float64 { return min(max(x, -mostNats), mostNats) }

// round keeps four digits.
func round(x float64) float64 {
	y, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 4, 64), 64)
	if err != nil {
		return x
	}
	return y
}

//go:embed profile.tmpl
var profileFile string

// indentedSource is a source at a depth of the file.
type indentedSource struct {
	Indent string
	Source *abi.SourceReliability
}

// WriteYAML writes the profile with what was found out about it as comments. The same result gives the same bytes.
func (r *Fitted) WriteYAML(w io.Writer) error {
	t, err := template.New("").Funcs(template.FuncMap{
		"scalar": scalar, "quoted": quoted, "weights": weightList,
		"number": func(x any) string {
			if p, ok := x.(*float64); ok {
				return figure(*p)
			}
			return figure(x.(float64)) //nolint:forcetypeassert // all other figures are floats
		},
		"percent":  func(share *float64) string { return fmt.Sprintf("%.1f", 100**share) },
		"indented": func(indent string, s *abi.SourceReliability) indentedSource { return indentedSource{indent, s} },
		"source":   func(s abi.SourceReliability) *abi.SourceReliability { return &s },
	}).Parse(strings.TrimSuffix(profileFile, "\n"))
	if err != nil {
		return err
	}
	return t.Execute(w, r)
}

func weightList(list []abi.LabelWeight) string {
	parts := make([]string, len(list))
	for i := range list {
		parts[i] = "{label: " + scalar(list[i].Label) + ", weight: " + figure(list[i].Weight) + "}"
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// figure writes a float so that YAML reads it as one.
func figure(x float64) string {
	s := strconv.FormatFloat(x, 'f', -1, 64)
	if !strings.ContainsRune(s, '.') {
		s += ".0"
	}
	return s
}

// plain is what YAML reads as the string that it looks like.
var plain = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_/-]*$`)

func scalar(s string) string {
	switch strings.ToLower(s) {
	case "y", "n", "yes", "no", "on", "off", "true", "false", "null":
		return quoted(s)
	}
	if plain.MatchString(s) {
		return s
	}
	return quoted(s)
}

// quoted gives a string in double quotes, so that YAML reads it back to the byte. What isn't printable is escaped: YAML rejects or folds
// some of it raw, and a person who reads the profile should see it. For valid UTF-8 all of Go's escapes are YAML's too.
func quoted(s string) string { return strconv.Quote(s) }

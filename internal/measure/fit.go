package measure

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

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
	config.defaults()
	labelled := withTruth(entries)
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

// unlearned is a profile that knows nothing.
func unlearned(name string) *abi.Profile {
	return &abi.Profile{Name: name, BaseRates: []abi.LabelWeight{}, Sources: []abi.SourceReliability{}, Signals: []abi.Signal{}}
}

func (c *FitConfig) defaults() {
	if c.Name == "" {
		c.Name = "fitted"
	}
	if c.Progress == nil {
		c.Progress = func(string) {}
	}
	c.Workers = max(c.Workers, 1)
}

// withTruth gives the cases that name a right label which they have.
func withTruth(entries []docket.Entry) []docket.Entry {
	return slices.DeleteFunc(slices.Clone(entries), func(e docket.Entry) bool {
		return e.Truth == nil || e.Truth.Classification == "" || !slices.Contains(e.Case.Labels, e.Truth.Classification)
	})
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
	// Learned says whether the profile knows what sources or texts tell. It doesn't where nothing
	// predicts better than the court without a profile.
	Learned bool `json:"learned"`
	// Model says what the profile is made of.
	Model string `json:"model"`
	// Figures of the court's model, with and without the profile.
	Figures []Figures `json:"figures"`
	Signals int       `json:"signals"`
	// TextTurns is the share of the cases whose answer is right and could be turned by a text that somebody makes up: its lead by
	// everything else is less than the profile's cap on signals. Light's answer and what sources say must not depend on the text. Nil for
	// a Light path, where they may.
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

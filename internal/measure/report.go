package measure

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/odds"
)

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
	// Outcomes is from how many cases an outcome model was learned; 0 for none.
	Outcomes int `json:"outcomes,omitempty"`
	// Groups is 0 where no case names one; cases of a group are in one part. With
	// 1 the parts are of that group, and no figure is of groups not fitted on.
	Groups int `json:"groups"`
	// Repeated is how many cases nearly repeat another one. With those they are in one part.
	Repeated int `json:"repeated"`
	Parts    int `json:"parts"`
	// Warnings say what to doubt, each in a sentence.
	Warnings []string `json:"warnings,omitempty"`
	// Learned says whether the profile knows what sources or texts tell. It doesn't where nothing
	// predicts better than the court without a profile.
	Learned bool `json:"learned"`
	// Model says what the profile is made of.
	Model string `json:"model"`
	// Figures of the court's model, with and without the profile, and of Light where every case has its answer.
	Figures []Figures `json:"figures"`
	// Bands is the threshold from which on answers of the court's model may be accepted. Nil unless asked for.
	Bands   *Certificate `json:"bands,omitempty"`
	Signals int          `json:"signals"`
	// TextTurns is the share of the cases whose answer is right and could be turned by a text that somebody makes up: its lead by
	// everything else is less than the profile's cap on signals. Light's answer and what sources say must not depend on the text. Nil for
	// a Light path, where they may.
	TextTurns *float64 `json:"text_turns,omitempty"`
}

// report says what was learned, and how the profiles do that were written without each part.
func (c *corpus) report(x *crossed, o *outcome, p *abi.Profile, config *FitConfig) FitReport {
	r := FitReport{
		Cases: len(x.use), Parts: x.k, Learned: o.learned, Model: c.name(x, o, p),
		Repeated: c.repeated, Signals: len(p.Signals),
	}
	if c.grouped {
		r.Groups = c.named
	}
	models := o.models
	if !o.learned {
		models = slices.Repeat([]*Model{NewModel(unlearned("none"))}, x.k)
	}
	crossfitted := func(i int) []float64 { return models[x.part[i]].Posterior(&c.samples[i].entry.Case) }
	r.Figures, r.Bands = c.figures(x.use, crossfitted), c.certify(x.use, crossfitted, config.Bands)
	if config.LightPath {
		return r
	}
	r.TextTurns = new(float64)
	for _, i := range x.use {
		if s := &c.samples[i]; r.Signals > 0 && models[x.part[i]].turns(&s.entry.Case, s.truth, p.SignalCap) {
			*r.TextTurns += 1 / float64(len(x.use))
		}
	}
	if by := o.plan; o.learned && !config.TrustText && by.most > 0 {
		trusted := c.capped(x, x.use, by)
		if mean(trusted.turned, x.use) > mostTurned {
			by.most, by.sources = 0, x.alone
			r.Warnings = append(r.Warnings, fmt.Sprintf("texts decide many of these cases, so that a made-up text could turn %.0f of 100 answers; without texts about %.0f of 100 are right, with them %.0f; "+
				"fit with --no-text if others than your own tools write documents", 100**r.TextTurns, 100*mean(c.capped(x, x.use, by).hits, x.use), 100*mean(trusted.hits, x.use)))
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

// lightAlone is the name of Light's figures.
const lightAlone = "Light alone"

// figures sets the court's model beside Light, which states the confidence of its label and is even about the others.
func (c *corpus) figures(use []int, model func(i int) []float64) []Figures {
	noProfile, lit := NewModel(unlearned("none")), true
	list := []Figures{
		c.measure("the court's model", use, model),
		c.measure("the court's model without a profile", use, func(i int) []float64 { return noProfile.Posterior(&c.samples[i].entry.Case) }),
	}
	light := func(i int) []float64 {
		k := &c.samples[i].entry.Case
		z := make([]float64, len(k.Labels))
		if at := slices.Index(k.Labels, k.Light.Classification); at >= 0 {
			z[at] = max(odds.Logit(k.Light.Confidence)+math.Log(float64(len(z)-1)), 1e-9) // its label is its answer, however unsure it is
		}
		return softmax(z)
	}
	for _, i := range use {
		lit = lit && c.samples[i].entry.Case.Light != nil
	}
	if lit {
		list = append(list, c.measure(lightAlone, use, light))
	}
	return list
}

func (c *corpus) measure(name string, use []int, predict func(i int) []float64) Figures {
	f, n := Figures{Name: name}, float64(len(use))
	for _, i := range use {
		p, truth := predict(i), c.samples[i].truth
		f.Accuracy += right(p, truth) / n
		f.LogLoss -= math.Log(max(p[truth], 1e-3)) / n
	}
	return f
}

// certify gives the threshold for the answers to all cases, each by a profile that was fitted without its part.
func (c *corpus) certify(use []int, crossfitted func(i int) []float64, o *BandOptions) *Certificate {
	if o == nil {
		return nil
	}
	list := make([]Point, len(use))
	for k, i := range use {
		p, s := crossfitted(i), &c.samples[i]
		list[k] = Point{Confidence: slices.Max(p), Right: best(p) == s.truth, Group: strconv.Itoa(s.group)}
	}
	certificate := Certify(list, *o)
	return &certificate
}

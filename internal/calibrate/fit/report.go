package fit

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/odds"
	"github.com/shadowcourt/shadowcourt/internal/calibrate"
)

// Figures are how well something predicts the cases.
type Figures struct {
	Name string `json:"name"`
	// Accuracy is the share of cases in which the most probable label is right.
	Accuracy float64 `json:"accuracy"`
	// LogLoss is the mean of -ln P(right label), in nats.
	LogLoss float64 `json:"log_loss"`
}

// SourceWorth is what one source told in the cases.
type SourceWorth struct {
	Source string `json:"source"`
	// Cases in which it speaks, and in which it names a label.
	Cases int `json:"cases"`
	Named int `json:"named"`
	// Right is the share of the latter in which a label that it names is right.
	Right float64 `json:"right"`
	// Nats by which the profile lets it speak for the right label against the
	// mean of the others, on average where it speaks.
	Nats float64 `json:"nats"`
}

// Report says what a fit saw and how well it does. All figures of how well are
// of profiles that were fitted without the part that they are measured on.
type Report struct {
	Cases        int `json:"cases"`
	WithoutTruth int `json:"without_truth"`
	// Outcomes is from how many cases an outcome model was learned; 0 for none.
	Outcomes int `json:"outcomes,omitempty"`
	// Groups is 0 where no case names one; cases of a group are in one part. With
	// 1 the parts are of that group, and no figure is of groups not fitted on.
	Groups int `json:"groups"`
	// Repeated is how many cases nearly repeat another one. With those they are in one part.
	Repeated int `json:"repeated"`
	// Contradictions are cases that are exactly equal to an earlier one, with another ground truth.
	Contradictions []Contradiction `json:"contradictions,omitempty"`
	Parts          int             `json:"parts"`
	// Warnings say what to doubt, each in a sentence.
	Warnings []string `json:"warnings,omitempty"`
	// Learned says whether the profile knows what sources or texts tell. It doesn't where nothing
	// predicts better than the court without a profile.
	Learned bool `json:"learned"`
	// Temperature is the profile's, where it changes nothing else: the court without a profile tells labels apart, and its confidences were
	// wrong. Nil where it changes nothing at all, and where it was learned.
	Temperature *float64 `json:"temperature,omitempty"`
	// Model says what the profile is made of.
	Model string `json:"model"`
	// Figures of the court's model, with and without the profile, and of Light where every case has its answer.
	Figures []Figures     `json:"figures"`
	Sources []SourceWorth `json:"sources"`
	// Bands is the threshold from which on answers of the court's model may be accepted. Nil unless asked for.
	Bands   *calibrate.Certificate `json:"bands,omitempty"`
	Signals int                    `json:"signals"`
	// SignalNats is as SourceWorth.Nats, of all signals together.
	SignalNats float64 `json:"signal_nats"`
	// TextTurns is the share of the cases whose answer is right and could be turned by a text that somebody makes up: its lead by
	// everything else is less than the profile's cap on signals. Light's answer and what sources say must not depend on the text. Nil for
	// a Light path, where they may.
	TextTurns *float64 `json:"text_turns,omitempty"`
}

// report says what was learned, and how the profiles do that were written without each part.
func (c *corpus) report(x *crossed, o *outcome, p *abi.Profile, config *Config) Report {
	r := Report{
		Cases: len(x.use), Parts: x.k, Learned: o.learned, Model: c.name(x, o, p),
		Temperature: p.Temperature, Repeated: c.repeated, Contradictions: c.contradictions, Signals: len(p.Signals), Sources: c.worth(p),
	}
	if c.grouped {
		r.Groups = c.named
	}
	m := NewModel(p)
	for _, i := range x.use {
		s := &c.samples[i]
		r.SignalNats += lead(m.signals(&s.entry.Case), s.truth) / float64(len(x.use))
	}
	models := o.models
	if !o.learned {
		models = c.unlearnedParts(x, o.rivals)
	}
	crossfitted := func(i int) []float64 { return models[x.part[i]].Posterior(&c.samples[i].entry.Case) }
	r.Figures, r.Bands = c.figures(x.use, crossfitted), c.certify(x.use, crossfitted, config.Bands)
	r.doubt()
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

// unlearnedParts are the models of profiles that nothing is learned of, without each part.
func (c *corpus) unlearnedParts(x *crossed, r *rivals) []*Model {
	models := make([]*Model, x.k)
	for part := range models {
		without := unlearned("part")
		without.Temperature = r.temperature(c, r.scales[part], x.without(part))
		models[part] = NewModel(without)
	}
	return models
}

// name says what the profile is made of.
func (c *corpus) name(x *crossed, o *outcome, p *abi.Profile) string {
	switch {
	case !o.learned && p.Temperature != nil:
		return "no profile, confidence recalibrated"
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

// fewGroups is up to how many groups tell little of others.
const fewGroups = 4

// lightAlone is the name of Light's figures.
const lightAlone = "Light alone"

// doubt warns of a court of which nothing is learned and that is less often right than Light, and
// of few groups.
func (r *Report) doubt() {
	none := &r.Figures[1]
	light := slices.IndexFunc(r.Figures, func(f Figures) bool { return f.Name == lightAlone })
	if n := float64(r.Cases); !r.Learned && light >= 0 && (r.Figures[light].Accuracy-none.Accuracy)*math.Sqrt(n) > 1 {
		r.Warnings = append(r.Warnings, fmt.Sprintf("without a profile the court is right in %.0f of 100 of these cases, and Light alone in %.0f", 100*none.Accuracy, 100*r.Figures[light].Accuracy))
	}
	if r.Groups > 1 && r.Groups <= fewGroups {
		r.Warnings = append(r.Warnings, fmt.Sprintf("the cases are of %d groups, which tell little of others", r.Groups))
	}
}

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
func (c *corpus) certify(use []int, crossfitted func(i int) []float64, o *calibrate.BandOptions) *calibrate.Certificate {
	if o == nil {
		return nil
	}
	list := make([]calibrate.Point, len(use))
	for k, i := range use {
		p, s := crossfitted(i), &c.samples[i]
		list[k] = calibrate.Point{Confidence: slices.Max(p), Right: best(p) == s.truth, Group: strconv.Itoa(s.group)}
	}
	certificate := calibrate.Certify(list, *o)
	return &certificate
}

// worth measures every source in the cases of the fit.
func (c *corpus) worth(p *abi.Profile) []SourceWorth {
	list := make([]SourceWorth, len(c.sources))
	for s := range list {
		list[s].Source = c.sources[s]
	}
	for i := range c.samples {
		s := &c.samples[i]
		for source, v := range c.voices(p, s) {
			list[source].Nats += lead(v, s.truth)
		}
		spoke, named, right := make(map[int]bool), make(map[int]bool), make(map[int]bool)
		for k := range s.uttered {
			u := &s.uttered[k]
			spoke[u.source] = true
			if u.says != noLabel {
				named[u.source] = true
				right[u.source] = right[u.source] || u.says == s.labels[s.truth]
			}
		}
		for source := range spoke {
			list[source].Cases++
		}
		for source := range named {
			list[source].Named++
			if right[source] {
				list[source].Right++
			}
		}
	}
	out := list[:0]
	for _, w := range list {
		if w.Cases == 0 {
			continue
		}
		w.Nats /= float64(w.Cases)
		if w.Named > 0 {
			w.Right /= float64(w.Named)
		}
		out = append(out, w)
	}
	return out
}

// lead is how far a label lies above the mean of the others.
func lead(v []float64, label int) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return v[label] - (sum-v[label])/float64(len(v)-1)
}

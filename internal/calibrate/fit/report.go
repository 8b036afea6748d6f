package fit

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/internal/calibrate/bands"
	"github.com/shadowcourt/shadowcourt/internal/calibrate/baseline"
)

// Figures are how well something predicts the cases.
type Figures struct {
	Name string `json:"name"`
	// Accuracy is the share of cases in which the most probable label is right.
	Accuracy float64 `json:"accuracy"`
	// LogLoss is the mean of -ln P(right label), in nats.
	LogLoss float64 `json:"log_loss"`
	// AURC is the area under the curve of risk over coverage, see [bands.RiskCoverage]. Nil where it was not measured.
	AURC *float64 `json:"aurc,omitempty"`
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
	// Relit: Light was asked about the cases, each time told a profile that was
	// fitted without their part.
	Relit bool `json:"relit"`
	// Learned says whether the profile knows what sources or texts tell. It doesn't where nothing
	// predicts better than the court without a profile.
	Learned bool `json:"learned"`
	// Temperature is the profile's, where it changes nothing else: the court without a profile tells labels apart, and its confidences were
	// wrong. Nil where it changes nothing at all, and where it was learned.
	Temperature *float64 `json:"temperature,omitempty"`
	// Model is the one of those compared that was taken: the simplest that is no worse
	// than the best by more than a standard error of log loss (half of one among models
	// that use the same: witnesses, or witnesses and text).
	Model    string    `json:"model"`
	Compared []Figures `json:"compared"`
	// Figures of the court's model, of Light and of the votes.
	Figures []Figures     `json:"figures"`
	Sources []SourceWorth `json:"sources"`
	// Bands is the threshold from which on answers of the court's model may be accepted. Nil unless asked for.
	Bands   *bands.Certificate `json:"bands,omitempty"`
	Signals int                `json:"signals"`
	// SignalNats is as SourceWorth.Nats, of all signals together.
	SignalNats float64 `json:"signal_nats"`
	// TextTurns is the share of the cases whose answer is right and could be turned by a text that somebody makes up: its lead by
	// everything else is less than the profile's cap on signals. Light's answer and what sources say must not depend on the text. Nil with
	// Relit, where they may.
	TextTurns *float64 `json:"text_turns,omitempty"`
	// Experiments is nil where no results of experiments were given.
	Experiments *ExperimentWorth `json:"experiments,omitempty"`
}

// report measures the profiles that are fitted without each part on that part. It says whether they are worse than no profile by more than
// chance: what was compared to choose them knows all sources, also those that a part alone has.
func (c *corpus) report(x *crossed, trust *textTrust, chosen int, p *abi.Profile, config *Config) (_ Report, worse bool) {
	judgements := trust.judgements
	r := Report{
		Cases: len(x.use), Parts: x.k, Learned: chosen >= unprofiled, Model: judgements[chosen].name,
		Temperature: p.Temperature, Repeated: c.repeated, Contradictions: c.contradictions, Signals: len(p.Signals), Sources: c.worth(p),
	}
	if c.grouped {
		r.Groups = c.named
	}
	for i := range judgements {
		j := &judgements[i]
		r.Compared = append(r.Compared, Figures{Name: j.name, Accuracy: float64(j.right) / float64(len(x.use)), LogLoss: j.loss(x.use)})
	}
	m := NewModel(p)
	for _, i := range x.use {
		s := &c.samples[i]
		r.SignalNats += lead(m.signals(&s.entry.Case), s.truth) / float64(len(x.use))
	}
	// Which candidate to take, and how far to trust texts, is chosen without the part, too.
	models, caps, temperatures, differ := make([]*Model, x.k), make([]*capped, x.k), make([]*float64, x.k), 0
	for f := range models {
		others := x.without(f)
		chosen := courtAlone
		if !config.never {
			chosen = c.choose(judgements, x, others, config.always)
		}
		if chosen >= unprofiled {
			caps[f] = trust.cap(chosen, others)
		}
		temperatures[f] = c.temperature(x, judgements, chosen, others, f)
		if (caps[f] != nil) != r.Learned || (temperatures[f] != nil) != (r.Temperature != nil) {
			differ++
		}
	}
	each(x.k, config.Workers, func(f int) {
		learned := unlearned("part")
		learned.Temperature = temperatures[f]
		if by := caps[f]; by != nil {
			w := c.beside(x, &by.candidate, by.weights[f], by.most, f)
			learned = c.profile(c.mix(x.models[f], w), "part", x.without(f), by.most)
		}
		models[f] = NewModel(learned)
	})
	crossfitted := func(i int) []float64 { return models[x.part[i]].Posterior(&c.samples[i].entry.Case) }
	r.Figures, r.Bands = c.figures(x.use, crossfitted), c.certify(x.use, crossfitted, config.Bands)
	r.doubt()
	if 2*differ >= x.k {
		r.Warnings = append(r.Warnings, fmt.Sprintf("%d of %d parts of the cases would be fitted otherwise without their own cases (something learned, a temperature, or nothing): the figures of the court's model are of those fits", differ, x.k))
	}
	r.TextTurns = new(float64)
	for _, i := range x.use {
		if r.Signals == 0 {
			break
		}
		if s := &c.samples[i]; models[x.part[i]].turns(&s.entry.Case, s.truth, p.SignalCap) {
			*r.TextTurns += 1 / float64(len(x.use))
		}
	}
	if r.Learned && !config.TrustText && mean(trust.cap(chosen, x.use).turned, trust.x.use) > mostTurned {
		r.Warnings = append(r.Warnings, fmt.Sprintf("texts decide many of these cases, so that a made-up text could turn %.0f of 100 answers; without texts about %.0f of 100 are right, with them %.0f; "+
			"fit with --no-text if others than your own tools write documents", 100**r.TextTurns, 100*mean(trust.of(chosen)[0].hits, trust.x.use), 100*mean(trust.cap(chosen, x.use).hits, trust.x.use)))
	}
	return r, r.Learned && c.worse(x.use, crossfitted)
}

// worse says whether predictions of some cases are worse than those without a profile, by more than chance.
func (c *corpus) worse(use []int, predict func(i int) []float64) bool {
	losses, none := make([]float64, len(c.samples)), make([]float64, len(c.samples))
	without := NewModel(unlearned("none"))
	for _, i := range use {
		s := &c.samples[i]
		losses[i], none[i] = lossOf(predict(i), s.truth), lossOf(without.Posterior(&s.entry.Case), s.truth)
	}
	lost, deviation := c.difference(losses, none, use)
	return lost > certain*deviation
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
func lightAlone() string {
	for _, m := range baseline.Methods() {
		if m.ID == baseline.Light {
			return m.Name
		}
	}
	return ""
}

// doubt warns of a profile that predicts no better than none, of a court of which nothing is learned and that is less often right than Light, and
// of few groups.
func (r *Report) doubt() {
	model, none := &r.Figures[0], &r.Figures[1]
	if r.Learned && model.LogLoss >= none.LogLoss {
		r.Warnings = append(r.Warnings, "the profile predicts these cases no better than no profile does; it is kept since it is not clearly worse and bounds what unknown sources count")
	}
	light := slices.IndexFunc(r.Figures, func(f Figures) bool { return f.Name == lightAlone() })
	if n := float64(r.Cases); !r.Learned && light >= 0 && (r.Figures[light].Accuracy-none.Accuracy)*math.Sqrt(n) > 1 {
		r.Warnings = append(r.Warnings, fmt.Sprintf("without a profile the court is right in %.0f of 100 of these cases, and Light alone in %.0f", 100*none.Accuracy, 100*r.Figures[light].Accuracy))
	}
	if r.Groups > 1 && r.Groups <= fewGroups {
		r.Warnings = append(r.Warnings, fmt.Sprintf("the cases are of %d groups, which tell little of others", r.Groups))
	}
}

// figures sets the court's model beside Light and the votes of package baseline, under the names that they have there.
func (c *corpus) figures(use []int, model func(i int) []float64) []Figures {
	noProfile := NewModel(unlearned("none"))
	list := []Figures{
		c.measure("the court's model", c.answersOf(use, model)),
		c.measure("the court's model without a profile", c.answersOf(use, func(i int) []float64 { return noProfile.Posterior(&c.samples[i].entry.Case) })),
	}
	weights := baseline.Weights()
	for _, m := range baseline.Methods() {
		if m.ID == baseline.Light || m.ID == baseline.PlainVote || m.ID == baseline.LogOddsVote {
			weight, alone := weights[m.ID], m.ID == baseline.Light
			if alone {
				weight = weights[baseline.LogOddsVote]
			}
			list = append(list, c.measure(m.Name, c.votes(use, m.Fit(nil), weight, alone)))
		}
	}
	return list
}

// answer is a label of a case, -1 for none, with the probabilities of all labels.
type answer struct {
	sample, label int
	p             []float64
}

func (c *corpus) answersOf(use []int, predict func(i int) []float64) []answer {
	list := make([]answer, len(use))
	for k, i := range use {
		p := predict(i)
		list[k] = answer{i, best(p), p}
	}
	return list
}

// votes are the answers by a rule. What the labels have are their log-odds; alone says that only Light speaks.
func (c *corpus) votes(use []int, rule baseline.Rule, weight baseline.Weight, alone bool) []answer {
	list := make([]answer, len(use))
	for k, i := range use {
		s := &c.samples[i]
		x := baseline.NewVoters(&s.entry.Case, "")
		label := slices.Index(x.Labels, rule(&x))
		if alone {
			x.Statements = nil
		}
		list[k] = answer{i, label, softmax(x.Tally(weight))}
	}
	return list
}

func (c *corpus) measure(name string, answers []answer) Figures {
	f, n := Figures{Name: name}, float64(len(answers))
	for _, a := range answers {
		truth := c.samples[a.sample].truth
		if a.label == truth {
			f.Accuracy++
		}
		f.LogLoss -= math.Log(max(a.p[truth], 1e-3)) / n
	}
	f.Accuracy /= n
	f.AURC = bands.RiskCoverageOf(c.points(answers)).AURC
	return f
}

// points are answers as bands sees them, with their probabilities.
func (c *corpus) points(answers []answer) []bands.Point {
	list := make([]bands.Point, len(answers))
	for k, a := range answers {
		list[k] = bands.Point{Right: a.label == c.samples[a.sample].truth, Group: strconv.Itoa(c.samples[a.sample].group)}
		if a.label >= 0 {
			list[k].Confidence = a.p[a.label]
		}
	}
	return list
}

// certify gives the threshold for the answers to all cases, each by a profile that was fitted without its part.
func (c *corpus) certify(use []int, crossfitted func(i int) []float64, o *bands.Options) *bands.Certificate {
	if o == nil {
		return nil
	}
	certificate := bands.Certify(c.points(c.answersOf(use, crossfitted)), *o)
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

package calibrate

import (
	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// Observation is one case with what the court made of it.
type Observation struct {
	// Case is what the baselines see. Its Truth is empty when the right label is not known.
	Case BaselineCase
	// Expected is the decision that the court should reach, or empty.
	Expected abi.Decision
	// Activated: the case went before the court, and lies in the band.
	Activated bool
	Status    trial.Status
	// Final is what the court left the case with. Without a classification it is left open.
	Final trial.Answer
	// Decision that the case ended with; empty without a trial.
	Decision abi.Decision
	// OnTrial are Light's answers that came before a defense: one, and one more for each remand.
	OnTrial []OnTrial
	Remands int
	// Calls of modules, fuel (nil while it is not metered), and the time of the whole trial.
	Calls  int
	Fuel   *uint64
	Micros int64
	// Rules of the user that matched; RulesFailed: they could not be evaluated.
	Rules       []trial.RuleMatch
	RulesFailed bool
	// Completions that personas asked language models for, Unanswered of them, and the tokens that they took.
	Completions, Unanswered, ModelTokens int
}

// OnTrial is an answer of Light's that the defense had before it. Challenged: the brief holds an alternative, a motion to
// dismiss or a fatal challenge.
type OnTrial struct {
	Label      string
	Challenged bool
}

// Observe reduces a trial. It keeps no document.
func Observe(t *trial.Trial) Observation {
	r := &t.Result
	o := Observation{
		Activated: r.Activated, Status: r.Final.Status, Remands: r.Remands, Fuel: r.Fuel,
		Final: trial.Answer{Classification: r.Final.Classification, Confidence: r.Final.Confidence},
	}
	truth := ""
	if t.Truth != nil {
		truth, o.Expected = t.Truth.Classification, t.Truth.ExpectedVerdict
	}
	o.Case = NewBaselineCase(&t.Case, truth)
	if r.Light != nil { // of a Light that was asked, the case knows nothing
		o.Case.Light = Statement{Source: LightSource, Label: r.Light.Classification, Confidence: r.Light.Confidence}
	}
	if r.Timings != nil {
		o.Calls, o.Micros = r.Timings.Calls, r.Timings.TotalMicros
	}
	if r.Rules != nil {
		o.Rules, o.RulesFailed = r.Rules.Matches, r.Rules.Error != nil
	}
	for i := range r.Completions {
		c := &r.Completions[i]
		o.Completions++
		o.ModelTokens += c.InputTokens + c.OutputTokens
		if c.Answers == 0 {
			o.Unanswered++
		}
	}
	if !r.Activated {
		return o
	}
	switch {
	case r.Final.Status == trial.Mistrial:
		o.Decision = abi.Mistrial
	case r.Verdict != nil:
		o.Decision = r.Verdict.Decision
	}
	for i := range t.Passes {
		if p := &t.Passes[i]; p.Brief != nil {
			o.OnTrial = append(o.OnTrial, OnTrial{p.Light.Classification, challenged(p.Brief)})
		}
	}
	return o
}

func challenged(b *abi.DefenseBrief) bool {
	if b.AlternativeHypothesis != nil || b.MotionToDismiss {
		return true
	}
	for i := range b.Challenges {
		if b.Challenges[i].Severity == abi.Fatal {
			return true
		}
	}
	return false
}

// Answer is the court's; where it left the case open, and where there was no trial, Light's answer stands.
func (o *Observation) Answer() string {
	if o.Final.Classification != "" {
		return o.Final.Classification
	}
	return o.Case.Light.Label
}

// Known says that the right label is known.
func (o *Observation) Known() bool { return o.Case.Truth != "" }

func (o *Observation) right() bool { return o.Known() && o.Answer() == o.Case.Truth }

func (o *Observation) lightRight() bool { return o.Known() && o.Case.Light.Label == o.Case.Truth }

// classified says that the court itself named a label.
func (o *Observation) classified() bool { return o.Activated && o.Final.Classification != "" }

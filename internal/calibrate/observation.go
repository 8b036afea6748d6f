package calibrate

import (
	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// Observation is one case with what the court made of it.
type Observation struct {
	ID string
	// Group of cases that belong together, or empty.
	Group string
	// Truth is the right label, empty when it is not known.
	Truth string
	Light trial.Answer
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
	// Calls of modules, and fuel (nil while it is not metered).
	Calls int
	Fuel  *uint64
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
		ID: t.Case.ID, Group: t.Case.Group, Activated: r.Activated, Status: r.Final.Status, Remands: r.Remands, Fuel: r.Fuel,
		Final: trial.Answer{Classification: r.Final.Classification, Confidence: r.Final.Confidence},
	}
	if t.Truth != nil {
		o.Truth, o.Expected = t.Truth.Classification, t.Truth.ExpectedVerdict
	}
	if l := t.Case.Light; l != nil {
		o.Light = trial.Answer{Classification: l.Classification, Confidence: l.Confidence}
	}
	if l := r.Light; l != nil { // of a Light that was asked, the case knows nothing
		o.Light = trial.Answer{Classification: l.Classification, Confidence: l.Confidence}
	}
	if r.Timings != nil {
		o.Calls = r.Timings.Calls
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
	return o.Light.Classification
}

// Known says that the right label is known.
func (o *Observation) Known() bool { return o.Truth != "" }

func (o *Observation) right() bool { return o.Known() && o.Answer() == o.Truth }

func (o *Observation) lightRight() bool { return o.Known() && o.Light.Classification == o.Truth }

// classified says that the court itself named a label.
func (o *Observation) classified() bool { return o.Activated && o.Final.Classification != "" }

package invoker

import (
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/odds"
)

// Domain is a profile with what cuts it to a case. It is read-only.
type Domain struct {
	profile *abi.Profile // nil where nothing is known
	signals odds.Signals
}

// NewDomain takes a profile; nil where nothing is known.
func NewDomain(p *abi.Profile) Domain { return Domain{p, odds.NewSignals(p)} }

// Whole gives the profile, or nil.
func (d *Domain) Whole() *abi.Profile { return d.profile }

// Standing is what of the profile can count in a case: the signals that stand
// in it, and the sources that speak in it. What is cut away would change no
// figure. It is small where the profile is large, and it travels in every call.
func (d *Domain) Standing(subject *abi.Case, evidence []abi.Evidence) *abi.Profile {
	if d.profile == nil {
		return nil
	}
	cut := *d.profile
	cut.Signals = d.standingSignals(subject, evidence)
	cut.Sources = nil
	for i := range d.profile.Sources {
		if speaks(d.profile.Sources[i].Source, subject, evidence) {
			cut.Sources = append(cut.Sources, d.profile.Sources[i])
		}
	}
	if len(cut.Sources) == 0 && len(d.profile.Sources) > 0 {
		cut.Sources = d.profile.Sources[:1:1] // tells that the profile has measured sources, and these are none of them
	}
	return &cut
}

func (d *Domain) standingSignals(subject *abi.Case, evidence []abi.Evidence) []abi.Signal {
	if d.signals.Empty() {
		return nil
	}
	stands := make([]bool, len(d.profile.Signals))
	read := func(text string) { d.signals.Scan(text, func(i, _, _ int) { stands[i] = true }) }
	read(subject.Subject)
	for i := range subject.Documents {
		read(subject.Documents[i].Text)
	}
	for i := range evidence {
		if evidence[i].Supports == "" {
			read(evidence[i].Content)
		}
	}
	var list []abi.Signal
	for i := range stands {
		if stands[i] {
			list = append(list, d.profile.Signals[i])
		}
	}
	return list
}

// speaks says whether a source is one of the case's items or documents, whose
// quotes the parties bring as items, or a language model, which discovery may ask.
func speaks(source string, subject *abi.Case, evidence []abi.Evidence) bool {
	return odds.IsModel(source) || slices.ContainsFunc(evidence, func(e abi.Evidence) bool { return odds.SourceKey(e.SourceRef) == source }) ||
		slices.ContainsFunc(subject.Documents, func(d abi.Document) bool { return odds.SourceKey(d.Name) == source })
}

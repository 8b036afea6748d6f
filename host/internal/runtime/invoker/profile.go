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
// figure. It is small where the profile is large, and it travels in every call. read are the indexes of its signals that stand in the
// documents, ascending.
func (d *Domain) Standing(subject *abi.Case, evidence []abi.Evidence) (profile *abi.Profile, read []int) {
	if d.profile == nil {
		return nil, nil
	}
	cut := *d.profile
	cut.Signals, read = d.standingSignals(subject, evidence)
	cut.Sources = nil
	for i := range d.profile.Sources {
		if speaks(d.profile.Sources[i].Source, evidence) {
			cut.Sources = append(cut.Sources, d.profile.Sources[i])
		}
	}
	if len(cut.Sources) == 0 && len(d.profile.Sources) > 0 {
		cut.Sources = d.profile.Sources[:1:1] // tells that the profile has measured sources, and these are none of them
	}
	return &cut, read
}

func (d *Domain) standingSignals(subject *abi.Case, evidence []abi.Evidence) (list []abi.Signal, read []int) {
	if d.signals.Empty() {
		return nil, nil
	}
	inDocuments, elsewhere := make([]bool, len(d.profile.Signals)), make([]bool, len(d.profile.Signals))
	scan := func(text string, stands []bool) { d.signals.Scan(text, func(i, _, _ int) { stands[i] = true }) }
	for i := range subject.Documents {
		scan(subject.Documents[i].Text, inDocuments)
	}
	scan(subject.Subject, elsewhere)
	for i := range evidence {
		if evidence[i].Supports == "" {
			scan(evidence[i].Content, elsewhere)
		}
	}
	for i := range inDocuments {
		if inDocuments[i] {
			read = append(read, len(list))
		}
		if inDocuments[i] || elsewhere[i] {
			list = append(list, d.profile.Signals[i])
		}
	}
	return list, read
}

// speaks says whether a source is one of the case's items.
func speaks(source string, evidence []abi.Evidence) bool {
	return slices.ContainsFunc(evidence, func(e abi.Evidence) bool { return odds.SourceKey(e.SourceRef) == source })
}

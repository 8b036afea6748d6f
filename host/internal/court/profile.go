package court

import (
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/odds"
)

// domain is a profile with what cuts it to a case. It is read-only.
type domain struct {
	profile *abi.Profile // nil where nothing is known
	signals odds.Signals
}

// newDomain takes a profile; nil where nothing is known.
func newDomain(p *abi.Profile) domain { return domain{p, odds.NewSignals(p)} }

// standing is what of the profile can count in a case: the signals that stand
// in it, and the sources that speak in it. What is cut away would change no
// figure. It is small where the profile is large, and it travels in every call. read are the indexes of its signals that stand in the
// documents, ascending.
func (d *domain) standing(subject *abi.Case, evidence []abi.Evidence) (profile *abi.Profile, read []int) {
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

func (d *domain) standingSignals(subject *abi.Case, evidence []abi.Evidence) (list []abi.Signal, read []int) {
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

// withoutOutcomes is a profile without what it knows of experiments. In a call in which none is offered and none was run before they change
// no answer, and are most of what a module would decode.
func withoutOutcomes(p *abi.Profile) *abi.Profile {
	if p == nil || p.Outcomes == nil {
		return p
	}
	cut := *p
	cut.Outcomes = nil
	return &cut
}

// speaks says whether a source is one of the case's items.
func speaks(source string, evidence []abi.Evidence) bool {
	return slices.ContainsFunc(evidence, func(e abi.Evidence) bool { return odds.SourceKey(e.SourceRef) == source })
}

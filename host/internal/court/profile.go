package court

import (
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/odds"
	"github.com/shadowcourt/shadowcourt/host/internal/sandbox"
)

// domain is a profile with what cuts it to a case. It is read-only.
type domain struct {
	profile *abi.Profile // nil where nothing is known
	signals odds.Signals
	// preparation gives a module the whole profile. Nil where nothing is known, and where modules are not prepared.
	preparation *sandbox.Preparation
}

// newDomain takes a profile; nil where nothing is known.
func newDomain(p *abi.Profile, prepares bool) domain {
	d := domain{profile: p, signals: odds.NewSignals(p)}
	if p != nil && prepares {
		d.preparation = preparation(&abi.PrepareRequest{Profile: p}, nil)
	}
	return d
}

// parted is a profile for requests: a whole one, or parts of it.
type parted struct {
	profile *abi.Profile // nil where nothing is known
	parts   abi.ProfileParts
	plain   *abi.Profile // without outcomes, once somebody asked for it
}

// whole is all of the profile, for a persona of which it is not known what stands in its case.
func (d *domain) whole() *parted {
	return &parted{profile: d.profile, parts: abi.ProfileParts{All: true, Outcomes: true}}
}

// standing is what of the profile can count in a case: the signals that stand
// in it, and the sources that speak in it. What is cut away would change no
// figure. It is small where the profile is large. read are the indexes of its signals that stand in the
// documents, ascending.
func (d *domain) standing(subject *abi.Case, evidence []abi.Evidence) (profile *parted, read []int) {
	if d.profile == nil {
		return &parted{}, nil
	}
	parts := abi.ProfileParts{Outcomes: true}
	parts.Signals, read = d.standingSignals(subject, evidence)
	for i := range d.profile.Sources {
		if speaks(d.profile.Sources[i].Source, evidence) {
			parts.Sources = append(parts.Sources, i)
		}
	}
	if len(parts.Sources) == 0 && len(d.profile.Sources) > 0 {
		parts.Sources = []int{0} // tells that the profile has measured sources, and these are none of them
	}
	cut := *d.profile
	cut.Signals, cut.Sources = elements(cut.Signals, parts.Signals), elements(cut.Sources, parts.Sources)
	return &parted{profile: &cut, parts: parts}, read
}

// elements are those at some indexes of a list.
func elements[T any](list []T, indexes []int) []T {
	var some []T
	for _, i := range indexes {
		some = append(some, list[i])
	}
	return some
}

func (d *domain) standingSignals(subject *abi.Case, evidence []abi.Evidence) (list, read []int) {
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
			list = append(list, i)
		}
	}
	return list, read
}

// withoutOutcomes is a profile without what it knows of experiments.
func (p *parted) withoutOutcomes() *parted {
	cut, parts := *p.profile, p.parts
	cut.Outcomes, parts.Outcomes = nil, false
	return &parted{profile: &cut, parts: parts}
}

// speaks says whether a source is one of the case's items.
func speaks(source string, evidence []abi.Evidence) bool {
	return slices.ContainsFunc(evidence, func(e abi.Evidence) bool { return odds.SourceKey(e.SourceRef) == source })
}

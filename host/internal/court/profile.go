package court

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/odds"
	"github.com/shadowcourt/shadowcourt/host/internal/sandbox"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/host/rules"
	"github.com/shadowcourt/shadowcourt/host/trial"
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
		d.preparation = preparation(p)
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

// standing is what of the profile can count in a case: the signals that stand in it, and the sources that speak in it. What is cut away
// would change no figure. It is small where the profile is large. read are the indexes of its signals that stand in the documents,
// ascending.
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

// rulebook is a set of rules with the graph at whose node a module evaluates them. It is read-only.
type rulebook struct {
	set   *rules.Set // whose labels are those of cases
	graph *pipeline.Graph
}

// newRulebook prepares a set of rules for a court whose labels have these names.
func newRulebook(set *rules.Set, labels []pipeline.Label) (*rulebook, error) {
	b := &rulebook{set: set.For(labels)}
	def, err := b.set.Definition()
	if err == nil {
		b.graph, err = pipeline.NewGraph(def)
	}
	return b, err
}

// consult has the rules of the user evaluated, before anybody else sees the case. What they match is evidence of the case from here on. A
// module that fails is named in the result, and the trial goes on without it: the rules are a witness, and no side of the court.
func (t *Trial) consult(ctx context.Context) error {
	b := t.court.rules
	if b == nil {
		return nil
	}
	told := &trial.Rules{File: b.set.File, Digest: b.set.Digest, Matches: []trial.RuleMatch{}}
	t.result.Rules = told
	node, v := b.graph.Start(), t.session.invoker(b.graph)
	persona, _ := b.graph.Definition().Persona(node.Personas[0])
	artifact, err := v.node(t.ttl, node, persona, &abi.NodeRequest{ //nolint:contextcheck // derived from ctx, with the time of the trial
		Node: node.Name, Family: node.Family, Persona: identity(persona), Params: Params(node.With), File: &abi.LightFile{},
		Case: abi.CaseView{Subject: t.subject.Subject, Labels: t.subject.Labels, Evidence: t.subject.Evidence, Documents: t.subject.Documents},
	}, func(a *abi.Artifact, c *abi.Collector) { b.check(a.Investigate.Evidence, t, c) })
	t.calls = append(t.calls, v.calls...)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.As(err, &told.Error):
		return nil
	case err != nil: // nothing but the time of the trial is left
		t.hostMistrial(trial.CauseTTL, "HD10")
		return nil //nolint:nilerr // the result has it
	}
	own := *t.subject
	own.Evidence = slices.Clone(own.Evidence)
	for i := range artifact.Investigate.Evidence {
		item := &artifact.Investigate.Evidence[i]
		r := b.rule(item)
		e := abi.Evidence{
			SourceRef: abi.RuleSource + item.SourceRef, Content: item.Content, RelevanceConfidence: r.Believed(), Supports: r.Label, Element: elementOf(node),
		}
		own.Evidence = append(own.Evidence, e)
		told.Matches = append(told.Matches, trial.RuleMatch{
			Rule: r.Name, Label: r.Label, Reason: r.Reason, Owner: r.Owner, Confidence: e.RelevanceConfidence, SourceRef: e.SourceRef, Content: e.Content,
		})
	}
	t.subject, t.out.Case.Evidence = &own, own.Evidence
	return nil
}

// rule is the one that an item of the module names; nil for none.
func (b *rulebook) rule(item *abi.Evidence) *rules.Rule {
	name, _, _ := strings.Cut(item.SourceRef, ":")
	return b.set.Find(name)
}

// check compares what the module brings with the rules and the documents, so that the host can vouch for it.
func (b *rulebook) check(items []abi.Evidence, t *Trial, c *abi.Collector) {
	mark := c.Mark()
	seen := make(map[*rules.Rule]bool)
	for i := range items {
		item := &items[i]
		r := b.rule(item)
		_, place, _ := strings.Cut(item.SourceRef, ":")
		first, _, _ := strings.Cut(item.Content, "\n")
		fault := func(code abi.Code, detail, field string) {
			c.Add(code, detail, abi.Field("evidence"), abi.Index(i), abi.Field(field))
		}
		switch {
		case r == nil || seen[r]:
			fault(abi.CodeIdentity, strconv.Quote(item.SourceRef)+" names no rule, or one that was named before", "source_ref")
		case item.Supports != r.Label || !abi.IsLabel(t.subject.Labels, r.Label):
			fault(abi.CodeNotALabel, strconv.Quote(item.Supports)+" is not the label of the rule, or none of the case", "supports")
		case !t.docs.Cites(place, first) || !t.quotes(item.Content):
			fault(abi.CodeNotInDocuments, "stands in no document", "content")
		}
		seen[r] = true
	}
	c.Nest(mark, abi.Field(string(abi.FamilyInvestigate)))
}

// quotes says whether each line of a content stands in a document.
func (t *Trial) quotes(content string) bool {
	for line := range strings.SplitSeq(content, "\n") {
		if status, _ := t.docs.Quote("", line); status != abi.QuoteStands {
			return false
		}
	}
	return true
}

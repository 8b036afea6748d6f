package docket

import (
	"slices"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
)

// Saying is what a node of the Light path said: who, where, what in a few words, and why in the persona's own.
type Saying struct {
	Persona, Node string
	What, Why     string
	// Times is how often the walk came to the node and this was said, from 1.
	Times int
}

// Sayings tells the artifacts of a walk in their order; what a node says again, word for word, is told once. The texts are
// data, and not inert.
func (p *LightPass) Sayings() []Saying {
	list := make([]Saying, 0, len(p.Artifacts))
	for i := range p.Artifacts {
		entry := &p.Artifacts[i]
		what, why := sayingOf(&entry.Artifact)
		said := Saying{Persona: entry.Persona, Node: entry.At.Node, What: what, Why: why}
		again := slices.IndexFunc(list, func(s Saying) bool { s.Times = 0; return s == said })
		if again < 0 {
			again, list = len(list), append(list, said)
		}
		list[again].Times++
	}
	for i := range list {
		if list[i].Times > 1 {
			list[i].What += ", " + strconv.Itoa(list[i].Times) + " times the same"
		}
	}
	return list
}

func sayingOf(a *abi.Artifact) (what, why string) {
	switch {
	case a.Recall != nil:
		return sayingOfRecall(a.Recall), a.Recall.Reasoning
	case a.Triage != nil:
		return sayingOfTriage(a.Triage), ""
	case a.Resolve != nil:
		return sayingOfResolve(a.Resolve), ""
	case a.Investigate != nil:
		v := a.Investigate
		what = "finds " + plural(len(v.Evidence), "item", "items") + ", convergence " + number(v.ConvergenceScore)
		if v.Classification != "" {
			what += ", for " + v.Classification
		}
		return what, v.Summary
	case a.Correlate != nil:
		v := a.Correlate
		switch {
		case v.IsDuplicate:
			what = "takes it for the same as " + v.LinkedCase + " at " + number(v.Confidence)
		case v.LinkedCase != "":
			what = "links it to " + v.LinkedCase + " at " + number(v.Confidence)
		default:
			what = "links it to no earlier case"
		}
		return what, v.Reasoning
	case a.Review != nil:
		return "decides: " + string(a.Review.Decision) + " at " + number(a.Review.Confidence), ""
	case a.Report != nil:
		return "reports " + a.Report.Classification + " at " + number(a.Report.Confidence), a.Report.Summary
	}
	return "", ""
}

func sayingOfRecall(v *abi.RecallResult) string {
	if !v.Match {
		return "recalls no earlier case"
	}
	what := "recalls " + v.PriorCase
	if v.Classification != "" {
		what += ", which was " + v.Classification
	}
	if v.IsRegression {
		what += ", a regression"
	}
	return what + ", at " + number(v.Confidence)
}

func sayingOfTriage(v *abi.TriageResult) string {
	what := "takes the symptom for " + string(v.SymptomCategory)
	if v.ClassificationHypothesis != "" {
		what += ", hypothesis " + v.ClassificationHypothesis
	}
	if n := len(v.Candidates); n > 0 {
		what += ", " + plural(n, "candidate", "candidates")
	}
	return what
}

func sayingOfResolve(v *abi.ResolveResult) string {
	names := make([]string, 0, 3)
	for i := range v.Selected {
		if i == cap(names) {
			break
		}
		names = append(names, v.Selected[i].Name)
	}
	switch left := len(v.Selected) - len(names); {
	case len(names) == 0:
		return "selects nothing to look at"
	case left > 0:
		return "selects " + strings.Join(names, ", ") + " and " + strconv.Itoa(left) + " more"
	}
	return "selects " + strings.Join(names, ", ")
}

// Asked counts what the modules of a walk asked the host for, by capability, in the order in which each came first.
func (p *LightPass) Asked() string {
	var names []abi.Capability
	times := map[abi.Capability]int{}
	for i := range p.Calls {
		for _, use := range p.Calls[i].Uses {
			if times[use.Capability]++; times[use.Capability] == 1 {
				names = append(names, use.Capability)
			}
		}
	}
	parts := make([]string, len(names))
	for i, name := range names {
		parts[i] = string(name) + " " + plural(times[name], "time", "times")
	}
	return strings.Join(parts, ", ")
}

package render

import (
	"slices"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// Statement is what a node of the Light path said: who, where, what in a few words, and why in the persona's own.
type Statement struct {
	Persona, Node string
	What, Why     string
	// Times is how often the node said this in one pass, from 1.
	Times int
}

// Statements summarizes the artifacts of a pass in their order, repeated ones once. Sanitize the texts for display.
func Statements(p *trial.LightPass) []Statement {
	list := make([]Statement, 0, len(p.Artifacts))
	for i := range p.Artifacts {
		entry := &p.Artifacts[i]
		what, why := statementOf(&entry.Artifact)
		said := Statement{Persona: entry.Persona, Node: entry.At.Node, What: what, Why: why}
		again := slices.IndexFunc(list, func(s Statement) bool { s.Times = 0; return s == said })
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

func statementOf(a *abi.Artifact) (what, why string) {
	switch {
	case a.Recall != nil:
		return recallStatement(a.Recall), a.Recall.Reasoning
	case a.Triage != nil:
		return triageStatement(a.Triage), ""
	case a.Resolve != nil:
		return resolveStatement(a.Resolve), ""
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
			what = "takes it for a duplicate of " + v.LinkedCase + " at " + number(v.Confidence)
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

func recallStatement(v *abi.RecallResult) string {
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

func triageStatement(v *abi.TriageResult) string {
	what := "takes the symptom for " + string(v.SymptomCategory)
	if v.ClassificationHypothesis != "" {
		what += ", hypothesis " + v.ClassificationHypothesis
	}
	if n := len(v.Candidates); n > 0 {
		what += ", " + plural(n, "candidate", "candidates")
	}
	return what
}

func resolveStatement(v *abi.ResolveResult) string {
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

// CapabilityUse counts the uses of capabilities in a pass, in the order of their first use.
func CapabilityUse(p *trial.LightPass) string {
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

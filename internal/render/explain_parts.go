package render

import (
	"slices"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
)

// ending tells what came of the case, and what would settle it.
func (s *story) ending() {
	r := &s.trial.Result
	end := s.paint(bold, s.paint(statusPaint(r.Final.Status), sanitize.Line(string(r.Final.Status))))
	if r.Final.Classification != "" {
		end += ": " + s.label(r.Final.Classification) + " at " + number(r.Final.Confidence)
	}
	if r.Final.Cause != "" {
		end += ": " + sanitize.Line(string(r.Final.Cause))
	}
	s.line("")
	s.line(end)
	s.say(2, faint, r.Final.Status.Meaning())
	if f := r.Error; f != nil {
		s.say(2, red, failureText(f))
		for _, p := range f.Problems {
			s.say(4, plain, sanitize.Line(p.Path+": "+p.Detail+" ("+string(p.Code)+")"))
		}
	}
	s.gaps()
}

// gaps tell what would settle the case.
func (s *story) gaps() {
	r := &s.trial.Result
	if r.GapBrief == nil && r.Proposal == nil {
		return
	}
	s.line("")
	s.line(s.paint(bold, "What would settle it"))
	if b := r.GapBrief; b != nil {
		s.say(2, plain, s.trial.Named(b.Summary))
		for _, g := range b.Gaps {
			s.say(2, plain, "• ["+string(g.Severity)+"] "+sanitize.Line(s.trial.Named(g.Description)))
			s.say(4, faint, g.SuggestedAction)
		}
	} else {
		s.say(2, plain, "• "+sanitize.Line(r.Proposal.Reason()))
		s.say(4, faint, r.Proposal.Action())
	}
	if p := r.Proposal; p != nil && p.Command != "" {
		s.note("Run the experiment:")
		s.line("    " + sanitize.Line(p.Command)) // in one line, to be copied
	}
}

// failureText names who failed, where and how.
func failureText(f *trial.Failure) string {
	var at []string
	for _, part := range [...]struct{ name, value string }{{"persona", f.Persona}, {"node", f.Node}, {"module", f.Module}} {
		if part.value != "" {
			at = append(at, part.name+" "+part.value)
		}
	}
	text := f.Message
	if len(at) > 0 {
		text += " (" + strings.Join(at, ", ") + ")"
	}
	return text
}

// rules tells which rules of the user matched, as what they are: what a person wrote, and nobody found.
func (s *story) rules() {
	r := s.trial.Result.Rules
	if r == nil || len(r.Matches) == 0 && r.Error == nil {
		return
	}
	s.head(abi.Persona{}, "Your rules")
	for i := range r.Matches {
		m := &r.Matches[i]
		s.say(2, plain, "• "+r.Says(m))
		s.note("  " + bar(m.Confidence, 10) + " " + weight(m.Confidence) + " for " + s.short(m.Label) + ", " + snip(m.SourceRef, 40))
		s.say(6, faint, shortText(m.Content))
	}
	if f := r.Error; f != nil {
		s.say(2, red, "The rules of "+sanitize.Line(r.File)+" could not be evaluated, and the case was tried without them: "+failureText(f))
	}
}

// models tells what language models were asked, what that took, and which fallbacks played.
func (s *story) models() {
	r := &s.trial.Result
	if len(r.Completions)+len(r.Fallbacks) == 0 {
		return
	}
	s.head(abi.Persona{}, "Language models")
	for i := range r.Completions {
		c := &r.Completions[i]
		s.note("• " + snip(s.trial.Persona(c.Persona).Name, nameColumns) + " asked " + snip(c.Model, nameColumns) + " at " + snip(c.Node, nameColumns) +
			": " + sanitize.Line(c.Took()))
		s.say(6, faint, c.Detail)
	}
	for i := range r.Fallbacks {
		f := &r.Fallbacks[i]
		s.note("• " + snip(f.Fallback, nameColumns) + " played " + snip(s.trial.Persona(f.Persona).Name, nameColumns) + " at " + snip(f.Node, nameColumns) +
			" in place of " + snip(f.Module, nameColumns) + ":")
		s.say(6, faint, f.Message)
	}
}

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

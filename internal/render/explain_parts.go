package render

import (
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

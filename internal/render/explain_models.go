package render

import (
	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
)

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

package report

import "github.com/shadowcourt/shadowcourt/internal/sanitize"

// models tells what language models were asked, what that took, and which fallbacks played.
func (s *markdownStory) models() {
	r := &s.Result
	if len(r.Completions)+len(r.Fallbacks) == 0 {
		return
	}
	s.head("Language models")
	for i := range r.Completions {
		c := &r.Completions[i]
		s.item(s.who(c.Persona)+" asked "+sanitize.MarkdownCode(clipLine(c.Model))+" at "+sanitize.MarkdownCode(clipLine(c.Node))+": "+sanitize.Markdown(c.Took()), c.Detail)
	}
	for i := range r.Fallbacks {
		f := &r.Fallbacks[i]
		s.item(sanitize.MarkdownCode(clipLine(f.Fallback))+" played "+s.who(f.Persona)+" at "+sanitize.MarkdownCode(clipLine(f.Node))+
			" in place of "+sanitize.MarkdownCode(clipLine(f.Module)), f.Message)
	}
	s.b.WriteByte('\n')
}

// item writes a line of a list, with words of somebody else behind it.
func (s *markdownStory) item(text, said string) {
	if said != "" {
		text += ": " + sanitize.Markdown(clipLine(said))
	}
	s.b.WriteString("- " + text + "\n")
}

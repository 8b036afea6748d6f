package report

import (
	"bytes"
	_ "embed"
	"html/template"
	"io"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/docket/inert"
)

//go:embed audit.tmpl
var auditTemplate string

// auditTitle is the title of a report of audits that states none.
const auditTitle = "Shadowcourt audit"

// auditSums are what stands first in a report of audits.
type auditSums struct {
	Count, Violations int
	scores            float64
}

func (s *auditSums) add(a *docket.Audit) {
	s.Count++
	s.scores += a.GlobalScore
	if a.SecurityViolationFound {
		s.Violations++
	}
}

// Mean is the mean score with two decimals.
func (s *auditSums) Mean() string {
	if s.Count == 0 {
		return "–"
	}
	return strconv.FormatFloat(s.scores/float64(s.Count), 'f', 2, 64)
}

// NewAuditHTML writes audits as a self-contained page, as inert as that of NewHTML.
func NewAuditHTML(w io.Writer, options Options) docket.AuditWriter {
	if options.Title == "" {
		options.Title = auditTitle
	}
	return &auditHTML{w: w, options: options, templates: templates()}
}

type auditHTML struct {
	w              io.Writer
	options        Options
	templates      *template.Template
	sums           auditSums
	rows, articles bytes.Buffer
}

// auditView is an audit with its place on the page.
type auditView struct {
	*docket.Audit
	Anchor string
}

func (h *auditHTML) Write(a *docket.Audit) error {
	h.sums.add(a)
	v := auditView{a.Inert(), "opinion-" + strconv.Itoa(h.sums.Count)}
	if err := h.templates.ExecuteTemplate(&h.rows, "auditrow", v); err != nil {
		return err
	}
	return h.templates.ExecuteTemplate(&h.articles, "auditarticle", v)
}

func (h *auditHTML) Close() error {
	page := struct {
		Title, Subtitle, When string
		Style                 template.CSS
		*auditSums
		Rows, Articles template.HTML
	}{
		inert.Line(h.options.title()), inert.Line(h.options.Subtitle), h.options.when(),
		template.CSS(styleSheet), &h.sums, //nolint:gosec // our own file
		template.HTML(h.rows.String()), template.HTML(h.articles.String()), //nolint:gosec // the templates' own output
	}
	return h.templates.ExecuteTemplate(h.w, "auditpage", page)
}

// NewAuditMarkdown writes audits as GitHub-flavoured Markdown.
func NewAuditMarkdown(w io.Writer, options Options) docket.AuditWriter {
	if options.Title == "" {
		options.Title = auditTitle
	}
	return &auditMarkdown{w: w, options: options}
}

type auditMarkdown struct {
	w          io.Writer
	options    Options
	sums       auditSums
	rows, rest strings.Builder
}

func (m *auditMarkdown) Write(a *docket.Audit) error {
	m.sums.add(a)
	a = a.Inert()
	violation := ""
	if a.SecurityViolationFound {
		violation = "**security violation**"
	}
	cells := []string{inert.MarkdownCode(clipLine(a.CaseID)), inert.Markdown(clipLine(a.CourtName)), a.Score(), violation}
	for i := range cells {
		cells[i] = inert.MarkdownCell(cells[i])
	}
	m.rows.WriteString("| " + strings.Join(cells, " | ") + " |\n")
	m.rest.WriteString("\n## " + inert.MarkdownCode(clipLine(a.CaseID)) + "\n\n")
	markdownAudit(&m.rest, a)
	return nil
}

func (m *auditMarkdown) Close() error {
	var b strings.Builder
	b.WriteString("# " + inert.Markdown(m.options.title()) + "\n\n")
	for _, line := range [...]string{m.options.Subtitle, m.options.when()} {
		if line != "" {
			b.WriteString(inert.Markdown(line) + "\n\n")
		}
	}
	b.WriteString(plural(m.sums.Count, "opinion", "opinions") + ", mean score " + m.sums.Mean() + ", " +
		plural(m.sums.Violations, "security violation", "security violations") + "\n\n")
	if m.sums.Count > 0 {
		b.WriteString("| Opinion | Court | Score | Security |\n| --- | --- | --- | --- |\n" + m.rows.String())
	}
	b.WriteString(m.rest.String())
	_, err := io.WriteString(m.w, b.String())
	return err
}

// markdownAudit tells an audit that is inert.
func markdownAudit(b *strings.Builder, a *docket.Audit) {
	b.WriteString("**" + a.Score() + " of 5.** " + inert.Markdown(clip(a.Summary)) + "\n\n")
	b.WriteString("| Criterion | Score | Confidence | Flags |\n| --- | --- | --- | --- |\n")
	for i := range a.Results {
		r := &a.Results[i]
		cells := []string{
			inert.MarkdownCode(clipLine(r.CriterionID)), strconv.Itoa(r.NumericScore), number(r.RelevanceConfidence),
			inert.Markdown(clipLine(strings.Join(r.Flags(), ", "))),
		}
		for j := range cells {
			cells[j] = inert.MarkdownCell(cells[j])
		}
		b.WriteString("| " + strings.Join(cells, " | ") + " |\n")
	}
	for i := range a.Results {
		b.WriteString("\n" + inert.MarkdownCode(clipLine(a.Results[i].CriterionID)) + "\n\n")
		for line := range strings.SplitSeq(clip(a.Results[i].Reasoning), "\n") {
			if line = inert.Markdown(line); line != "" {
				b.WriteString("- " + line + "\n")
			}
		}
	}
	for i := range a.Errors {
		e := &a.Errors[i]
		b.WriteString("\n" + inert.MarkdownCode(clipLine(e.Persona)) + " failed at " + inert.MarkdownCode(clipLine(e.Node)) + ": " +
			inert.MarkdownCode(clipLine(e.Cause)) + " " + inert.Markdown(clip(e.Detail)) + "\n")
	}
	b.WriteByte('\n')
}

package report

import (
	"bytes"
	_ "embed"
	"html/template"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/render"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
)

//go:embed audit.tmpl
var auditTemplate string

// auditStyle is what the page of audits needs beside styleSheet.
//
//go:embed audit.css
var auditStyle string

// auditTitle is the title of a report of audits that states none.
const auditTitle = "Shadowcourt audit"

// auditSums are what stands first in a report of audits.
type auditSums struct {
	Count, Violations int
	scores            float64
}

func (s *auditSums) add(a *trial.Audit) {
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

// NewAuditHTML writes audits as a self-contained page, as safe as that of NewHTML.
func NewAuditHTML(w io.Writer, options Options) render.AuditWriter {
	if options.Title == "" {
		options.Title = auditTitle
	}
	return &auditHTML{w: w, options: options, templates: templates()}
}

type auditHTML struct {
	w         io.Writer
	options   Options
	templates *template.Template
	sums      auditSums
	rows      auditRows
	articles  bytes.Buffer
}

// auditView is an audit with its place on the page.
type auditView struct {
	*trial.Audit
	Anchor string
}

func (h *auditHTML) Write(a *trial.Audit) error {
	h.sums.add(a)
	v := auditView{shownAudit(a), "opinion-" + strconv.Itoa(h.sums.Count)}
	h.rows = append(h.rows, newAuditRow(v.Audit, v.Anchor))
	return h.templates.ExecuteTemplate(&h.articles, "auditarticle", v)
}

func (h *auditHTML) Close() error {
	page := struct {
		Title, Subtitle, When string
		Style                 template.CSS
		*auditSums
		Rows     auditRows
		Courts   bool
		Criteria []string
		Articles template.HTML
	}{
		sanitize.Line(h.options.title()), sanitize.Line(h.options.Subtitle), h.options.when(),
		template.CSS(trialStyle + styleSheet + auditStyle), &h.sums, //nolint:gosec // our own files
		h.rows, h.rows.Courts(), h.rows.Criteria(),
		template.HTML(h.articles.String()), //nolint:gosec // the templates' own output
	}
	return h.templates.ExecuteTemplate(h.w, "auditpage", page)
}

// shownAudit is a sanitized copy with no more of the opinion than a page shows.
func shownAudit(a *trial.Audit) *trial.Audit {
	shown := *a
	shown.Opinion = whole(a.Opinion)
	return render.SanitizeAudit(&shown)
}

// whole is clip for what a reader came for: it keeps texts whole that a person could read.
func whole(s string) string { return clipAt(s, 256<<10) }

// NewAuditMarkdown writes audits as GitHub-flavoured Markdown.
func NewAuditMarkdown(w io.Writer, options Options) render.AuditWriter {
	if options.Title == "" {
		options.Title = auditTitle
	}
	return &auditMarkdown{w: w, options: options}
}

type auditMarkdown struct {
	w       io.Writer
	options Options
	sums    auditSums
	rows    auditRows
	rest    strings.Builder
}

func (m *auditMarkdown) Write(a *trial.Audit) error {
	m.sums.add(a)
	a = shownAudit(a)
	m.rows = append(m.rows, newAuditRow(a, ""))
	m.rest.WriteString("\n## " + sanitize.MarkdownCode(clipLine(a.Name())) + "\n\n")
	if place := a.Apart(); place != "" {
		m.rest.WriteString("From " + sanitize.MarkdownCode(clipLine(place)) + ".\n\n")
	}
	markdownAudit(&m.rest, a)
	return nil
}

func (m *auditMarkdown) Close() error {
	var b strings.Builder
	b.WriteString("# " + sanitize.Markdown(m.options.title()) + "\n\n")
	for _, line := range [...]string{m.options.Subtitle, m.options.when()} {
		if line != "" {
			b.WriteString(sanitize.Markdown(line) + "\n\n")
		}
	}
	b.WriteString(plural(m.sums.Count, "opinion", "opinions") + ", mean score " + m.sums.Mean() + ", " +
		plural(m.sums.Violations, "security violation", "security violations") + "\n\n")
	if m.sums.Count > 0 {
		m.table(&b)
	}
	b.WriteString(m.rest.String())
	_, err := io.WriteString(m.w, b.String())
	return err
}

// table of all opinions.
func (m *auditMarkdown) table(b *strings.Builder) {
	courts, criteria := m.rows.Courts(), m.rows.Criteria()
	header := []string{"Opinion", "Score"}
	if courts {
		header = []string{"Opinion", "Court", "Score"}
	}
	for _, id := range criteria {
		header = append(header, sanitize.MarkdownCode(clipLine(id)))
	}
	header = append(header, "Flags")
	markdownRow(b, header)
	markdownRow(b, slices.Repeat([]string{"---"}, len(header)))
	for i := range m.rows {
		r := &m.rows[i]
		cells := []string{sanitize.MarkdownCode(clipLine(r.Name))}
		if courts {
			cells = append(cells, sanitize.Markdown(clipLine(r.Court)))
		}
		cells = append(cells, r.Score)
		for _, s := range r.Scores(criteria) {
			cells = append(cells, s.Score)
		}
		flags := sanitize.Markdown(clipLine(strings.Join(r.Flags, "; ")))
		if flags != "" {
			flags = "**" + flags + "**"
		}
		markdownRow(b, append(cells, flags))
	}
}

func markdownRow(b *strings.Builder, cells []string) {
	for i := range cells {
		cells[i] = sanitize.MarkdownCell(cells[i])
	}
	b.WriteString("| " + strings.Join(cells, " | ") + " |\n")
}

// markdownAudit writes a sanitized audit.
func markdownAudit(b *strings.Builder, a *trial.Audit) {
	b.WriteString("**" + a.Score() + " of 5.** " + sanitize.Markdown(clip(a.Summary)) + "\n\n")
	for _, c := range a.CutDocuments {
		b.WriteString(sanitize.Markdown(c.String()) + ".\n\n")
	}
	b.WriteString("| Criterion | Score | Share | Confidence | Flags |\n| --- | --- | --- | --- | --- |\n")
	for i := range a.Results {
		r := &a.Results[i]
		markdownRow(b, []string{
			sanitize.MarkdownCode(clipLine(r.CriterionID)), strconv.Itoa(r.NumericScore), r.SharePercent(), number(r.RelevanceConfidence),
			sanitize.Markdown(clipLine(strings.Join(r.Flags(), ", "))),
		})
	}
	for i := range a.Results {
		markdownResult(b, &a.Results[i])
	}
	for i := range a.Errors {
		e := &a.Errors[i]
		b.WriteString("\n" + sanitize.MarkdownCode(clipLine(e.Persona)) + " failed at " + sanitize.MarkdownCode(clipLine(e.Node)) + ": " +
			sanitize.MarkdownCode(clipLine(e.Cause)) + " " + sanitize.Markdown(clip(e.Detail)) + "\n")
	}
	if len(a.Cited) > 0 {
		b.WriteString("\nWhat the judges cite:\n\n")
		for i := range a.Cited {
			b.WriteString("- " + sanitize.MarkdownCode(clipLine(a.Cited[i].SourceRef)) + ": " + sanitize.Markdown(clip(a.Cited[i].Content)) + "\n")
		}
	}
	if a.Opinion != "" {
		b.WriteString("\n<details><summary>The opinion</summary>\n\n" + sanitize.MarkdownBlock(whole(a.Opinion)) + "\n\n</details>\n")
	}
	b.WriteByte('\n')
}

// markdownResult tells how a criterion was judged.
func markdownResult(b *strings.Builder, r *trial.AuditResult) {
	b.WriteString("\n" + sanitize.MarkdownCode(clipLine(r.CriterionID)))
	if r.Description != "" {
		b.WriteString(" " + sanitize.Markdown(clip(r.Description)))
	}
	b.WriteString("\n\n")
	for line := range strings.SplitSeq(whole(r.Reasoning), "\n") {
		if line = sanitize.Markdown(line); line != "" {
			b.WriteString("- " + line + "\n")
		}
	}
	for i := range r.Judges {
		j := &r.Judges[i]
		if j.Standing == "overruled" {
			b.WriteString("- " + sanitize.Markdown(j.Judge+" said: "+whole(j.Argument)) + "\n")
		}
		if len(j.CitedEvidence) > 0 {
			refs := make([]string, len(j.CitedEvidence))
			for n, ref := range j.CitedEvidence {
				refs[n] = sanitize.MarkdownCode(clipLine(ref))
			}
			b.WriteString("- " + sanitize.Markdown(j.Judge+" cites") + " " + strings.Join(refs, ", ") + "\n")
		}
	}
}

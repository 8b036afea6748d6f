package render

import (
	"bytes"
	"embed"
	"html/template"
	"io"
	"sync"

	"github.com/shadowcourt/shadowcourt/host/trial"
)

// Pages are self-contained HTML, or GitHub-flavoured Markdown. HTML needs no script, font, picture or network, and is laid out for
// wide and narrow screens, light and dark, and for print. The writers write at Close, since the summary comes first, and hold the
// rendered trials until then.
//
// All texts of a trial are untrusted. [Sanitize] sanitizes them, html/template or the functions of markdown.go escape them, and the
// HTML page forbids itself scripts and loading on top of that.

//go:embed page.tmpl case.tmpl audit.tmpl answer.tmpl
var htmlFiles embed.FS

// styleSheet is that of a page, auditStyle what audits need beside it.
var (
	//go:embed style.css
	styleSheet string
	//go:embed trial.css
	trialStyle string
	//go:embed audit.css
	auditStyle string
)

// pageTop is what stands at the top of a page.
type pageTop struct {
	Title string
	Style template.CSS
}

func newPageTop(title, style string) pageTop { return pageTop{title, template.CSS(style)} } //nolint:gosec // our own files

// executor is a set of templates, of HTML or of Markdown.
type executor interface {
	ExecuteTemplate(w io.Writer, name string, data any) error
}

// page gathers the parts of a page: the rows of its table, and what comes below. What it holds was rendered by its templates.
type page struct {
	w              io.Writer
	templates      executor
	markdown       bool
	rows, articles bytes.Buffer
}

// rendered marks what was rendered as what it is.
func (p *page) rendered(b *bytes.Buffer) any {
	if p.markdown {
		return markdown(b.String())
	}
	return template.HTML(b.String()) //nolint:gosec // the templates' own output
}

// NewHTML writes trials as HTML.
func NewHTML(w io.Writer) Writer {
	return newTrialPage(page{w: w, templates: htmlTemplates()})
}

// NewMarkdown writes trials as Markdown: the summary, a table of all cases, and the transcript of every trial.
func NewMarkdown(w io.Writer) Writer {
	return newTrialPage(page{w: w, templates: markdownTemplates(), markdown: true})
}

type trialPage struct {
	page
	summary  *Summary
	hasTruth bool
}

func newTrialPage(p page) *trialPage { return &trialPage{page: p, summary: NewSummary()} }

func (p *trialPage) Summary() *Summary { return p.summary }

func (p *trialPage) Write(t *trial.Trial) error {
	p.summary.Add(t)
	v := newCaseView(Sanitize(t), p.summary.Cases, nil)
	p.hasTruth = p.hasTruth || v.Known
	if err := p.templates.ExecuteTemplate(&p.rows, "row", v); err != nil || !t.Told() {
		return err
	}
	return p.templates.ExecuteTemplate(&p.articles, "case", v)
}

func (p *trialPage) Close() error {
	return p.templates.ExecuteTemplate(p.w, "page", struct {
		pageTop
		Summary      *Summary
		Lines        []SummaryLine
		Statuses     []statusShare
		Rows, Trials any
		HasTruth     bool
	}{
		newPageTop("Shadowcourt report", trialStyle+styleSheet), p.summary, p.summary.Lines(), statusShares(p.summary),
		p.rendered(&p.rows), p.rendered(&p.articles), p.hasTruth,
	})
}

// statusShare is one part of the bar of statuses.
type statusShare struct {
	Status trial.Status
	Count  int
}

func statusShares(s *Summary) []statusShare {
	var shares []statusShare
	for _, status := range trial.Statuses() {
		if n := s.ByStatus[status]; n > 0 {
			shares = append(shares, statusShare{status, n})
		}
	}
	return shares
}

// viewFuncs are the functions of all templates that make a view of something with the case around it.
func viewFuncs() map[string]any {
	return map[string]any{
		"clip": clip, "count": plural, "brief": briefWhat, "statements": Statements, "uses": CapabilityUse,
		"inCase":    func(v caseView, w passView) passIn { return passIn{v, w} },
		"ofLight":   func(v caseView, pass *trial.LightPass) lightIn { return lightIn{v, pass} },
		"untried":   func(v caseView, pass trial.LightPass) lightIn { return lightIn{v, &pass} },
		"challenge": newChallengeView,
	}
}

var htmlTemplates = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Funcs(viewFuncs()).Funcs(template.FuncMap{
		"number": number, "width": width, "percent": percent, "digest": shortDigest, "persona": personaClass, "initial": initial,
		"label": func(v caseView, label string) labelView { return newLabelView(&v, label) },
		"speech": func(v caseView, name, text, role string) speech {
			return speech{v.Persona(name), clip(v.Named(text)), role}
		},
		"statement": func(v caseView, s Statement) statementView {
			return statementView{v.Persona(s.Persona), v.Named(s.What), v.Named(s.Why)}
		},
		"item":     newItemView,
		"lines":    changedLines,
		"percent5": func(score int) int { return 20 * max(0, min(score, 5)) },
	}).ParseFS(htmlFiles, "*.tmpl"))
})

// Parts are the parts of a trial's page, for a page of another program that lays them out itself with [TrialStyle]. All texts in them are
// sanitized and escaped, and they hold neither scripts nor styles. A part that the trial has nothing for is empty.
type Parts struct {
	// Outcome is the conclusion, what Light said, and how the case ended.
	Outcome template.HTML
	// Failure says what failed, Gaps what would settle the case.
	Failure, Gaps template.HTML
	// Experiments that were run, and Models: what language models were asked.
	Experiments, Models template.HTML
	// Transcript is all that was said, with the weight of the evidence.
	Transcript template.HTML
	// Modules that took part.
	Modules template.HTML
}

// NewParts renders a trial. Labels are shown by their names for people, where they have any. link gives the address of the place in the documents that an item names and quotes, empty for
// one that the page does not show; a nil link links nothing.
func NewParts(t *trial.Trial, link func(source, quote string) string) (*Parts, error) {
	v := newCaseView(Sanitize(t), 1, link)
	parts := &Parts{}
	for name, into := range map[string]*template.HTML{
		"outcome": &parts.Outcome, "failure": &parts.Failure, "gaps": &parts.Gaps, "experiments": &parts.Experiments, "models": &parts.Models,
		"told": &parts.Transcript, "modules": &parts.Modules,
	} {
		var b bytes.Buffer
		if err := htmlTemplates().ExecuteTemplate(&b, name, v); err != nil {
			return nil, err
		}
		*into = template.HTML(bytes.TrimSpace(b.Bytes())) //nolint:gosec // the template's own output
	}
	return parts, nil
}

// TrialStyle is the style sheet of [Parts]. It has the colours as variables, those of a dark page too.
func TrialStyle() string { return trialStyle }

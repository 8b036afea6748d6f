package report

import (
	"bytes"
	_ "embed"
	"html/template"
	"io"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/render"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
)

//go:embed page.tmpl
var pageTemplate string

//go:embed case.tmpl
var caseTemplate string

//go:embed style.css
var styleSheet string

//go:embed trial.css
var trialStyle string

// NewHTML writes a self-contained page. It is laid out for wide and narrow screens, light and dark, and for print.
func NewHTML(w io.Writer, options Options) render.Writer {
	return &htmlWriter{w: w, options: options, templates: templates(), summary: render.NewSummary()}
}

type htmlWriter struct {
	w         io.Writer
	options   Options
	templates *template.Template
	summary   *render.Summary
	hasTruth  bool
	rows      bytes.Buffer
	trials    bytes.Buffer
}

func templates() *template.Template {
	t := template.New("").Funcs(template.FuncMap{
		"number": number, "width": width, "percent": percent, "clip": clip, "digest": shortDigest,
		"persona": personaClass, "initial": initial, "brief": briefWhat,
		"label": func(v caseView, label string) labelView { return newLabelView(&v, label) },
		"speech": func(v caseView, name, text, role string) speech {
			return speech{v.Persona(name), clip(v.Named(text)), role}
		},
		"inCase":     func(v caseView, w passView) passIn { return passIn{v, w} },
		"ofLight":    func(v caseView, pass *trial.LightPass) lightIn { return lightIn{v, pass} },
		"untried":    func(v caseView, pass trial.LightPass) lightIn { return lightIn{v, &pass} },
		"statements": render.Statements, "uses": render.CapabilityUse,
		"statement": func(v caseView, s render.Statement) statementView {
			return statementView{v.Persona(s.Persona), v.Named(s.What), v.Named(s.Why)}
		},
		"svg":       func(s trial.SVG) template.HTML { return template.HTML(s) }, //nolint:gosec // whoever drew it escaped its text
		"count":     plural,
		"challenge": newChallengeView,
		"item":      newItemView,
		"percent5":  func(score int) int { return 20 * max(0, min(score, 5)) },
	})
	template.Must(t.New("page").Parse(pageTemplate))
	template.Must(t.New("case").Parse(caseTemplate))
	template.Must(t.New("audits").Parse(auditTemplate))
	return t
}

// labelView is a label with its colour, speech one turn of a hearing, passIn a pass with the case around it.
type (
	labelView struct{ Name, Class, Meaning string }
	speech    struct {
		Persona    abi.Persona
		Text, Role string
	}
	passIn struct {
		Case caseView
		Pass passView
	}
	// lightIn is a pass over the Light path with the case around it.
	lightIn struct {
		Case caseView
		Pass *trial.LightPass
	}
	// statementView is what a node of the Light path said.
	statementView struct {
		Persona   abi.Persona
		What, Why string
	}
	// challengeView has the persona in place of its name.
	challengeView struct {
		EvidenceIndex int
		Severity      abi.Severity
		Text          string
		By            abi.Persona
	}
	itemView struct {
		trial.Item
		Label labelView
		Ref   refView
		By    []challengeView
	}
	// refView is a place in the documents, with an address where the page has one for it.
	refView struct{ Name, Href string }
)

func newLabelView(v *caseView, label string) labelView {
	l := labelView{Name: v.LabelName(label), Class: v.labelClass(label)}
	if name := v.LabelNames[label]; name != "" {
		l.Meaning = label + ": " + name
	}
	return l
}

func newChallengeView(v caseView, c abi.Challenge) challengeView {
	return challengeView{c.EvidenceIndex, c.Severity, clip(v.Named(c.Challenge)), v.Persona(c.By)}
}

func newItemView(v caseView, item trial.Item) itemView {
	out := itemView{Item: item, Label: newLabelView(&v, item.Supports), Ref: v.Ref(item.SourceRef, item.Content)}
	for _, c := range item.Challenges {
		out.By = append(out.By, newChallengeView(v, c))
	}
	return out
}

func (h *htmlWriter) Summary() *render.Summary { return h.summary }

func (h *htmlWriter) Write(t *trial.Trial) error {
	h.summary.Add(t)
	v := newCaseView(render.Sanitize(t), h.summary.Cases, caseOptions{})
	h.hasTruth = h.hasTruth || v.Known
	if err := h.templates.ExecuteTemplate(&h.rows, "row", v); err != nil {
		return err
	}
	if !t.Told() {
		return nil
	}
	return h.templates.ExecuteTemplate(&h.trials, "case", v)
}

func (h *htmlWriter) Close() error {
	page := struct {
		Title, Subtitle, When string
		Style                 template.CSS
		Summary               *render.Summary
		Lines                 []render.SummaryLine
		Statuses              []statusShare
		Rows, Trials          template.HTML
		HasTruth              bool
		Source                Source
	}{
		sanitize.Line(h.options.title()), sanitize.Line(h.options.Subtitle), h.options.when(),
		template.CSS(trialStyle + styleSheet), //nolint:gosec // our own files
		h.summary, h.summary.Lines(), statusShares(h.summary),
		template.HTML(h.rows.String()), template.HTML(h.trials.String()), //nolint:gosec // the templates' own output
		h.hasTruth, h.options.source(),
	}
	return h.templates.ExecuteTemplate(h.w, "page", page)
}

// statusShare is one part of the bar of statuses.
type statusShare struct {
	Status trial.Status
	Count  int
}

func statusShares(s *render.Summary) []statusShare {
	var shares []statusShare
	for _, status := range trial.Statuses() {
		if n := s.ByStatus[status]; n > 0 {
			shares = append(shares, statusShare{status, n})
		}
	}
	return shares
}

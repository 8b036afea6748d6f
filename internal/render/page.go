package render

import (
	"bytes"
	"cmp"
	"embed"
	"html/template"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// Pages are self-contained HTML, or GitHub-flavoured Markdown. HTML needs no script, font, picture or network, and is laid out for wide and narrow
// screens, light and dark, and for print. The writers write at Close, since the summary comes first, and hold the rendered trials until then.
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

func newPage(w io.Writer, asMarkdown bool) page {
	if asMarkdown {
		return page{w: w, templates: markdownTemplates(), markdown: true}
	}
	return page{w: w, templates: htmlTemplates()}
}

// rendered marks what was rendered as what it is.
func (p *page) rendered(b *bytes.Buffer) any {
	if p.markdown {
		return markdown(b.String())
	}
	return template.HTML(b.String()) //nolint:gosec // the templates' own output
}

// NewHTML writes trials as HTML.
func NewHTML(w io.Writer) Writer { return &trialPage{page: newPage(w, false), summary: NewSummary()} }

// NewMarkdown writes trials as Markdown: the summary, a table of all cases, and the transcript of every trial.
func NewMarkdown(w io.Writer) Writer {
	return &trialPage{page: newPage(w, true), summary: NewSummary()}
}

type trialPage struct {
	page
	summary  *Summary
	hasTruth bool
}

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
	parts := &Parts{}
	return parts, renderParts(newCaseView(Sanitize(t), 1, link), map[string]*template.HTML{
		"outcome": &parts.Outcome, "failure": &parts.Failure, "gaps": &parts.Gaps, "experiments": &parts.Experiments, "models": &parts.Models,
		"told": &parts.Transcript, "modules": &parts.Modules,
	})
}

// renderParts executes templates by their names.
func renderParts(view any, parts map[string]*template.HTML) error {
	for name, into := range parts {
		var b bytes.Buffer
		if err := htmlTemplates().ExecuteTemplate(&b, name, view); err != nil {
			return err
		}
		*into = template.HTML(bytes.TrimSpace(b.Bytes())) //nolint:gosec // the template's own output
	}
	return nil
}

// TrialStyle is the style sheet of [Parts]. It has the colours as variables, those of a dark page too.
func TrialStyle() string { return trialStyle }

// caseView is a trial as the page lays it out. Every text in it is sanitized.
type caseView struct {
	*trial.Trial
	Anchor string
	Cast   trial.Cast
	trial.Comparison
	Reviews []passView
	// Untried are the passes over the Light path that came to no pass of the court.
	Untried []trial.LightPass
	// Grounds are what Light had to go by where no prosecution says it.
	Grounds []groundView
	// Groundless: there was no trial, and Light had nothing to go by.
	Groundless bool
	// link gives the address of a place in the documents, on a page of another program; nil for none.
	link func(source, quote string) string
}

// Verdict is what people read first.
func (v caseView) Verdict() verdictView {
	c := v.Conclusion()
	view := verdictView{Conclusion: c}
	if said := v.About(); said != v.Case.Subject {
		view.Said = said
	}
	if v.Result.Proposal != nil || v.Result.GapBrief != nil { // which have a part of their own
		view.Next = ""
	}
	return view
}

// verdictView is the conclusion of a case with the failure's message.
type verdictView struct {
	trial.Conclusion
	Said string
}

// Ref is a place that an item names, and what it quotes from there.
func (v caseView) Ref(source, quote string) refView {
	if v.link == nil {
		return refView{Name: source}
	}
	return refView{source, v.link(source, quote)}
}

// groundView is an item that speaks for Light's answer.
type groundView struct {
	*abi.Evidence
	Label labelView
	Ref   refView
}

// passView is one pass with its items, those with the most weight first.
type passView struct {
	*trial.Pass
	// Remand counts the remands before this pass.
	Remand int
	// OfLight is the pass over the Light path that this one reviews; nil where there was none.
	OfLight *trial.LightPass
	Items   []trial.Item
}

func newCaseView(t *trial.Trial, number int, link func(source, quote string) string) caseView {
	v := caseView{Trial: t, Anchor: "case-" + strconv.Itoa(number), Cast: t.Cast(), Comparison: t.Compare(), link: link}
	for i := range t.Passes {
		items := t.Passes[i].Items()
		slices.SortStableFunc(items, func(a, b trial.Item) int { return cmp.Compare(b.Weight, a.Weight) })
		pass := passView{Pass: &t.Passes[i], Remand: i, Items: items}
		if i < len(t.Light) {
			pass.OfLight = &t.Light[i]
		}
		v.Reviews = append(v.Reviews, pass)
	}
	if n := len(v.Reviews); n < len(t.Light) {
		v.Untried = t.Light[n:]
	}
	v.grounds()
	return v
}

// grounds gathers what no pass of the court tells of.
func (v *caseView) grounds() {
	var items []abi.Evidence
	if len(v.Reviews) == 0 {
		items = v.Trial.Grounds()
	}
	for i := range v.Untried {
		items = append(items, v.Untried[i].Grounds()...)
	}
	for i := range items {
		v.Grounds = append(v.Grounds, groundView{&items[i], newLabelView(v, items[i].Supports), v.Ref(items[i].SourceRef, items[i].Content)})
	}
	v.Groundless = len(v.Reviews) == 0 && len(items) == 0 && v.Result.Light != nil
}

// labelClass gives each label of a case a colour class by its place among the labels; what is none of them has none.
func (v *caseView) labelClass(label string) string {
	const colours = 8
	if i := slices.Index(v.Case.Labels, label); i >= 0 && i < colours {
		return "l" + strconv.Itoa(i+1)
	}
	return "l0"
}

// personaClass colours a persona by the colour that its pipeline names, else by its element.
func personaClass(p abi.Persona) string {
	switch c := strings.ToLower(p.Colour); c {
	case "scarlet", "sapphire", "iron", "obsidian", "crimson", "cobalt", "cerulean", "amber":
		return "p-" + c
	}
	return cmp.Or(map[abi.Element]string{
		abi.Fire: "p-scarlet", abi.Water: "p-sapphire", abi.Earth: "p-cobalt", abi.Air: "p-amber", abi.Diamond: "p-iron", abi.Lightning: "p-obsidian",
	}[p.Element], "p-none")
}

func initial(name string) string {
	r, _ := utf8.DecodeRuneInString(strings.TrimSpace(name))
	if r == utf8.RuneError {
		return "?"
	}
	return string(r)
}

// width is a number in [0, 1] as a whole percentage; NaN and what lies outside are clamped to it.
func width(v float64) int {
	if !(v > 0) { // NaN too
		return 0
	}
	return int(min(v, 1)*100 + 0.5)
}

// shortDigest shows enough of a digest to tell modules apart.
func shortDigest(s string) string {
	const shown = len("sha256:") + 12
	if strings.HasPrefix(s, "sha256:") && len(s) > shown {
		return s[:shown]
	}
	return s
}

// briefWhat says what the defense does, in a few words.
func briefWhat(b *abi.DefenseBrief) string {
	switch {
	case b.PleaDeal:
		return "concedes the charge"
	case b.MotionToDismiss && b.AlternativeHypothesis != nil:
		return "moves to dismiss, and proposes an alternative"
	case b.MotionToDismiss:
		return "moves to dismiss"
	case b.AlternativeHypothesis != nil:
		return "proposes an alternative to the charge"
	}
	return "answers the charge"
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

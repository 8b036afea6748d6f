package render

import (
	"bytes"
	_ "embed"
	"html/template"
	"io"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/alibi"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
)

//go:embed answer.css
var answerStyle string

// answerPage writes answers at Close, since the conclusion comes first.
type answerPage struct {
	answerList
	close func(*answerList) error
}

func (p *answerPage) Write(a *Answered) error {
	p.add(newAnswerView(a))
	return nil
}

func (p *answerPage) Close() error {
	p.tellApart()
	return p.close(&p.answerList)
}

// NewAnswerHTML writes answers as a self-contained page: those first that need somebody, and below the fold of each the runs and the trial.
func NewAnswerHTML(w io.Writer, trees AnswerTrees, page PageOptions) AnswerWriter {
	return &answerPage{close: func(l *answerList) error {
		return htmlTemplates().ExecuteTemplate(w, "answers", struct {
			pageTop
			Base, Sentence string
			Courts         [][2]string
			Groups         []answerGroup
		}{page.top("Did this change do it?", trialStyle+styleSheet+answerStyle), trees.base(), l.sentence(trees.Partial), trees.courts(), l.numbered()})
	}}
}

// AnswerParts are the parts of an answer, for a page of another program, laid out with [AnswerStyle].
type AnswerParts struct {
	// Glance is the proof at a glance: the conclusion, the runs as a grid of trees by environments, the change that did it, and the commits.
	Glance template.HTML
	// Runs is the table of the experiments.
	Runs template.HTML
}

// NewAnswerParts renders an answer.
func NewAnswerParts(a *Answered) (parts AnswerParts, err error) {
	v := newAnswerView(a)
	for name, into := range map[string]*template.HTML{"answer-glance": &parts.Glance, "answer-runs": &parts.Runs} {
		var b bytes.Buffer
		if err := htmlTemplates().ExecuteTemplate(&b, name, v); err != nil {
			return parts, err
		}
		*into = template.HTML(b.String()) //nolint:gosec // the template's own output
	}
	return parts, nil
}

// AnswerSays is what a row says behind the verdict: the commit and the part of the change, or how the failure is attributed, with the runs.
func AnswerSays(a *alibi.Answer) string { return newAnswerView(&Answered{Answer: *a}).says() }

// AnswerStyle is the style sheet of [AnswerParts] for what stands in an element of this class. It needs that of [TrialStyle].
func AnswerStyle(class string) string { return "." + class + "{\n" + answerStyle + "}\n" }

// numbered gives the groups, whose answers get their places on the page.
func (l *answerList) numbered() []answerGroup {
	n := 0
	for i := range l.groups {
		for _, v := range l.groups[i].Answers {
			n++
			v.number = n
		}
	}
	return l.groups[:]
}

// Title is the heading of a group.
func (g *answerGroup) Title() string {
	return map[alibi.Verdict]string{alibi.IsYours: "Yours", alibi.IsOpen: "Open", alibi.NotYours: "Not yours"}[g.Verdict]
}

// Anchor, Says and the like are what the page shows of an answer.
func (v *answerView) Anchor() string       { return "answer-" + strconv.Itoa(v.number) }
func (v *answerView) Says() string         { return v.says() }
func (v *answerView) Grid() *runGrid       { return newRunGrid(v.Runs) }
func (v *answerView) Ribbon() []ribbonPart { return ribbon(v.Culprit) }
func (v *answerView) Beside() string       { return besides(v.Culprit) }

// Hunk is the change that did it; nil where it is not known.
func (v *answerView) Hunk() *alibi.Hunk {
	if v.Culprit == nil {
		return nil
	}
	return v.Culprit.Hunk
}

// Case is the trial as its own page tells it.
func (v *answerView) Case() *caseView {
	if v.Trial == nil {
		return nil
	}
	view := newCaseView(Sanitize(v.Trial), v.number, nil)
	return &view
}

// listedRun is a row of the table of runs.
type listedRun struct {
	*trial.Experiment
	Tree, Environment, Code, By string
}

// Listed are the experiments in their order.
func (v *answerView) Listed() (list []listedRun) {
	code := map[abi.LoadedCode]string{abi.Certified: "its own", abi.NotCertified: "not known", abi.Contradicted: "of another tree"}
	for i := range v.Runs {
		e := &v.Runs[i]
		_, tree := treeOf(e)
		_, environment := environmentOf(e)
		by := e.Persona
		if v.Trial != nil {
			by = sanitize.Line(v.Trial.Persona(by).Name)
		}
		if by == "light" { // who is no persona
			by = "Light"
		}
		list = append(list, listedRun{e, tree, environment, code[e.Loaded], by})
	}
	return list
}

// changedLine is a line of a hunk.
type changedLine struct {
	Text  string
	Added bool
}

func changedLines(hunk string) (list []changedLine) {
	for line := range strings.SplitSeq(hunk, "\n") {
		list = append(list, changedLine{line, strings.HasPrefix(line, "+")})
	}
	return list
}

func hunkPlace(h *alibi.Hunk) string { return h.Path + ":" + strconv.Itoa(h.Line) }

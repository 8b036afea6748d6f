package render

import (
	"bytes"
	"cmp"
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
func NewAnswerHTML(w io.Writer, trees AnswerTrees) AnswerWriter {
	return &answerPage{close: func(l *answerList) error {
		return htmlTemplates().ExecuteTemplate(w, "answers", struct {
			pageTop
			Base, Sentence string
			Courts         [][2]string
			Groups         []answerGroup
		}{newPageTop("Did this change do it?", trialStyle+styleSheet+answerStyle), trees.base(), l.sentence(trees.Partial), trees.courts(), l.numbered()})
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
func AnswerSays(a *alibi.Answer) string { return newAnswerView(&Answered{Answer: *a}).Says() }

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

// MarkdownBytes bounds what Markdown says of all failures, so that it fits into a comment: GitHub takes 65,536 characters.
const MarkdownBytes = 60_000

// NewAnswerMarkdown writes answers as GitHub-flavoured Markdown, at Close: the conclusion, then a section of at most [MarkdownAnswerBytes] for
// each, those first that need somebody, until [MarkdownBytes] are reached. What does not fit is counted.
func NewAnswerMarkdown(w io.Writer, trees AnswerTrees) AnswerWriter {
	return &answerPage{close: func(l *answerList) error {
		var b strings.Builder
		b.WriteString("**" + sanitize.Markdown(l.sentence(trees.Partial)) + "** Base: " + sanitize.Markdown(trees.base()) + "\n")
		for _, line := range trees.courts() {
			b.WriteString("\n" + line[0] + " " + sanitize.Markdown(line[1]) + "\n")
		}
		end := ""
		if legend := l.legend(); legend != "" {
			end = "\n" + legend + "\n"
		}
		const rest = 120 // bytes of what counts those that don't fit
		var left [3]int
		full := false
		for i, g := range l.groups {
			for _, v := range g.Answers {
				text := ""
				if !full {
					text = v.markdown()
					full = b.Len()+len(text)+len(end)+rest > MarkdownBytes
				}
				if full {
					left[i] += 1 + len(v.Alike)
					continue
				}
				b.WriteString(text)
			}
		}
		if n := left[0] + left[1] + left[2]; n > 0 {
			b.WriteString("\nNot shown here, for want of space: " + strconv.Itoa(left[0]) + " yours, " + strconv.Itoa(left[1]) + " open, " + strconv.Itoa(left[2]) + " not yours.\n")
		}
		b.WriteString(end)
		_, err := io.WriteString(w, b.String())
		return err
	}}
}

// legend explains the marks of all grids.
func (l *answerList) legend() string {
	used := [len(markSigns)]bool{}
	for _, g := range l.groups {
		for _, v := range g.Answers {
			for _, m := range newRunGrid(v.Runs).Legend {
				used[m] = true
			}
		}
	}
	var words []string
	for m, is := range used {
		if is {
			words = append(words, markSigns[m].Sign+" "+markSigns[m].Words)
		}
	}
	return strings.Join(words, ", ")
}

// MarkdownAnswerBytes bounds what Markdown says of one failure.
const MarkdownAnswerBytes = 1000

// section is a piece of Markdown of limited length.
type section struct{ strings.Builder }

// add adds a text that is escaped and put between two pieces of ours, shortened to at most so many bytes of what is left; or nothing, where
// nothing of it would be left.
func (s *section) add(before, said, after string, escape func(string) string, most int) {
	most = min(most, MarkdownAnswerBytes-s.Len()-len(before)-len(after))
	for cut := min(len(said), max(most, 0)); cut > 0; cut = cut * 3 / 4 {
		text := said
		if cut < len(said) {
			text = strings.TrimRight(strings.ToValidUTF8(said[:cut], ""), " \n") + "…"
		}
		if text = escape(text); len(text) <= most {
			s.WriteString(before + text + after)
			return
		}
	}
}

// put adds a piece of ours, if it fits.
func (s *section) put(piece string) {
	if s.Len()+len(piece) <= MarkdownAnswerBytes {
		s.WriteString(piece)
	}
}

// The most bytes of the parts of a section: names, sentences and the grid leave room for the message.
const (
	markdownName     = 120
	markdownSentence = 220
	markdownMessage  = 200
	markdownMarks    = 5
)

func (v *answerView) markdown() string {
	s := &section{}
	s.add("\n### ", v.Test, strings.TrimPrefix(v.name(), v.Test)+": "+string(v.Verdict)+"\n\n", sanitize.MarkdownCode, markdownName)
	s.add("", v.Sentence(), "\n", sanitize.Markdown, markdownSentence)
	s.add("", v.Began(), "\n", sanitize.Markdown, markdownSentence)
	s.add("", v.Blamed(), "\n", sanitize.Markdown, markdownSentence)
	if q := v.Quarantined; q != nil { // as Held, with the owner in code, so that nobody is mentioned
		s.add("", "In quarantine until "+q.Expires, "", sanitize.Markdown, markdownName)
		s.add(", looked after by ", q.Owner, "", sanitize.MarkdownCode, markdownName)
		s.add(": ", strings.TrimSuffix(q.Reason, "."), ".\n", sanitize.Markdown, markdownSentence)
	}
	s.add("At ", v.Where(), "\n", sanitize.MarkdownCode, markdownName)
	s.add("Owned by ", strings.Join(v.Owners, " "), "\n", sanitize.MarkdownCode, markdownName)
	s.add("\n", v.Message, "\n", sanitize.MarkdownBlock, markdownMessage)
	s.add("\n", nextWords(v), "\n", sanitize.Markdown, markdownSentence)
	s.put(markdownGrid(newRunGrid(v.Runs)))
	s.put(markdownRibbon(v.Culprit))
	if h := v.Hunk(); h != nil {
		s.add("\n", hunkPlace(h)+"\n"+h.Text, "\n", sanitize.MarkdownBlock, MarkdownAnswerBytes)
	}
	return s.String()
}

func nextWords(v *answerView) string {
	if v.Verdict != alibi.IsOpen || v.Next == "" {
		return ""
	}
	return "What would decide it: " + v.Next + "."
}

// markdownRibbon is the commits that it may have been, with how probable each is.
func markdownRibbon(c *alibi.Culprit) string {
	var said []string
	for _, p := range ribbon(c) {
		if p.Probability > 0 && p.LeftOut == 0 {
			said = append(said, cmp.Or(sanitize.MarkdownCode(p.Commit), "not committed")+" "+sanitize.Markdown(p.Chance()))
		}
	}
	if len(said) == 0 {
		return ""
	}
	return "\nOf " + plural(len(c.Ribbon), "commit", "commits") + ": " + strings.Join(said, ", ") + "\n"
}

// markdownGrid is a grid as a table.
func markdownGrid(g *runGrid) string {
	if len(g.Rows) == 0 {
		return ""
	}
	escaped := make([]string, len(g.Environments))
	for i, name := range g.Environments {
		escaped[i] = sanitize.MarkdownCell(sanitize.Markdown(name))
	}
	var b strings.Builder
	b.WriteString("\n| tree | " + strings.Join(escaped, " | ") + " |\n|" + strings.Repeat(" --- |", len(g.Environments)+1) + "\n")
	for i := range g.Rows {
		row := &g.Rows[i]
		b.WriteString("| " + sanitize.MarkdownCell(sanitize.Markdown(row.Tree)) + " |")
		for j := range row.Cells {
			b.WriteString(" " + TerminalOptions{}.marks(row.Cells[j].Shown(markdownMarks), ", ") + " |")
		}
		b.WriteString("\n")
	}
	return b.String()
}

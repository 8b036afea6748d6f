package render

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"

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
	known, n := namesakes{}, 0
	for _, g := range p.groups {
		for _, v := range g.Answers {
			known.add(v.Test, v.Group)
		}
	}
	for _, g := range p.groups {
		for _, v := range g.Answers {
			n++
			v.Test, v.number = known.name(v.Test, v.ID), n
		}
	}
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
		}{newPageTop("Did this change do it?", trialStyle+styleSheet+answerStyle), trees.base(), l.sentence(trees.Partial), trees.courts(), l.groups[:]})
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
	err = renderParts(newAnswerView(a), map[string]*template.HTML{"answer-glance": &parts.Glance, "answer-runs": &parts.Runs})
	return parts, err
}

// AnswerSays is what a row says behind the verdict: the commit and the part of the change, or how the failure is attributed, with the runs.
func AnswerSays(a *alibi.Answer) string { return newAnswerView(&Answered{Answer: *a}).Says() }

// AnswerStyle is the style sheet of [AnswerParts] for what stands in an element of this class. It needs that of [TrialStyle].
func AnswerStyle(class string) string { return "." + class + "{\n" + answerStyle + "}\n" }

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
	if v.Closes() != "" {
		s.add("\n"+sanitize.Markdown(v.Lead())+": ", v.Next, ".\n", sanitize.Markdown, markdownSentence)
	}
	s.put(markdownGrid(newRunGrid(v.Runs)))
	s.put(markdownRibbon(v.Culprit))
	if h := v.Hunk(); h != nil {
		s.add("\n", hunkPlace(h)+"\n"+h.Text, "\n", sanitize.MarkdownBlock, MarkdownAnswerBytes)
	}
	return s.String()
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
	var b strings.Builder
	b.WriteString("\n| tree |")
	for _, name := range g.Environments {
		b.WriteString(" " + sanitize.MarkdownCell(sanitize.Markdown(name)) + " |")
	}
	b.WriteString("\n|" + strings.Repeat(" --- |", len(g.Environments)+1) + "\n")
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

// answerTable writes a row for each answer as soon as it stands, and a sentence below.
type answerTable struct {
	w       io.Writer
	options TerminalOptions
	name    int // width of the column of names
	head    string
	partial *PartialAnswers
	held    *answerView
	list    answerList
	known   namesakes
}

// NewAnswerTable writes answers for people: a row for each, as soon as it stands, and a conclusion at Close. Where the width is known, long
// texts are wrapped; a name is shortened only where it alone is too wide. names are the tests that will be answered, so that their column has
// its width before the first answer; other names may come.
func NewAnswerTable(w io.Writer, trees AnswerTrees, names []string, terminal TerminalOptions) AnswerWriter {
	t := &answerTable{w: w, options: terminal, name: leastNames, head: trees.lines(terminal) + "\n", partial: trees.Partial, known: namesakes{}}
	most := mostNames
	if terminal.Width > 0 {
		most = min(most, max(terminal.Width/3, leastNames))
	}
	for i, name := range names {
		t.known.add(name, strconv.Itoa(i)) // each is another test
		t.name = min(max(t.name, text.StringWidthWithoutEscSequences(oneLine(name))), most)
	}
	return t
}

// Widths of the columns of a table of answers.
const (
	leastNames   = 12
	mostNames    = 48
	verdictWidth = 9 // not yours
	leastSaid    = 32
)

// oneLine is a text that is cut where nobody reads on, sanitized.
func oneLine(s string) string { return snip(s, 1000) }

// cutMiddle keeps both ends of a text that is too wide: what tells tests apart stands at the end, what they are about at the beginning.
func cutMiddle(s string, width int) string {
	if text.StringWidthWithoutEscSequences(s) <= width || width < 3 {
		return snip(s, width)
	}
	head := text.Snip(s, (width+1)/2, "…")
	return head + strings.TrimPrefix(snipStart(s, width-text.StringWidthWithoutEscSequences(head)+1), "…")
}

func (t *answerTable) Write(a *Answered) error {
	v := newAnswerView(a)
	v.Test = t.known.name(v.Test, v.ID)
	t.list.group(v.Verdict).Failures++
	if t.held != nil && t.held.join(v) {
		return nil
	}
	err := t.flush()
	t.held = v
	return err
}

// flush writes the row that is held back for equal ones, and before the first the base.
func (t *answerTable) flush() error {
	row := t.head
	if t.head = ""; t.held != nil {
		row += t.row(t.held)
		t.held = nil
	}
	_, err := io.WriteString(t.w, row)
	return err
}

func (t *answerTable) Close() error {
	if err := t.flush(); err != nil {
		return err
	}
	var b strings.Builder
	for _, line := range wrap(t.list.sentence(t.partial), t.options.columns()) {
		b.WriteString("\n" + t.options.paint(bold, line))
	}
	_, err := io.WriteString(t.w, b.String()+"\n")
	return err
}

func verdictPaint(v alibi.Verdict) paint {
	return map[alibi.Verdict]paint{alibi.IsYours: red, alibi.NotYours: green, alibi.IsOpen: yellow}[v]
}

// verdictText shouts only what somebody has to act on.
func verdictText(v alibi.Verdict) string {
	if v == alibi.IsYours {
		return "YOURS"
	}
	return string(v)
}

func (t *answerTable) row(v *answerView) string {
	name, said, seconds := v.name(), oneLine(v.Says()), v.Seconds()
	if q := v.Quarantined; q != nil {
		said += oneLine("; in quarantine until " + q.Expires + " (" + q.Owner + ")")
	}
	verdict := t.options.paint(verdictPaint(v.Verdict), padded(verdictText(v.Verdict), verdictWidth))
	if t.options.Width <= 0 { // for programs, too
		return padded(oneLine(name), t.name) + "  " + verdict + "  " + said + "  " + seconds + "\n"
	}
	var b strings.Builder
	indent := t.name + 2
	if fits := text.StringWidthWithoutEscSequences(name) <= t.name; fits && t.options.Width-indent-verdictWidth-4-len(seconds) >= leastSaid {
		b.WriteString(padded(name, t.name) + "  ")
	} else {
		b.WriteString(cutMiddle(name, t.options.Width) + "\n")
		if t.options.Width-indent-verdictWidth-4-len(seconds) < leastSaid {
			indent = 2
		}
		b.WriteString(strings.Repeat(" ", indent))
	}
	room := max(t.options.Width-indent-verdictWidth-4-len(seconds), 1)
	for i, line := range wrap(said, room) {
		if i > 0 {
			b.WriteString(strings.Repeat(" ", indent+verdictWidth+2) + line + "\n")
			continue
		}
		b.WriteString(verdict + "  " + padded(line, room) + "  " + seconds + "\n")
	}
	return b.String()
}

func padded(s string, width int) string {
	return s + strings.Repeat(" ", max(width-text.StringWidthWithoutEscSequences(s), 0))
}

// answerStory explains answers one by one.
type answerStory struct {
	story
	w       io.Writer
	partial *PartialAnswers
}

// NewAnswerExplanations writes each answer at length: the conclusion, a grid of trees by environments with a mark for each run, the commits
// with how probable each is, the failure's message and what would decide an open one.
func NewAnswerExplanations(w io.Writer, trees AnswerTrees, terminal TerminalOptions) AnswerWriter {
	s := &answerStory{w: w, partial: trees.Partial, story: newStory(terminal)}
	s.line(trees.lines(terminal))
	return s
}

func (s *answerStory) Write(a *Answered) error {
	v := newAnswerView(a)
	s.line("")
	s.line(s.paint(bold, cutMiddle(v.Test, s.width-24)) + "  " + s.paint(verdictPaint(v.Verdict), verdictText(v.Verdict)) + "  " + v.Seconds())
	s.say(2, faint, v.Group)
	s.line("")
	s.say(0, bold, v.Sentence())
	s.say(0, plain, v.Began())
	s.say(0, plain, v.Held())
	s.say(0, plain, v.Blamed())
	s.hunk(v)
	s.grid(newRunGrid(v.Runs))
	s.ribbon(ribbon(v.Culprit))
	s.part("Failure", v.Message)
	if v.Closes() != "" {
		s.part(v.Lead(), v.Next)
	}
	_, err := io.WriteString(s.w, s.b.String())
	s.b.Reset()
	return err
}

func (s *answerStory) Close() error {
	lead := s.partial.lead()
	if lead == "" {
		return nil
	}
	s.line("")
	s.line(s.paint(bold, lead))
	_, err := io.WriteString(s.w, s.b.String())
	return err
}

func (s *answerStory) part(title, said string) {
	if strings.TrimSpace(said) != "" {
		s.line("")
		s.line(s.paint(bold, title))
		s.say(2, plain, said)
	}
}

// hunk writes the change that did it, each line in one line, and which commits it may be as well.
func (s *answerStory) hunk(v *answerView) {
	if h := v.Hunk(); h != nil {
		s.say(2, faint, hunkPlace(h))
		for _, line := range changedLines(h.Text) {
			p := red
			if line.Added {
				p = green
			}
			s.line("    " + s.paint(p, snip(strings.ReplaceAll(line.Text, "\t", "    "), s.width-4)))
		}
	}
	s.say(0, plain, v.Beside())
}

func (s *answerStory) grid(g *runGrid) {
	if len(g.Rows) == 0 {
		return
	}
	table := NewGrid(Column{})
	for _, name := range g.Environments {
		table.columns = append(table.columns, Column{Name: name})
	}
	for i := range g.Rows {
		cells := []cell{{text: g.Rows[i].Tree}}
		for j := range g.Rows[i].Cells {
			cells = append(cells, cell{text: s.marks(g.Rows[i].Cells[j].Shown(mostMarks), "  ")})
		}
		table.rows = append(table.rows, cells)
	}
	s.line("")
	if _, fits := table.fit(s.width); fits {
		s.b.WriteString(table.Text(s.TerminalOptions))
	} else {
		for i := range g.Rows {
			for j := range g.Rows[i].Cells {
				c := &g.Rows[i].Cells[j]
				if shown := c.Shown(mostMarks); len(shown) > 0 {
					s.line(g.Rows[i].Tree + ", " + c.Environment)
					s.line("  " + s.marks(shown, "\n  "))
				}
			}
		}
	}
	s.line("")
	legend, width := "", 0
	for _, m := range g.Legend {
		words := m.Sign() + " " + m.Words()
		if width += len(words) + 3; width > s.width {
			s.line(legend)
			legend, width = "", len(words)+3
		}
		legend += s.paint(markSigns[m].paint, m.Sign()) + " " + m.Words() + "   "
	}
	s.line(legend)
}

// marks are those of a cell as text, with a gap between those that are counted.
func (o TerminalOptions) marks(shown []markCount, gap string) string {
	var b strings.Builder
	for i, n := range shown {
		if i > 0 && n.Count != "" {
			b.WriteString(gap)
		}
		b.WriteString(o.paint(markSigns[n.Mark].paint, strings.Repeat(n.Mark.Sign(), n.Marks)))
		if n.Count != "" {
			b.WriteString(" " + n.Count)
		}
	}
	return b.String()
}

func (s *answerStory) ribbon(parts []ribbonPart) {
	if len(parts) == 0 {
		return
	}
	cells := min(10, s.width/10)
	s.line("")
	s.line(s.paint(bold, "Commits, the oldest first"))
	for i := range parts {
		p := &parts[i]
		line := padded(p.Commit, 12) + "  " + bar(p.Probability, cells) + "  " + strings.Repeat(" ", max(4-len(p.Chance()), 0)) + p.Chance() + "  "
		line += snip(p.Name(), max(s.width-text.StringWidthWithoutEscSequences(line)-2, 4))
		if p.Culprit {
			line = s.paint(bold, line)
		}
		s.line("  " + line)
	}
}

// WriteBeginning writes what a search for a commit showed in one of the formats jsonl, md and, for people, table. since and until are the names
// by which the ends of the search were asked for; an empty until is the working tree.
func WriteBeginning(w io.Writer, format string, b *alibi.Beginning, since, until string, terminal TerminalOptions) error {
	switch format {
	case "jsonl":
		text, err := json.Marshal(b)
		if err == nil {
			_, err = w.Write(append(sanitize.JSON(text), '\n'))
		}
		return err
	case "md":
		_, err := io.WriteString(w, newBeginning(b, since, until).markdown())
		return err
	}
	_, err := io.WriteString(w, newBeginning(b, since, until).text(terminal))
	return err
}

// beginningView is a search as people see it. Its texts are sanitized.
type beginningView struct {
	*alibi.Beginning
	answer       *answerView
	since, until string
}

func newBeginning(b *alibi.Beginning, since, until string) *beginningView {
	clean := *b
	clean.Why, clean.Test, clean.Group = sanitize.Line(b.Why), sanitize.Line(b.Test), sanitize.Line(b.Group)
	name := func(revision, id, none string) string {
		if id == "" {
			return none
		}
		return sanitize.Line(revision) + " (" + shortCommit(id) + ")"
	}
	v := &beginningView{
		Beginning: &clean, answer: newAnswerView(&Answered{Answer: alibi.Answer{Test: b.Test, Message: b.Message, Culprit: b.Culprit}}),
		since: name(since, b.Since, ""), until: name(cmp.Or(until, "HEAD"), b.Until, "your working tree"),
	}
	clean.Culprit = v.answer.Culprit
	return v
}

// sentence is the conclusion.
func (v *beginningView) sentence() string {
	c := v.Culprit
	test := v.Test
	switch v.Ending {
	case alibi.Passes:
		return test + " does not fail at " + v.until + ": " + v.After.Words() + "."
	case alibi.NotRun:
		return test + " can't be run at " + v.until + ": " + v.Why + "."
	case alibi.Before:
		return test + " fails at " + v.since + " as it does at " + v.until + ": " + v.Before.Words() + " there, " + v.After.Words() + " here. Name an earlier revision."
	case alibi.Found, alibi.Undecided:
	}
	switch {
	case v.Confirmed():
		return test + " began to fail with " + commitName(c) + ", at " + chance(c.Probability) + "; " + verified(c)
	case c != nil && c.Verified && v.Ending == alibi.Found:
		return test + " began to fail with " + commitName(c) + " or a commit before it that can't be run, at " + chance(c.Probability) + "; " + verified(c)
	case c != nil:
		return test + " probably began to fail with " + commitName(c) + ", at " + chance(c.Probability) + "; not confirmed" + v.because() + "."
	}
	return "No commit is found that " + test + " began to fail with" + v.because() + "."
}

func (v *beginningView) because() string {
	if v.Why != "" {
		return ": " + v.Why
	}
	if c := v.Culprit; c != nil && c.Pair != nil {
		return ": " + c.Pair.Words(shortCommit(c.Pair.Parent))
	}
	return ""
}

// spent says what was run.
func (v *beginningView) spent() string {
	text := fmt.Sprintf("%s in %.0f s; %s from %s to %s.", plural(v.Runs, "run", "runs"), max(v.Seconds, 1), plural(v.Commits, "commit", "commits"), v.since, v.until)
	if v.Ending != alibi.Found && v.Ending != alibi.Undecided {
		return text
	}
	return text + " " + upper(v.Before.Words()) + " before the first, " + v.After.Words() + " at the last."
}

func upper(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

func (v *beginningView) text(terminal TerminalOptions) string {
	s := &answerStory{story: newStory(terminal)}
	s.say(0, bold, v.sentence())
	s.hunk(v.answer)
	s.ribbon(v.answer.Ribbon())
	s.part("Failure", v.answer.Message)
	s.line("")
	s.say(0, plain, v.spent())
	return s.b.String()
}

func (v *beginningView) markdown() string {
	s := &section{}
	s.add("**", v.sentence(), "**\n", sanitize.Markdown, MarkdownAnswerBytes/2)
	s.add("\n", v.answer.Beside(), "\n", sanitize.Markdown, markdownSentence)
	s.put(markdownRibbon(v.Culprit))
	s.add("\n", v.spent(), "\n", sanitize.Markdown, markdownSentence)
	if h := v.answer.Hunk(); h != nil {
		s.add("\n", hunkPlace(h)+"\n"+h.Text, "\n", sanitize.MarkdownBlock, MarkdownAnswerBytes)
	}
	s.add("\n", v.answer.Message, "\n", sanitize.MarkdownBlock, markdownMessage)
	return s.String()
}

package render

import (
	"io"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/shadowcourt/shadowcourt/host/alibi"
)

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
	s.part("What would decide it", v.Next)
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

// part writes a text under a heading.
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

// grid writes the runs as a table, or where that is too wide as a list.
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
		s.b.WriteString(table.Text(s.TerminalOptions) + "\n")
	} else {
		s.runList(g)
	}
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

// runList writes the runs one below the other.
func (s *answerStory) runList(g *runGrid) {
	for i := range g.Rows {
		for j := range g.Rows[i].Cells {
			c := &g.Rows[i].Cells[j]
			if shown := c.Shown(mostMarks); len(shown) > 0 {
				s.line(g.Rows[i].Tree + ", " + c.Environment)
				s.line("  " + s.marks(shown, "\n  "))
			}
		}
	}
	s.line("")
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

// ribbon writes the commits, the oldest first.
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

package chat

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/odds"
	"github.com/shadowcourt/shadowcourt/plugins/internal/steering"
	"github.com/shadowcourt/shadowcourt/plugins/internal/text"
)

// Sheet is what a model is shown of documents: numbered lines, as many as fit. The numbers run through all documents, so that a
// number stands for one line, and an answer quotes by numbers what the module then repeats word for word.
type Sheet struct {
	documents []abi.Document
	lines     []line
	shown     int
	withheld  int
}

type line struct {
	document, start, end int
	shown                bool
	// withheld: it addresses its reader. The model is told that there is such a line, and cannot quote it.
	withheld bool
}

// lineBytes is how much of a line is shown, what a number and a break add, and what a finding can quote.
const (
	lineBytes    = 300
	lineOverhead = 10
)

// NewSheet chooses lines of documents that have at most budget bytes: around lines that anchor says are worth it, and around trouble and changes.
func NewSheet(documents []abi.Document, anchors []abi.Finding, budget int) *Sheet {
	s := &Sheet{documents: documents}
	for d := range documents {
		text := documents[d].Text
		for at := 0; at < len(text); {
			end := len(text)
			if i := strings.IndexByte(text[at:], '\n'); i >= 0 {
				end = at + i
			}
			s.lines = append(s.lines, line{document: d, start: at, end: end})
			at = end + 1
		}
	}
	s.choose(s.weights(anchors), budget)
	s.withhold()
	return s
}

// What makes a line worth showing. Of lines around one that is, each counts less.
const (
	anchorWeight  = 10
	troubleWeight = 6
	changeWeight  = 5
	edgeWeight    = 2
	reach         = 4 // lines
	edgeLines     = 3 // at the ends of a document
)

// trouble are words of failures, whatever wrote the log.
func trouble() []string {
	return []string{
		"error", "fail", "fatal", "panic", "exception", "expected", "unexpected", "actual", "assert", "got ", "want", "timeout", "timed out", "deadline", "denied",
		"connection", "cannot", "could not", "unable", "abort", "crash", "killed", "undefined", "not found", "no such", "race", "leak", "signal",
	}
}

// weights gives each line what speaks for showing it.
func (s *Sheet) weights(anchors []abi.Finding) []int {
	weights := make([]int, len(s.lines))
	quoted := make(map[string]bool, len(anchors))
	for i := range anchors {
		quoted[anchors[i].Quote] = true
	}
	matcher := odds.NewMatcher(trouble())
	first := 0
	for d := range s.documents {
		whole := s.documents[d].Text
		end := first
		for end < len(s.lines) && s.lines[end].document == d {
			end++
		}
		at := first
		matcher.Scan(whole, func(_, start, _ int) {
			for at < end-1 && s.lines[at+1].start <= start {
				at++
			}
			weights[at] = troubleWeight
		})
		changes := strings.HasPrefix(whole, "diff ") || strings.Contains(whole, "\n@@ ")
		for i := first; i < end; i++ {
			l := whole[s.lines[i].start:s.lines[i].end]
			switch {
			case len(quoted) > 0 && quoted[text.QuoteAround(whole, s.lines[i].start, s.lines[i].start)]:
				weights[i] = anchorWeight
			case changes && len(l) > 0 && (l[0] == '+' || l[0] == '-' || l[0] == '@'):
				weights[i] = max(weights[i], changeWeight)
			case i < first+edgeLines || i >= end-edgeLines:
				weights[i] = max(weights[i], edgeWeight)
			}
		}
		first = end
	}
	return s.spread(weights)
}

// spread gives lines around others a share of their weight.
func (s *Sheet) spread(weights []int) []int {
	out := slices.Clone(weights)
	for i, w := range weights {
		for d := 1; d <= reach && w > edgeWeight; d++ {
			for _, j := range [...]int{i - d, i + d} {
				if j >= 0 && j < len(weights) && s.lines[j].document == s.lines[i].document {
					out[j] = max(out[j], w-d)
				}
			}
		}
	}
	return out
}

// choose shows the lines of the largest weights, within a budget of bytes.
func (s *Sheet) choose(weights []int, budget int) {
	order := make([]int, len(s.lines))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(weights[b], weights[a]) })
	for _, i := range order {
		l := &s.lines[i]
		if cost := min(l.end-l.start, lineBytes) + lineOverhead; cost <= budget {
			budget -= cost
			l.shown = true
			s.shown++
		}
	}
}

// sentenceLines is over how many lines a sentence is sought.
const sentenceLines = 3

// withhold keeps back lines that address their reader, also those that do so only together with the next ones.
func (s *Sheet) withhold() {
	begins := make([]bool, len(s.lines))
	for i := range s.lines {
		if l := &s.lines[i]; l.shown {
			l.withheld, begins[i] = steering.Line(s.text(i))
		}
	}
	for most := 2; most <= sentenceLines; most++ {
		for i := range s.lines {
			begins[i] = begins[i] && s.together(i, most)
		}
	}
	for i := range s.lines {
		if s.lines[i].withheld {
			s.withheld++
		}
	}
}

// together keeps back lines from a number on that are a command only together, and says whether they begin one.
func (s *Sheet) together(from, lines int) (begins bool) {
	if from+lines > len(s.lines) {
		return false
	}
	var sentence strings.Builder
	sentence.WriteString(s.text(from))
	for i := from; i < from+lines; i++ {
		l := &s.lines[i]
		if !l.shown || l.withheld || l.document != s.lines[from].document {
			return false
		}
		if i > from {
			sentence.WriteString(" " + steering.Body(s.text(i)))
		}
	}
	addresses, begins := steering.Line(sentence.String())
	if addresses {
		for i := from; i < from+lines; i++ {
			s.lines[i].withheld = true
		}
	}
	return begins
}

func (s *Sheet) text(i int) string {
	l := &s.lines[i]
	return s.documents[l.document].Text[l.start:l.end]
}

// Cut says what was not shown, or nothing. A nil sheet shows no document.
func (s *Sheet) Cut() string {
	if s == nil {
		return "its prompt has no {documents}"
	}
	cut := ""
	if left := len(s.lines) - s.shown; left > 0 {
		cut = text.Count(left, "line") + " of " + text.Int(len(s.lines)) + " left out"
	}
	if s.withheld > 0 {
		if cut != "" {
			cut += ", "
		}
		cut += text.Count(s.withheld, "line") + " withheld: they address their reader"
	}
	return cut
}

// Quote gives the line of a number word for word, and its document. ok is false for a line that was not shown, and for an empty one. A nil sheet
// has no lines.
func (s *Sheet) Quote(number int) (document, quote string, ok bool) {
	if s == nil || number < 1 || number > len(s.lines) {
		return "", "", false
	}
	l := &s.lines[number-1]
	d := &s.documents[l.document]
	quote = text.QuoteAround(d.Text, l.start, l.start)
	return d.Name, quote, l.shown && !l.withheld && quote != ""
}

// String is what the model reads.
func (s *Sheet) String() string {
	var out strings.Builder
	document, next := -1, 0
	for i := range s.lines {
		l := &s.lines[i]
		if !l.shown {
			continue
		}
		if l.document != document {
			s.gap(&out, next, i)
			document = l.document
			out.WriteString("document " + quoted(s.documents[document].Name) + "\n")
		} else {
			s.gap(&out, next, i)
		}
		next = i + 1
		out.WriteString(strconv.Itoa(i+1) + "| ")
		if l.withheld {
			out.WriteString(withheld + "\n")
			continue
		}
		out.WriteString(text.InLine(Clip(s.text(i), lineBytes)))
		out.WriteByte('\n')
	}
	s.gap(&out, next, len(s.lines))
	return out.String()
}

func (s *Sheet) gap(out *strings.Builder, from, to int) {
	if to > from {
		out.WriteString("[" + text.Count(to-from, "line") + " left out]\n")
	}
}

package web

import (
	"cmp"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/quotes"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
)

// How much of a document a page shows at first, and how much each press of a button adds.
const (
	around      = 6    // lines before and after a quoted one
	firstLines  = 40   // of a document without quotes
	mostLines   = 400  // of all windows of a document
	moreLines   = 200  // that a button adds
	few         = 8    // lines that are shown rather than a button for them
	mostColumns = 1000 // bytes of a line
)

// documentView is a document in windows around the lines that the trial quotes.
type documentView struct {
	Index       int
	Name        string
	Lines, Size int
	Quoted      int
	Diff        bool
	// Open is the first document, and each with quotes.
	Open  bool
	Parts []documentPart
}

// documentPart is a window, or the lines between two windows.
type documentPart struct {
	Entry store.TrialID
	Index int
	Lines []documentLine
	// From and To are the lines that are not shown, from 1; 0 for a window.
	From, To int
}

// Hidden is how many lines are not shown.
func (p documentPart) Hidden() int { return p.To - p.From + 1 }

// Next is the last line that the button shows.
func (p documentPart) Next() int { return min(p.To, p.From+moreLines-1) }

// documentLine is one line. Its text is sanitized.
type documentLine struct {
	Document, Number int
	Text             string
	// Class colours what a line of a diff does, and Mark a quoted line by the label that it speaks for.
	Class string
	Mark  *mark
}

// mark says what quotes a line.
type mark struct {
	Class string
	By    string
	// Weight is the most of those that quote it, First says that it is the most of all lines.
	Weight float64
	First  bool
}

// library finds the places of quotes in the documents of a case.
type library struct {
	documents []abi.Document
	quotes    *quotes.Documents
	marks     []map[int]*mark
}

func newLibrary(documents []abi.Document) *library {
	return &library{documents, quotes.Of(documents), make([]map[int]*mark, len(documents))}
}

// place finds the document and the first line, from 1, of what an item names and quotes; a line of 0 is nowhere.
func (l *library) place(source, quote string) (document, line int) {
	name, number := source, 0
	if i := strings.LastIndex(source, ":L"); i >= 0 {
		if n, err := strconv.Atoi(source[i+2:]); err == nil {
			name, number = source[:i], n
		}
	}
	document = slices.IndexFunc(l.documents, func(d abi.Document) bool { return d.Name == name })
	if document < 0 {
		return 0, 0
	}
	if found := l.quotes.Line(name, quote); found > 0 && (number == 0 || !l.stands(document, number, quote)) {
		return document, found
	}
	if number > lineCount(l.documents[document].Text) {
		return 0, 0
	}
	return document, number
}

// stands says whether a line has the first words of a quote: equal lines may stand before it.
func (l *library) stands(document, number int, quote string) bool {
	text := ""
	for line := range window(l.documents[document].Text, number, number) {
		text = line
	}
	first, _, _ := strings.Cut(strings.TrimSpace(quote), "\n")
	return first != "" && strings.Contains(strings.Join(strings.Fields(text), " "), strings.Join(strings.Fields(first), " "))
}

// quote marks the lines of an item. Of several items, a line shows the one with the most weight.
func (l *library) quote(source, quote, class, by string, weight float64) {
	document, line := l.place(source, quote)
	if line == 0 {
		return
	}
	if l.marks[document] == nil {
		l.marks[document] = map[int]*mark{}
	}
	count := strings.Count(strings.TrimRight(quote, "\r\n"), "\n") + 1
	for n := line; n < line+min(count, around); n++ {
		if m := l.marks[document][n]; m == nil || m.Weight < weight {
			l.marks[document][n] = &mark{Class: class, By: by, Weight: weight}
		}
	}
}

func lineID(document, line int) string {
	return "d" + strconv.Itoa(document) + "-L" + strconv.Itoa(line)
}

// markTrial marks what the trial, or without one the case, quotes.
func (l *library) markTrial(c *caseView) {
	labels := c.Labels
	class := func(label string) string { return labelOf(labels, label).Class }
	defer l.markFirst()
	for i := range c.Case.Evidence {
		e := &c.Case.Evidence[i]
		l.quote(e.SourceRef, e.Content, class(e.Supports), "evidence of the case", little*e.RelevanceConfidence)
	}
	if c.Trial == nil {
		return
	}
	for i := range c.Trial.Light {
		for _, e := range c.Trial.Light[i].Gathered {
			l.quote(e.SourceRef, e.Content, class(e.Supports), "evidence of the Light path", little*e.RelevanceConfidence)
		}
	}
	for i := range c.Trial.Passes {
		l.markPass(&c.Trial.Passes[i], class)
	}
}

// little is what evidence weighs that is not an item of the charge.
const little = 0.01

// markFirst finds the line with the most weight, which the page shows first.
func (l *library) markFirst() {
	var first *mark
	for _, marks := range l.marks {
		for _, n := range slices.Sorted(maps.Keys(marks)) {
			if first == nil || marks[n].Weight > first.Weight {
				first = marks[n]
			}
		}
	}
	if first != nil {
		first.First = true
	}
}

func (l *library) markPass(p *trial.Pass, class func(string) string) {
	for _, item := range p.Items() {
		l.quote(item.SourceRef, item.Content, class(item.Supports), "item "+strconv.Itoa(item.Index)+" of the charge, weight "+trial.Weight(item.Weight), item.Weight)
	}
	if p.Discovery == nil {
		return
	}
	for i := range p.Discovery.Findings {
		f := &p.Discovery.Findings[i]
		l.quote(f.Document, f.Quote, class(f.Supports), "a finding of the discovery", little*f.Strength)
	}
}

// views are the documents as the page shows them: those with quotes first.
func (l *library) views(entry store.TrialID) []documentView {
	list := make([]documentView, len(l.documents))
	for i := range l.documents {
		list[i] = l.view(entry, i)
	}
	slices.SortStableFunc(list, func(a, b documentView) int { return cmp.Compare(min(b.Quoted, 1), min(a.Quoted, 1)) })
	for i := range list {
		list[i].Open = i == 0 || list[i].Quoted > 0
	}
	return list
}

func (l *library) view(entry store.TrialID, index int) documentView {
	d := &l.documents[index]
	v := documentView{Index: index, Name: sanitize.Line(d.Name), Lines: lineCount(d.Text), Size: len(d.Text), Quoted: len(l.marks[index]), Diff: isDiff(d)}
	next, budget := 1, mostLines
	for _, w := range l.windows(index, v.Lines, v.Diff) {
		from, to := w[0], min(w[1], w[0]+budget-1)
		if to < from {
			break
		}
		if from > next {
			v.Parts = append(v.Parts, documentPart{Entry: entry, Index: index, From: next, To: from - 1})
		}
		v.Parts = append(v.Parts, documentPart{Index: index, Lines: l.lines(index, from, to)})
		next, budget = to+1, budget-(to-from+1)
	}
	if next <= v.Lines {
		v.Parts = append(v.Parts, documentPart{Entry: entry, Index: index, From: next, To: v.Lines})
	}
	return v
}

// windows are the ranges of lines to show, in order and apart from each other.
func (l *library) windows(index, lines int, diff bool) [][2]int {
	if len(l.marks[index]) == 0 {
		n := firstLines
		if diff {
			n = mostLines
		}
		return [][2]int{{1, min(n, lines)}}
	}
	var list [][2]int
	for _, n := range slices.Sorted(maps.Keys(l.marks[index])) {
		from, to := max(n-around, 1), min(n+around, lines)
		// A gap of a few lines takes more room than the lines themselves.
		if last := len(list) - 1; last >= 0 && from <= list[last][1]+few {
			list[last][1] = max(list[last][1], to)
			continue
		}
		if from <= few {
			from = 1
		}
		list = append(list, [2]int{from, to})
	}
	return list
}

// lines are those of a range, from 1.
func (l *library) lines(index, from, to int) []documentLine {
	diff := isDiff(&l.documents[index])
	var list []documentLine
	number := from
	for text := range window(l.documents[index].Text, from, to) {
		line := documentLine{Document: index, Number: number, Text: sanitize.Line(strings.ReplaceAll(clipLine(text), "\t", "    ")), Mark: l.marks[index][number]}
		if diff {
			line.Class = diffClass(text)
		}
		list = append(list, line)
		number++
	}
	return list
}

func clipLine(text string) string {
	if len(text) <= mostColumns {
		return text
	}
	return sanitize.Cut(text, mostColumns) + " (" + byteSize(len(text)-mostColumns) + " more)"
}

// window gives the lines from one to another, without their breaks.
func window(text string, from, to int) func(func(string) bool) {
	return func(yield func(string) bool) {
		number := 0
		for line := range strings.Lines(text) {
			if number++; number > to {
				return
			}
			if number >= from && !yield(strings.TrimRight(line, "\r\n")) {
				return
			}
		}
	}
}

func lineCount(text string) int {
	n := strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		n++
	}
	return n
}

// isDiff says whether a document is a patch in the unified format.
func isDiff(d *abi.Document) bool {
	for _, start := range []string{"diff --git ", "--- a/", "Index: "} {
		if strings.HasPrefix(d.Text, start) || strings.Contains(d.Text[:min(len(d.Text), 4<<10)], "\n"+start) {
			return true
		}
	}
	return false
}

func diffClass(line string) string {
	switch {
	case strings.HasPrefix(line, "+++"), strings.HasPrefix(line, "---"), strings.HasPrefix(line, "diff "), strings.HasPrefix(line, "index "):
		return "head"
	case strings.HasPrefix(line, "@@"):
		return "hunk"
	case strings.HasPrefix(line, "+"):
		return "added"
	case strings.HasPrefix(line, "-"):
		return "removed"
	}
	return ""
}

// document shows more lines of a document: to the script the lines alone, to everybody else a page of them.
func (s *site) document(w http.ResponseWriter, r *http.Request) error {
	c, err := s.caseOf(r)
	if err != nil {
		return err
	}
	index, err := strconv.Atoi(r.PathValue("n"))
	if err != nil || index < 0 || index >= len(c.Case.Documents) {
		return store.ErrNotFound
	}
	l := newLibrary(c.Case.Documents)
	l.markTrial(c)
	total := lineCount(c.Case.Documents[index].Text)
	from := max(atoi(r.URL.Query().Get("from")), 1)
	to := min(max(atoi(r.URL.Query().Get("to")), from), total)
	last := min(to, from+moreLines-1)
	v := documentView{Index: index, Name: sanitize.Line(c.Case.Documents[index].Name), Lines: total, Size: len(c.Case.Documents[index].Text), Diff: isDiff(&c.Case.Documents[index])}
	if r.Header.Get("X-Fragment") == "" && from > 1 {
		v.Parts = append(v.Parts, documentPart{Entry: c.ID, Index: index, From: max(from-moreLines, 1), To: from - 1})
	}
	v.Parts = append(v.Parts, documentPart{Index: index, Lines: l.lines(index, from, last)})
	if last < to {
		v.Parts = append(v.Parts, documentPart{Entry: c.ID, Index: index, From: last + 1, To: to})
	}
	return s.show(w, r, http.StatusOK, &view{Page: "document", Section: "inbox", Title: v.Name, Data: struct {
		Case     *caseView
		Document documentView
	}{c, v}})
}

// atoi reads a number of an address; anything else is 0.
func atoi(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0
	}
	return n
}

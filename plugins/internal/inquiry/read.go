// Package inquiry is what the personas of the Light path share: it reads the documents of a case into clues, quoted word for word, and
// estimates the labels from them.
//
// A clue is a block of lines that names a place in a source file in the form in which compilers, runtimes and test frameworks print one, or
// a line in which a signal of the profile stands. What a place tells is whether the test or the product broke; which labels of the case
// these are is a parameter of the pipeline (see [Roles]). Everything else that is known of a domain comes from the profile.
//
// Everything is a function of the request: two personas that read the same case see the same clues. What a document says about itself, or
// to its reader, is never followed; it is only matched.
package inquiry

import (
	"cmp"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/odds"
	"github.com/shadowcourt/shadowcourt/abi/sourcefile"
	"github.com/shadowcourt/shadowcourt/plugins/internal/text"
)

// document is a document in lines.
type document struct {
	name  string
	text  string
	start []int // of each line, and the end
	block []int // 1 + the clue that a line belongs to, 0 for none
}

func open(d *abi.Document) document {
	doc := document{name: d.Name, text: d.Text, start: []int{0}}
	for at := 0; ; {
		n := strings.IndexByte(d.Text[at:], '\n')
		if n < 0 {
			break
		}
		at += n + 1
		doc.start = append(doc.start, at)
	}
	if doc.start[len(doc.start)-1] < len(d.Text) {
		doc.start = append(doc.start, len(d.Text))
	}
	doc.block = make([]int, len(doc.start)-1)
	return doc
}

func (d *document) lines() int { return len(d.start) - 1 }

// line i from 0, without its break.
func (d *document) line(i int) string {
	first, end := d.start[i], d.start[i+1]
	for end > first && (d.text[end-1] == '\n' || d.text[end-1] == '\r') {
		end--
	}
	return d.text[first:end]
}

// at is the line in which an offset lies.
func (d *document) at(offset int) int {
	i, found := slices.BinarySearch(d.start, offset)
	if !found {
		i--
	}
	return min(i, d.lines()-1)
}

// The bounds of a quote.
const (
	maxQuoteBytes = 1000
	maxQuoteLines = 12
)

// quote gives the lines from first to before end word for word.
func (d *document) quote(first, end int) string {
	end = min(end, first+maxQuoteLines)
	for end > first+1 && d.start[end]-d.start[first] > maxQuoteBytes {
		end--
	}
	if end == first+1 && len(d.line(first)) > maxQuoteBytes {
		return text.QuoteAround(d.text, d.start[first], d.start[first])
	}
	return strings.TrimRight(d.text[d.start[first]:d.start[end]], " \t\r\n")
}

// Read reads the documents of a case. source may be empty.
func Read(r *abi.NodeRequest, source *abi.SourceAnswer) *Clues {
	c := &Clues{labels: r.Case.Labels, profile: r.Profile, steer: steerOf(r), remanded: r.File != nil && r.File.Feedback != nil}
	t := newTeller(r, source)
	finder := odds.NewSignals(r.Profile)
	for i := range r.Case.Documents {
		d := open(&r.Case.Documents[i])
		if d.lines() > 0 {
			first := len(c.List)
			c.blocks(&d, t)
			c.signals(&d, finder)
			c.words(&d)
			part := c.List[first:]
			slices.SortStableFunc(part, func(a, b Clue) int { return cmp.Compare(a.Line, b.Line) })
			c.documents = append(c.documents, d)
		}
	}
	c.distinct()
	return c
}

// add notes a clue of the lines from first to before end.
func (c *Clues) add(d *document, first, end int, clue Clue) {
	clue.Document, clue.Line, clue.Quote = d.name, first+1, d.quote(first, end)
	clue.end = first + 1 + strings.Count(clue.Quote, "\n")
	if text.Blank(clue.Quote) {
		return
	}
	c.List = append(c.List, clue)
	for i := first; i < min(end, first+maxQuoteLines); i++ {
		d.block[i] = len(c.List)
	}
}

// maxPlaces of one signal.
const maxPlaces = 3

// signals finds the lines in which signals stand: the first place of each at
// once, others at greater depth. A signal in a block is the block's.
func (c *Clues) signals(d *document, finder odds.Signals) {
	times := make(map[int]int)
	finder.Scan(d.text, func(signal, start, end int) {
		i := d.at(start)
		if at := d.block[i]; at > 0 {
			clue := &c.List[at-1]
			if !slices.Contains(clue.signals, signal) && strings.Contains(clue.Quote, d.text[start:end]) {
				clue.signals = append(clue.signals, signal)
				times[signal]++
				clue.Depth = min(clue.Depth, depthOf(times[signal], maxPlaces, 1))
			}
			return
		}
		if times[signal] >= c.most(maxPlaces) {
			return
		}
		times[signal]++
		clue := Clue{Kind: Signal, Depth: depthOf(times[signal], maxPlaces, 1), signals: []int{signal}}
		clue.Place, _ = sourcefile.Find(d.line(i))
		c.add(d, i, i+1, clue)
		if d.block[i] > 0 && len(d.line(i)) > maxQuoteBytes {
			c.List[d.block[i]-1].Quote = text.QuoteAround(d.text, start, end)
		}
	})
}

// errorWords are what a line says that speaks of an error, in any language's words for it.
func errorWords() []string {
	return []string{"error", "failed", "failure", "fatal", "exception", "cannot", "could not", "unable to", "invalid", "refused", "denied", "expected", "unexpected", "want"}
}

// maxWords bounds the lines that are taken for a word alone.
const maxWords = 6

func (c *Clues) words(d *document) {
	found := 0
	odds.FindPhrases(errorWords()).Scan(d.text, func(_, start, _ int) {
		i := d.at(start)
		if found < c.most(maxWords) && d.block[i] == 0 && !heading(d.line(i)) {
			found++
			c.add(d, i, i+1, Clue{Kind: Word, Depth: depthOf(found+maxWords/2, maxWords*3/2, maxWords/2)})
		}
	})
}

// heading says whether a line only names a test that failed.
func heading(line string) bool {
	line = strings.TrimLeft(line, " \t")
	for _, prefix := range []string{"--- FAIL", "FAIL", "not ok ", "✗ ", "✕ ", "× "} {
		if strings.HasPrefix(line, prefix) {
			return true
		}
	}
	return false
}

// distinct drops clues whose substance stands in an earlier one, and bounds their number. What is asked for and what is in focus comes
// first, and beyond the bound what is found at the least depth stays.
func (c *Clues) distinct() {
	seen := make(map[string]bool)
	out := c.List[:0]
	for i := range c.List {
		key := strings.Join(text.Substance(c.List[i].Quote), "\n")
		if key != "" && seen[key] {
			continue
		}
		seen[key] = true
		out = append(out, c.List[i])
	}
	for i := range out {
		out[i].rank = c.rankOf(&out[i])
	}
	if len(out) > maxClues {
		slices.SortStableFunc(out, func(a, b Clue) int {
			return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.Depth, b.Depth), cmp.Compare(a.Kind, b.Kind))
		})
		out = out[:maxClues]
	}
	slices.SortStableFunc(out, func(a, b Clue) int { return cmp.Compare(a.rank, b.rank) })
	c.List = out
}

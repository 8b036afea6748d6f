// Command tracer is a collector of an audit: it looks for what the documents say of the opinion's claims.
package main

import (
	"cmp"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/guest/node"
	"github.com/shadowcourt/shadowcourt/plugins/internal/reading"
	"github.com/shadowcourt/shadowcourt/plugins/internal/text"
)

func init() { node.Handle(collect) }

func main() {}

func collect(r *abi.NodeRequest) (*abi.Artifact, *abi.Failure) {
	return reading.Collect("the tracer", r, trace)
}

const (
	// maxFindings and maxMissing bound a discovery; the strongest stay. There is room for all quotations that are looked up and all lines
	// that are named.
	maxFindings = 160
	maxMissing  = 64
	// maxPlaces of a quotation are told, one for each document.
	maxPlaces = 3
	// maxQuoteBytes of a finding, where the quotation itself is no longer.
	maxQuoteBytes = 300
	// leastShare of a claim's words must stand in a line that bears on it, and leastWords of them.
	leastShare, leastWords = 0.4, 2
)

// trace finds what the documents say of the opinion: where each of its quotations stands, each line that it names, and for each claim the
// line that has most of its words.
func trace(statements []reading.Statement, documents []abi.Document, _ []string, out *abi.Discovery) {
	if len(documents) == 0 {
		return
	}
	t := tracing{statements: statements, claims: reading.Claims(statements), documents: documents, out: out}
	t.supported = make([]bool, len(t.claims))
	t.quotations()
	t.lines()
	t.words()
	out.Findings = strongest(out.Findings)
}

// tracing is the work of trace.
type tracing struct {
	statements, claims []reading.Statement
	supported          []bool // claims for which a line was found
	documents          []abi.Document
	out                *abi.Discovery
}

func (t *tracing) find(document, quote, observation string, strength float64) bool {
	if quote == "" {
		return false
	}
	t.out.Findings = append(t.out.Findings, abi.Finding{Document: document, Observation: observation, Quote: quote, Strength: strength})
	return true
}

func (t *tracing) miss(what string) {
	if len(t.out.Missing) < maxMissing {
		t.out.Missing = append(t.out.Missing, what)
	}
}

// quotations looks each quotation of the opinion up by itself.
func (t *tracing) quotations() {
	looked := reading.LookedUp(t.statements)
	if len(looked) == 0 {
		return
	}
	folded := make([]*reading.Document, len(t.documents))
	for i := range t.documents {
		folded[i] = reading.FoldDocument(t.documents[i].Text)
	}
	found := make(map[string]bool)
	for c := range t.claims {
		for k := range t.claims[c].Quotations {
			q := &t.claims[c].Quotations[k]
			if !looked[q.Key] {
				continue
			}
			stands, before := found[q.Key]
			if !before {
				stands = t.locate(q, folded)
				found[q.Key] = stands
			}
			if stands {
				t.supported[c] = true
			} else if !q.Name && !before {
				t.miss("stands nowhere: \"" + reading.Snippet(q.Text) + "\"")
			}
		}
	}
}

// locate finds where a quotation stands, in each document once.
func (t *tracing) locate(q *reading.Quotation, folded []*reading.Document) bool {
	places := 0
	for i := range t.documents {
		from, to, ok := q.StandsIn(folded[i].Folded)
		if !ok || places == maxPlaces {
			continue
		}
		start, end := folded[i].Span(from, to)
		if t.find(t.documents[i].Name, around(t.documents[i].Text, start, end), "has the quotation: "+reading.Snippet(q.Text), 1) {
			places++
		}
	}
	return places > 0
}

// around gives the lines of a document in which [start, end) stands, or what fits of them, and all of a part that is longer.
func around(document string, start, end int) string {
	first := strings.LastIndexByte(document[:start], '\n') + 1
	last := len(document)
	if i := strings.IndexByte(document[end:], '\n'); i >= 0 {
		last = end + i
	}
	if last-first <= maxQuoteBytes {
		return strings.TrimSpace(document[first:last])
	}
	if !strings.Contains(document[start:end], "\n") && end-start < maxQuoteBytes {
		return text.QuoteAround(document, start, end)
	}
	return strings.TrimSpace(document[start:end])
}

// lines finds the lines that the opinion names.
func (t *tracing) lines() {
	names := make([]string, len(t.documents))
	for i := range names {
		names[i] = t.documents[i].Name
	}
	followed := make(map[reading.Reference]bool)
	for c := range t.claims {
		for _, line := range t.claims[c].References(names) {
			there, before := followed[line]
			if !before {
				if len(followed) == reading.MaxLines {
					continue
				}
				there = t.line(&t.documents[slices.Index(names, line.Document)], line.Line)
				followed[line] = there
			}
			if there {
				t.supported[c] = true
			} else if !before {
				t.miss(line.Document + " has no line " + text.Int(line.Line))
			}
		}
	}
}

func (t *tracing) line(d *abi.Document, number int) bool {
	n, start := 0, 0
	for line := range strings.Lines(d.Text) {
		if n++; n == number {
			return t.find(d.Name, text.QuoteAround(d.Text, start, start+1), "is named as line "+text.Int(number), 0.95)
		}
		start += len(line)
	}
	return false
}

// hit is the best line for a claim.
type hit struct {
	document, quote string
	share           float64
}

// words finds for each claim the line that has most of its words.
func (t *tracing) words() {
	best := make([]hit, len(t.claims))
	about := make(map[string][]int) // which claims have a word
	for c := range t.claims {
		for _, word := range t.claims[c].Words {
			about[word] = append(about[word], c)
		}
	}
	for i := range t.documents {
		t.scan(&t.documents[i], about, best)
	}
	for c := range t.claims {
		if b := &best[c]; b.document != "" {
			t.find(b.document, b.quote, "bears on: "+reading.Snippet(t.claims[c].Text), min(b.share, 0.9))
		} else if !t.supported[c] {
			t.miss("no line bears on: " + reading.Snippet(t.claims[c].Text))
		}
	}
}

// scan goes through the lines of a document once.
func (t *tracing) scan(d *abi.Document, about map[string][]int, best []hit) {
	shared, seen := make(map[int]int), make(map[string]bool) // of a line
	start := 0
	for line := range strings.Lines(d.Text) {
		clear(shared)
		clear(seen)
		reading.EachWord(line, func(word string) {
			if list := about[word]; len(list) > 0 && !seen[word] {
				seen[word] = true
				for _, c := range list {
					shared[c]++
				}
			}
		})
		for c, n := range shared {
			share := float64(n) / float64(len(t.claims[c].Words))
			if n < leastWords || share < leastShare || share <= best[c].share {
				continue
			}
			if quote := text.QuoteAround(d.Text, start, start+1); quote != "" {
				best[c] = hit{d.Name, quote, share}
			}
		}
		start += len(line)
	}
}

// strongest keeps each quote once, and as many as may be.
func strongest(list []abi.Finding) []abi.Finding {
	slices.SortStableFunc(list, func(a, b abi.Finding) int { return cmp.Compare(b.Strength, a.Strength) })
	kept, seen := list[:0], make(map[[2]string]bool)
	for _, f := range list {
		if key := [2]string{f.Document, f.Quote}; !seen[key] {
			seen[key] = true
			kept = append(kept, f)
		}
	}
	return kept[:min(len(kept), maxFindings)]
}

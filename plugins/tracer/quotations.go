package main

import (
	"strings"

	"github.com/shadowcourt/shadowcourt/plugins/internal/reading"
	"github.com/shadowcourt/shadowcourt/plugins/internal/text"
)

// maxQuoteBytes of a finding, where the quotation itself is no longer.
const maxQuoteBytes = 300

// quotations looks each quotation of the opinion up by itself.
func (t *tracing) quotations() {
	looked := reading.LookedUp(t.statements)
	if len(looked) == 0 {
		return
	}
	folded := make([]*reading.Document, len(t.sources))
	for i := range t.sources {
		folded[i] = reading.FoldDocument(t.sources[i].Text)
	}
	found := make(map[string]bool)
	for c := range t.claims {
		for k := range t.claims[c].Quotations {
			q := &t.claims[c].Quotations[k]
			key := q.Key()
			if !looked[key] {
				continue
			}
			stands, before := found[key]
			if !before {
				stands = t.locate(q, folded)
				found[key] = stands
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
	for i := range t.sources {
		from, to, ok := q.StandsIn(folded[i].Folded)
		if !ok || places == maxPlaces {
			continue
		}
		if t.find(t.sources[i].Name, around(t.sources[i].Text, folded[i], from, to), "has the quotation: "+reading.Snippet(q.Text), 1) {
			places++
		}
	}
	return places > 0
}

// around gives the lines of a document in which [from, to) of its folded text
// stands, or what fits of them, and all of a part that is longer.
func around(document string, folded *reading.Document, from, to int) string {
	start, end := folded.Span(from, to)
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
	names := make([]string, len(t.sources))
	for i := range names {
		names[i] = t.sources[i].Name
	}
	followed := make(map[reading.Reference]bool)
	for c := range t.claims {
		for _, line := range t.claims[c].References(names) {
			there, before := followed[line]
			if !before {
				if len(followed) == reading.MaxLines {
					continue
				}
				there = t.line(line)
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

func (t *tracing) line(r reading.Reference) bool {
	for i := range t.sources {
		d := &t.sources[i]
		if d.Name != r.Document {
			continue
		}
		number, start := 0, 0
		for line := range strings.Lines(d.Text) {
			if number++; number == r.Line {
				return t.find(d.Name, text.QuoteAround(d.Text, start, start+1), "is named as line "+text.Int(number), 0.95)
			}
			start += len(line)
		}
	}
	return false
}

package main

import (
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/plugins/internal/reading"
	"github.com/shadowcourt/shadowcourt/plugins/internal/text"
)

const (
	// leastShare of a claim's words must stand in a line that bears on it, and
	// leastWords of them; where the claim names the document fewer.
	leastShare, leastWords           = 0.4, 3
	leastNamedShare, leastNamedWords = 0.25, 2
	// measured is what a line counts that has a figure of what the claim has one of.
	measured = 0.4
	// sameFigures is what a line counts more that has all figures of the claim:
	// of lines that are alike the one with the right figures is meant.
	sameFigures = 0.2
	// partShare of the words of a clause must stand in a line that bears on it.
	partShare = 0.5
	// fewClaims, with their clauses, are traced by their figures alone, too, and by their
	// clauses; for more there is no fuel. maxParts of a claim are traced.
	fewClaims, maxParts = 128, 6
	// maxCompared times a claim's figures are checked against a line's: half of the fuel.
	// Behind that the words alone tell.
	maxCompared = 250_000
)

// words finds for each claim the line that has most of its words, and for a claim of
// several clauses the line of each.
func (t *tracing) words() {
	traced := t.parted()
	best := make([]hit, len(traced))
	about := aboutWords(traced)
	for i := range t.sources {
		t.scan(traced, &t.sources[i], about, best)
	}
	for c := range traced {
		switch part := c >= len(t.claims); {
		case best[c].document != "":
			t.find(best[c].document, best[c].quote, "bears on: "+reading.Snippet(traced[c].Text), min(best[c].share, 0.9))
		case !part && !t.supported[c]:
			t.miss("no line bears on: " + reading.Snippet(traced[c].Text))
		}
	}
}

// parted are the claims, and behind them the clauses of those that have several or
// a quotation, as far as there is fuel.
func (t *tracing) parted() []reading.Statement {
	traced := slices.Clone(t.claims)
	for c := range t.claims {
		claim := &t.claims[c]
		parts := claim.Clauses()
		if len(parts) < 2 && len(claim.Quotations) == 0 {
			continue
		}
		parts = parts[:min(len(parts), maxParts)]
		if len(traced)+len(parts) > fewClaims {
			break
		}
		traced = append(traced, parts...)
	}
	return traced
}

// hit is the best line for a claim.
type hit struct {
	document, quote string
	share           float64
}

// aboutWords says which claims have a word.
func aboutWords(claims []reading.Statement) map[string][]int {
	about := make(map[string][]int)
	for c := range claims {
		for _, word := range claims[c].Words {
			about[word] = append(about[word], c)
		}
	}
	return about
}

// scan goes through the lines of a document once.
func (t *tracing) scan(traced []reading.Statement, d *abi.Document, about map[string][]int, best []hit) {
	shared := make([]int, len(traced))
	kinds := make([]kind, len(traced))
	for c := range traced {
		kinds[c] = kind{named: traced[c].NamesDocument(d.Name), few: len(t.claims) <= fewClaims, part: c >= len(t.claims)}
	}
	start := 0
	for line := range strings.Lines(d.Text) {
		var touched []int
		seen := make(map[string]bool)
		reading.EachWord(line, func(word string) {
			if list := about[word]; len(list) > 0 && !seen[word] {
				seen[word] = true
				for _, c := range list {
					if shared[c] == 0 {
						touched = append(touched, c)
					}
					shared[c]++
				}
			}
		})
		read := reading.Line{Text: line}
		for _, c := range touched {
			if share := t.worth(&traced[c], &read, shared[c], kinds[c], best[c].share); share > best[c].share {
				if quote := text.QuoteAround(d.Text, start, start+1); quote != "" {
					best[c] = hit{d.Name, quote, share}
				}
			}
			shared[c] = 0
		}
		start += len(line)
	}
}

// kind is what is known of a claim before its words: that it names the document, that there
// is fuel for its figures, that it is a clause of another.
type kind struct{ named, few, part bool }

// bears says whether a line that shares some words of a claim bears on it by them.
func (k kind) bears(shared int, share float64) bool {
	return shared >= leastWords && share >= leastShare || k.named && shared >= leastNamedWords && share >= leastNamedShare || k.part && share >= partShare
}

// worth is what a line counts for a claim with which it shares some words; 0 if
// it doesn't bear on it, or can't count more than best.
func (t *tracing) worth(claim *reading.Statement, line *reading.Line, shared int, k kind, best float64) float64 {
	share := float64(shared) / float64(len(claim.Words))
	if max(share, measured)+sameFigures <= best {
		return 0
	}
	bears := k.bears(shared, share)
	if t.compared == maxCompared {
		k.few = false
	}
	switch {
	case !bears && !k.few:
		return 0
	case t.compared == maxCompared:
		return share
	}
	t.compared++
	same := claim.Figures(line)
	switch {
	case !bears && (same && k.part || claim.Measures(line)):
		share = max(share, measured)
	case !bears:
		return 0
	}
	if same {
		share += sameFigures
	}
	return share
}

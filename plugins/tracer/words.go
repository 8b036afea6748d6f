package main

import (
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
	// fewClaims are traced by their figures alone, too; for more there is no fuel.
	fewClaims = 128
)

// words finds for each claim the line that has most of its words.
func (t *tracing) words() {
	best := make([]hit, len(t.claims))
	about := aboutWords(t.claims)
	for i := range t.sources {
		t.scan(&t.sources[i], about, best)
	}
	for c := range t.claims {
		if best[c].document != "" {
			t.find(best[c].document, best[c].quote, "bears on: "+reading.Snippet(t.claims[c].Text), min(best[c].share, 0.9))
		} else if !t.supported[c] {
			t.miss("no line bears on: " + reading.Snippet(t.claims[c].Text))
		}
	}
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
func (t *tracing) scan(d *abi.Document, about map[string][]int, best []hit) {
	shared := make([]int, len(t.claims))
	named := make([]bool, len(t.claims))
	for c := range t.claims {
		named[c] = t.claims[c].NamesDocument(d.Name)
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
			if share := worth(&t.claims[c], &read, shared[c], named[c], len(t.claims) <= fewClaims, best[c].share); share > best[c].share {
				if quote := text.QuoteAround(d.Text, start, start+1); quote != "" {
					best[c] = hit{d.Name, quote, share}
				}
			}
			shared[c] = 0
		}
		start += len(line)
	}
}

// worth is what a line counts for a claim with which it shares some words; 0 if
// it doesn't bear on it, or can't count more than best.
func worth(claim *reading.Statement, line *reading.Line, shared int, named, few bool, best float64) float64 {
	share := float64(shared) / float64(len(claim.Words))
	if max(share, measured)+sameFigures <= best {
		return 0
	}
	bears := shared >= leastWords && share >= leastShare || named && shared >= leastNamedWords && share >= leastNamedShare
	if !bears && !few {
		return 0
	}
	same, like := claim.Figures(line)
	switch {
	case !bears && like:
		share = max(share, measured)
	case !bears:
		return 0
	}
	if same {
		share += sameFigures
	}
	return share
}

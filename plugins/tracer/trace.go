package main

import (
	"cmp"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/plugins/internal/reading"
	"github.com/shadowcourt/shadowcourt/plugins/internal/text"
)

const (
	// maxFindings and maxMissing bound a discovery; the strongest stay.
	maxFindings = 64
	maxMissing  = 16
	// leastShare of a claim's words must stand in a line that bears on it.
	leastShare = 0.4
	// leastWords that they must share.
	leastWords = 3
)

// trace finds for each claim of the opinion the line of the documents that it
// quotes, or else that has most of its words.
func trace(documents []abi.Document, _ []string) *abi.Discovery {
	out := &abi.Discovery{Findings: []abi.Finding{}, Missing: []string{}}
	i := slices.IndexFunc(documents, func(d abi.Document) bool { return d.Name == reading.OpinionName })
	if i < 0 {
		out.Missing = append(out.Missing, "there is no opinion to read")
		return out
	}
	claims := reading.Claims(reading.Statements(documents[i].Text))
	best := make([]hit, len(claims))
	about := aboutWords(claims)
	for j := range documents {
		if j != i {
			scan(&documents[j], claims, about, best)
		}
	}
	for c := range claims {
		if best[c].document == "" {
			if len(documents) > 1 && len(out.Missing) < maxMissing {
				out.Missing = append(out.Missing, "no line bears on: "+reading.Snippet(claims[c].Text))
			}
			continue
		}
		out.Findings = append(out.Findings, abi.Finding{
			Document: best[c].document, Observation: "bears on: " + reading.Snippet(claims[c].Text),
			Quote: best[c].quote, Strength: best[c].share,
		})
	}
	out.Findings = strongest(out.Findings)
	return out
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
func scan(d *abi.Document, claims []reading.Statement, about map[string][]int, best []hit) {
	shared := make([]int, len(claims))
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
		for _, c := range touched {
			share := float64(shared[c]) / float64(len(claims[c].Words))
			if claims[c].QuotedIn(line) {
				share = 1
			} else if shared[c] < leastWords || share < leastShare {
				share = 0
			}
			if share > best[c].share {
				quote := text.QuoteAround(d.Text, start, start+1)
				if quote != "" {
					best[c] = hit{d.Name, quote, share}
				}
			}
			shared[c] = 0
		}
		start += len(line)
	}
}

// strongest keeps each quote once, and as many as may be.
func strongest(list []abi.Finding) []abi.Finding {
	slices.SortStableFunc(list, func(a, b abi.Finding) int { return cmp.Compare(b.Strength, a.Strength) })
	kept := list[:0]
	for _, f := range list {
		if !slices.ContainsFunc(kept, func(k abi.Finding) bool { return k.Document == f.Document && k.Quote == f.Quote }) {
			kept = append(kept, f)
		}
	}
	return kept[:min(len(kept), maxFindings)]
}

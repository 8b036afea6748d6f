package main

import (
	"cmp"
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/plugins/internal/reading"
)

const (
	// maxFindings and maxMissing bound a discovery; the strongest stay. There is room for
	// all quotations that are looked up and all lines that are named.
	maxFindings = 160
	maxMissing  = 64
	// maxPlaces of a quotation are told, one for each document.
	maxPlaces = 3
)

// trace finds what the documents say of the opinion: where each of its
// quotations stands, each line that it names, and for each claim the line that has most
// of its words.
func trace(documents []abi.Document, _ []string) *abi.Discovery {
	out := &abi.Discovery{Findings: []abi.Finding{}, Missing: []string{}}
	i := slices.IndexFunc(documents, func(d abi.Document) bool { return d.Name == reading.OpinionName })
	if i < 0 {
		out.Missing = append(out.Missing, "there is no opinion to read")
		return out
	}
	statements := reading.Statements(documents[i].Text)
	sources := slices.Delete(slices.Clone(documents), i, i+1)
	if len(sources) == 0 {
		return out
	}
	t := tracing{statements: statements, claims: reading.Claims(statements), sources: sources, out: out}
	t.supported = make([]bool, len(t.claims))
	t.quotations()
	t.lines()
	t.words()
	out.Findings = strongest(out.Findings)
	return out
}

// tracing is the work of trace.
type tracing struct {
	statements, claims []reading.Statement
	supported          []bool // claims for which a line was found
	sources            []abi.Document
	out                *abi.Discovery
	compared           int // times that a claim's figures were checked against a line's
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

package docket

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// caseReader reads one line into an Entry.
type caseReader struct {
	scanner
	entry         Entry
	documentBytes int
	cuts          []trial.DocumentCut
}

// readCase gives the entry of a line, or all that is wrong with it.
func readCase(line []byte, documentBytes int) (Entry, *abi.ValidationError) {
	r := caseReader{scanner: newScanner(line), documentBytes: documentBytes}
	if !r.read() {
		r.c.Add(CodeNotJSON, r.notJSON()+hint(line))
	} else if column, more := r.more(); more {
		r.c.Add(abi.CodeTrailingBytes, "something follows the case at column "+column+": a docket has one case a line")
	}
	return r.entry, invalidOf(r.c)
}

// hint helps with the two files that are most often taken for a docket.
func hint(line []byte) string {
	switch trimmed := bytes.TrimSpace(line); {
	case bytes.Equal(trimmed, []byte("{")), bytes.Equal(trimmed, []byte("[")):
		return "; a docket has one whole case a line, so JSON that is laid out over lines must be joined first (jq -c)"
	}
	return ""
}

func (r *caseReader) read() bool {
	c := &r.entry.Case
	c.Labels, c.Evidence, c.Documents = []string{}, []abi.Evidence{}, []abi.Document{}
	ok := r.object("a case", []field{
		{"id", true, func() bool { return r.str(&c.ID, true) }},
		{"group", false, func() bool { return r.str(&c.Group, false) }},
		{"subject", true, func() bool { return r.str(&c.Subject, false) }},
		{"labels", true, r.labels},
		{"light", false, r.light},
		{"evidence", true, r.evidence},
		{"documents", true, r.documents},
		{"truth", false, r.truth},
	})
	if ok {
		r.rules()
	}
	return ok
}

func (r *caseReader) labels() bool {
	c := &r.entry.Case
	mark, n := r.c.Mark(), 0
	ok := r.list(func(i int) bool {
		var label string
		ok := r.str(&label, false) // the case's rules reject an empty one
		if n = i + 1; n <= MaxLabels {
			c.Labels = append(c.Labels, label)
		}
		return ok
	})
	switch {
	case !ok, n == 0 && r.c.Mark() > mark: // no list
	case n < 2: // what is no label may be the one that lacks
		r.c.Reject(abi.CodeBadCount, "has "+labelCount(n)+", at least 2 are needed")
	case n > MaxLabels:
		r.c.Reject(abi.CodeBadCount, "has "+strconv.Itoa(n)+" labels, at most "+strconv.Itoa(MaxLabels)+" are allowed")
	}
	return ok
}

func labelCount(n int) string {
	if n == 1 {
		return "1 label"
	}
	return strconv.Itoa(n) + " labels"
}

func (r *caseReader) light() bool {
	l := new(abi.LightAnswer)
	r.entry.Case.Light = l
	return r.object("light", []field{
		{"classification", true, func() bool { return r.str(&l.Classification, true) }},
		{"confidence", true, func() bool { return r.unit(&l.Confidence) }},
		{"reasoning", true, func() bool { return r.str(&l.Reasoning, false) }},
	})
}

func (r *caseReader) evidence() bool {
	c := &r.entry.Case
	var e abi.Evidence
	fields := []field{
		{"source_ref", true, func() bool { return r.str(&e.SourceRef, true) }},
		{"content", true, func() bool { return r.str(&e.Content, false) }},
		{"relevance_confidence", true, func() bool { return r.unit(&e.RelevanceConfidence) }},
		{"supports", false, func() bool { return r.str(&e.Supports, false) }},
		{"element", false, func() bool { return r.element(&e.Element) }},
	}
	return r.list(func(int) bool {
		e = abi.Evidence{}
		ok := r.object("evidence", fields)
		if r.c.Mark() < abi.MaxProblems {
			c.Evidence = append(c.Evidence, e)
		}
		return ok
	})
}

func (r *caseReader) element(into *abi.Element) bool {
	return oneOf(r, into, "element", "", abi.Fire, abi.Water, abi.Earth, abi.Air, abi.Diamond, abi.Lightning)
}

// oneOf reads a string that is one of a few; what names what they are.
func oneOf[T ~string](r *caseReader, into *T, what string, words ...T) bool {
	mark := r.c.Mark()
	var word string
	ok := r.str(&word, false)
	*into = T(word)
	if r.c.Mark() == mark && !slices.Contains(words, T(word)) {
		var known []string
		for _, w := range words {
			if w != "" {
				known = append(known, string(w))
			}
		}
		r.c.Reject(abi.CodeInvalidValue, strconv.Quote(shorten(word))+" is no "+what+" ("+strings.Join(known, ", ")+")")
	}
	return ok
}

func (r *caseReader) documents() bool {
	c := &r.entry.Case
	var d abi.Document
	fields := []field{
		{"name", true, func() bool { return r.str(&d.Name, true) }},
		{"text", true, func() bool { return r.str(&d.Text, false) }},
	}
	mark, n := r.c.Mark(), 0
	ok := r.list(func(i int) bool {
		d = abi.Document{}
		ok := r.object("a document", fields)
		if n = i + 1; n <= MaxDocuments {
			c.Documents = append(c.Documents, d)
		}
		return ok
	})
	if ok && n > MaxDocuments {
		r.c.Add(abi.CodeBadCount, "has "+strconv.Itoa(n)+" documents, at most "+strconv.Itoa(MaxDocuments)+" are allowed")
	}
	if ok && r.c.Mark() == mark {
		r.cuts = CutDocuments(c.Documents, r.documentBytes, abi.DefaultCaseDocumentBytes)
	}
	return ok
}

func (r *caseReader) truth() bool {
	var t trial.Truth
	mark := r.c.Mark()
	ok := r.object("truth", []field{
		{"classification", false, func() bool { return r.str(&t.Classification, false) }},
		{"expected_verdict", false, func() bool {
			return oneOf(r, &t.ExpectedVerdict, "verdict", "", abi.Affirm, abi.Amend, abi.Acquit, abi.Remand, abi.Mistrial)
		}},
	})
	if ok && t == (trial.Truth{}) && r.c.Mark() == mark {
		r.c.Add(abi.CodeEmpty, "states neither a classification nor an expected verdict")
		return true
	}
	r.entry.Truth = &t
	return ok
}

// rules checks the rules of a case, as far as what they compare was read.
func (r *caseReader) rules() {
	if !r.c.Since(0) {
		return
	}
	r.entry.Case.Rules(r.c)
	abi.CheckSubmitted(&r.entry.Case, r.c)
	t, labels := r.entry.Truth, r.entry.Case.Labels
	if t == nil || t.Classification == "" || abi.IsLabel(labels, t.Classification) {
		return
	}
	if r.c.Whole(abi.Field("labels")) && r.c.Sound(abi.Field("truth"), abi.Field("classification")) {
		r.c.Add(abi.CodeNotALabel, strconv.Quote(shorten(t.Classification))+" is no label of the case", abi.Field("truth"), abi.Field("classification"))
	}
}

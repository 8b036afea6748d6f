package docket

import (
	"iter"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// Entry is one case of a docket with the place it was read from.
type Entry struct {
	Case abi.Case
	// Members are cases that failed in the same way, for which the trial of Case stands.
	Members []abi.Case
	// Truth is what is known of the right answer; nil when nothing is. It never reaches a module.
	Truth *trial.Truth
	// LabelNames are what the docket calls labels of the case, by label; nil when it tells none.
	LabelNames map[string]string
	// Source is the file's name, Line the line in it, from 1; 0 where the format has no lines.
	Source string
	Line   int
}

// OpinionEntry is an opinion to audit, with the evidence and documents to check it against, and its place.
type OpinionEntry struct {
	Opinion   abi.JudicialOpinion
	Evidence  []abi.Evidence
	Documents []abi.Document
	// Source is the name of the file, Line its line from 1; 0 for a file that is one opinion.
	Source string
	Line   int
	// Item is its place in a JSON list, from 1; 0 where it is in none.
	Item int
	// Cut are the documents that were cut when they were read.
	Cut []trial.DocumentCut
}

// MaxLabels and MaxDocuments are the most that one case may have. Evidence is not limited.
const (
	MaxLabels    = 1000
	MaxDocuments = 10_000
)

// Each gives entries one by one, as a host takes them.
func Each(entries []Entry) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		for _, e := range entries {
			if !yield(e, nil) {
				return
			}
		}
	}
}

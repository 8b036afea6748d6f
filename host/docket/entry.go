package docket

import "github.com/shadowcourt/shadowcourt/abi"

// Entry is one case of a docket with the place it was read from.
type Entry struct {
	Case abi.Case
	// Truth is what is known of the right answer; nil when nothing is. It never reaches a module.
	Truth *Truth
	// LabelNames are what the docket calls labels of the case, by label; nil when it tells none.
	LabelNames map[string]string
	// Source is the file's name, Line the line in it, from 1; 0 where the format has no lines.
	Source string
	Line   int
}

// Truth is the right answer of a case. At least one of the two is there.
type Truth struct {
	// Classification is a label of the case, or empty when no label is right or known.
	Classification string
	// ExpectedVerdict is the decision that the court should reach, or empty.
	ExpectedVerdict abi.Decision
}

// MaxLabels and MaxDocuments are the most that one case may have. Evidence is not limited.
const (
	MaxLabels    = 1000
	MaxDocuments = 10_000
)

package docket

import (
	"strconv"

	"github.com/shadowcourt/shadowcourt/abi"
)

// LightLine is an answer for Light, as a program writes it on a line.
type LightLine struct {
	// ID of the case that is answered; empty where the line does not say.
	ID       string
	Answer   abi.LightAnswer
	Evidence []abi.Evidence
	Remand   *abi.RemandAnswer // nil where the line has none
}

// ParseLightLine reads a line as strictly as that of a docket. The error is an *abi.ValidationError with all problems.
// Labels, indexes and the ids of questions are not checked here: they are the court's to check.
func ParseLightLine(line []byte) (LightLine, error) {
	r := lightReader{caseReader: caseReader{scanner: newScanner(line)}}
	if !r.read() {
		r.c.Add(CodeNotJSON, r.notJSON())
	} else if column, more := r.more(); more {
		r.c.Add(abi.CodeTrailingBytes, "something follows the answer at column "+column+": an answer is one object")
	}
	return r.line, r.c.Err()
}

type lightReader struct {
	caseReader
	line LightLine
}

func (r *lightReader) read() bool {
	l := &r.line
	return r.object("an answer", []field{
		{"id", false, func() bool { return r.str(&l.ID, true) }},
		{"classification", true, func() bool { return r.str(&l.Answer.Classification, true) }},
		{"confidence", true, func() bool { return r.unit(&l.Answer.Confidence) }},
		{"reasoning", true, func() bool { return r.str(&l.Answer.Reasoning, false) }},
		{"evidence", false, func() bool { return r.items(&l.Evidence) }},
		{"remand", false, r.remand},
	})
}

// items reads evidence as that of a case.
func (r *lightReader) items(into *[]abi.Evidence) bool {
	r.entry.Case.Evidence = nil
	ok := r.evidence()
	*into = r.entry.Case.Evidence
	return ok
}

func (r *lightReader) remand() bool {
	var a abi.RemandAnswer
	var reply abi.RemandReply
	var challenged abi.ChallengedReply
	ok := r.object("remand", []field{
		{"answers", true, func() bool {
			return r.list(func(int) bool {
				reply = abi.RemandReply{}
				ok := r.reply(&reply)
				a.Answers = append(a.Answers, reply)
				return ok
			})
		}},
		{"challenged", true, func() bool {
			return r.list(func(int) bool {
				challenged = abi.ChallengedReply{}
				ok := r.challenged(&challenged)
				a.Challenged = append(a.Challenged, challenged)
				return ok
			})
		}},
	})
	r.line.Remand = &a
	return ok
}

func (r *lightReader) reply(into *abi.RemandReply) bool {
	return r.object("an answer to a question", []field{
		{"question_id", true, func() bool { return r.str(&into.QuestionID, true) }},
		{"status", true, func() bool {
			return oneOf(&r.caseReader, &into.Status, "status", abi.Found, abi.NotFound, abi.Withdrawn)
		}},
		{"evidence", true, func() bool { return r.items(&into.Evidence) }},
	})
}

func (r *lightReader) challenged(into *abi.ChallengedReply) bool {
	return r.object("a reply about an item", []field{
		{"evidence_index", true, func() bool { return r.index(&into.EvidenceIndex) }},
		{"status", true, func() bool { return oneOf(&r.caseReader, &into.Status, "status", abi.ItemStands, abi.ItemWithdrawn) }},
	})
}

// index reads a whole number that is not negative.
func (r *lightReader) index(into *int) bool {
	return r.number(func(literal string) {
		n, err := strconv.ParseUint(literal, 10, 31)
		if err != nil {
			r.c.Reject(abi.CodeOutOfRange, shorten(literal)+" is no index: a whole number from 0")
			return
		}
		*into = int(n)
	})
}

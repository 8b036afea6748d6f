package docket

import (
	"slices"
	"strconv"
	"strings"

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
	r := lightReader{caseReader: caseReader{scanner: scanner{data: line}}}
	if !r.read() {
		r.c.Add(CodeNotJSON, "is not valid JSON at column "+strconv.Itoa(r.pos+1)+": "+r.syntax)
	} else if r.peek(); r.pos < len(line) {
		r.c.Add(abi.CodeTrailingBytes, "something follows the answer at column "+strconv.Itoa(r.pos+1)+": an answer is one object")
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
			var status string
			ok := r.oneOf(&status, string(abi.Found), string(abi.NotFound), string(abi.Withdrawn))
			into.Status = abi.AnswerStatus(status)
			return ok
		}},
		{"evidence", true, func() bool { return r.items(&into.Evidence) }},
	})
}

func (r *lightReader) challenged(into *abi.ChallengedReply) bool {
	return r.object("a reply about an item", []field{
		{"evidence_index", true, func() bool { return r.index(&into.EvidenceIndex) }},
		{"status", true, func() bool {
			var status string
			ok := r.oneOf(&status, string(abi.ItemStands), string(abi.ItemWithdrawn))
			into.Status = abi.ChallengedStatus(status)
			return ok
		}},
	})
}

// oneOf reads a string that is one of a few.
func (r *lightReader) oneOf(into *string, words ...string) bool {
	mark := r.c.Mark()
	ok := r.str(into, false)
	if r.c.Mark() > mark {
		return ok
	}
	if !slices.Contains(words, *into) {
		r.c.Reject(abi.CodeInvalidValue, strconv.Quote(shorten(*into))+" is no status ("+strings.Join(words, ", ")+")")
	}
	return ok
}

// index reads a whole number that is not negative.
func (r *lightReader) index(into *int) bool {
	if b := r.peek(); b != '-' && (b < '0' || b > '9') {
		return r.wrongType("a number")
	}
	literal, ok := r.number()
	if !ok {
		return false
	}
	n, err := strconv.ParseUint(literal, 10, 31)
	if err != nil {
		r.c.Reject(abi.CodeOutOfRange, shorten(literal)+" is no index: a whole number from 0")
		return true
	}
	*into = int(n)
	return true
}

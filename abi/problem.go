package abi

import (
	"slices"
	"strconv"
)

// Code names a kind of problem. Codes are stable: programs may rely on them.
type Code string

// The codes of the encoding and of single fields.
const (
	CodeUnknownField  Code = "unknown_field"
	CodeMissingField  Code = "missing_field"
	CodeDuplicateKey  Code = "duplicate_key"
	CodeWrongType     Code = "wrong_type"
	CodeNil           Code = "nil_value"
	CodeBinary        Code = "bin_for_string"
	CodeExtension     Code = "extension_type"
	CodeNotFinite     Code = "not_finite"
	CodeOutOfRange    Code = "out_of_range"
	CodeInvalidValue  Code = "invalid_value"
	CodeInvalidUTF8   Code = "invalid_utf8"
	CodeEmpty         Code = "empty"
	CodeBadLength     Code = "bad_length"
	CodeBadCount      Code = "bad_count"
	CodeTruncated     Code = "truncated"
	CodeTrailingBytes Code = "trailing_bytes"
	CodeReservedByte  Code = "reserved_byte"
	CodeTooDeep       Code = "too_deep"
	CodeTooLarge      Code = "too_large"
)

// The codes of rules across fields (Rules methods) and across artifacts (Check functions).
const (
	CodeExactlyOne        Code = "exactly_one"
	CodeDuplicateLabel    Code = "duplicate_label"
	CodeDuplicateName     Code = "duplicate_name"
	CodeDuplicateID       Code = "duplicate_id"
	CodeDuplicateEntry    Code = "duplicate_entry"
	CodeNotALabel         Code = "not_a_label"
	CodeClassification    Code = "classification"
	CodeRemandFeedback    Code = "remand_feedback"
	CodeConcedesAndFights Code = "concedes_and_fights"
	CodeCharge            Code = "charge"
	CodeNotInCase         Code = "not_in_case"
	CodeNotOffered        Code = "not_offered"
	CodeNotInDocuments    Code = "not_in_documents"
	CodeEvidenceIndex     Code = "evidence_index"
	CodeIdentity          Code = "identity"
	CodeWrongArtifact     Code = "wrong_artifact"
	CodeWrongAnswers      Code = "wrong_answers"
	CodeUnanswered        Code = "unanswered"
	CodeThresholds        Code = "thresholds"
	CodeProbability       Code = "probability"
	CodeKeyMismatch       Code = "key_mismatch"
	CodeGlobalScore       Code = "global_score"
	CodeVersion           Code = "version"
)

// PathElement is one step into a message: a field, a key of a map or an index of a list.
type PathElement struct {
	kind  uint8
	name  string
	index int
}

const (
	kindField uint8 = iota
	kindKey
	kindIndex
)

// Field is the step to a field, by its wire name.
func Field(name string) PathElement { return PathElement{kind: kindField, name: name} }

// Key is the step to an entry of a map.
func Key(key string) PathElement { return PathElement{kind: kindKey, name: key} }

// Index is the step to an element of a list, from 0.
func Index(i int) PathElement { return PathElement{kind: kindIndex, index: i} }

// Name is the field's wire name or the map's key; empty for an index.
func (e PathElement) Name() string { return e.name }

// IsIndex gives the index of a list's element, and whether it is one.
func (e PathElement) IsIndex() (int, bool) { return e.index, e.kind == kindIndex }

// Path leads from the message to a value. The empty path is the message.
type Path []PathElement

// String renders the path as `evidences["repo"][3].relevance_confidence`.
func (p Path) String() string {
	var b []byte
	for _, e := range p {
		switch e.kind {
		case kindIndex:
			b = append(b, '[')
			b = strconv.AppendInt(b, int64(e.index), 10)
			b = append(b, ']')
		case kindKey:
			b = append(b, '[')
			b = strconv.AppendQuote(b, e.name)
			b = append(b, ']')
		default:
			if len(b) > 0 {
				b = append(b, '.')
			}
			b = append(b, e.name...)
		}
	}
	return string(b)
}

// Problem is one thing wrong with a message.
type Problem struct {
	Path   Path
	Code   Code
	Detail string

	rejected bool // the value at Path could not be read: see Collector.Reject
}

// String renders the problem as `path: detail`.
func (p Problem) String() string {
	if len(p.Path) == 0 {
		return p.Detail
	}
	return p.Path.String() + ": " + p.Detail
}

// ValidationError holds all problems of one message, in the order in which
// they stand in it; beyond MaxProblems they are only counted in Omitted.
type ValidationError struct {
	Problems []Problem
	Omitted  int
}

// Error renders the problems a line each.
func (e *ValidationError) Error() string {
	var b []byte
	for i, p := range e.Problems {
		if i > 0 {
			b = append(b, '\n')
		}
		b = append(b, p.String()...)
	}
	if e.Omitted > 0 {
		b = append(b, "\nand "...)
		b = strconv.AppendInt(b, int64(e.Omitted), 10)
		b = append(b, " more"...)
	}
	return string(b)
}

// Collector gathers problems. The zero value is ready. Paths are built only when there is a problem: who finds one adds it with its own
// relative path, and the caller prepends a step with Nest when it unwinds.
type Collector struct {
	problems []Problem // paths reversed until Err
	omitted  int
	since    int // problems before the value whose rules are checked
}

// Add records a problem at a path relative to the value being checked.
func (c *Collector) Add(code Code, detail string, path ...PathElement) {
	c.add(code, detail, false, path)
}

// Reject records a problem that leaves no usable value at the path: Sound and Whole tell the rules so.
func (c *Collector) Reject(code Code, detail string, path ...PathElement) {
	c.add(code, detail, true, path)
}

func (c *Collector) add(code Code, detail string, rejected bool, path []PathElement) {
	if len(c.problems) >= MaxProblems {
		c.omitted++
		return
	}
	reversed := make(Path, 0, len(path)+4)
	for _, p := range slices.Backward(path) {
		reversed = append(reversed, p)
	}
	c.problems = append(c.problems, Problem{Path: reversed, Code: code, Detail: detail, rejected: rejected})
}

// Since says that the value whose rules come next has the problems since mark, and whether the rules can be checked: beyond MaxProblems
// nobody knows which of its parts were rejected.
func (c *Collector) Since(mark int) bool {
	c.since = mark
	return len(c.problems) < MaxProblems
}

// Sound says whether the value at a path, relative to the value whose rules are checked, is there as it was sent: neither it nor a value
// around it was rejected. A field that may be absent is sound when it is absent.
func (c *Collector) Sound(path ...PathElement) bool { return !c.rejected(path, false) }

// Whole says whether the value at a path is sound with all that it holds.
func (c *Collector) Whole(path ...PathElement) bool { return !c.rejected(path, true) }

func (c *Collector) rejected(path []PathElement, inside bool) bool {
	for i := c.since; i < len(c.problems); i++ {
		p := &c.problems[i]
		if p.rejected && (inside || len(p.Path) <= len(path)) && along(p.Path, path) {
			return true
		}
	}
	return false
}

// along says whether of a reversed path and another one begins with the other.
func along(reversed, path Path) bool {
	for i := range min(len(reversed), len(path)) {
		if reversed[len(reversed)-1-i] != path[i] {
			return false
		}
	}
	return true
}

// Mark is the number of problems so far, for Nest.
func (c *Collector) Mark() int { return len(c.problems) }

// Found is the number of problems so far, those that are only counted included.
func (c *Collector) Found() int { return len(c.problems) + c.omitted }

// Nest prepends a step to the paths of all problems since mark.
func (c *Collector) Nest(mark int, step PathElement) {
	for i := mark; i < len(c.problems); i++ {
		c.problems[i].Path = append(c.problems[i].Path, step)
	}
}

// Empty says whether no problem was found.
func (c *Collector) Empty() bool { return len(c.problems) == 0 }

// Reset forgets all problems.
func (c *Collector) Reset() { *c = Collector{} }

// Err gives nil, or a *ValidationError with all problems. The collector must not be used afterwards but for Reset.
func (c *Collector) Err() error {
	if len(c.problems) == 0 {
		return nil
	}
	for _, p := range c.problems {
		for i, j := 0, len(p.Path)-1; i < j; i, j = i+1, j-1 {
			p.Path[i], p.Path[j] = p.Path[j], p.Path[i]
		}
	}
	return &ValidationError{Problems: c.problems, Omitted: c.omitted}
}

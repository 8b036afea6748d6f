package docket

import (
	"slices"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket/internal/stream"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
)

// The codes of problems that only a docket can have. The others are package abi's.
const (
	// CodeNotJSON: the line is not valid JSON at all from some column on.
	CodeNotJSON = stream.CodeNotJSON
	// CodeNotText: the file is no UTF-8 text, but UTF-16 or compressed.
	CodeNotText = stream.CodeNotText
	// CodeEmptyDocket: the file has no case.
	CodeEmptyDocket abi.Code = "empty_docket"
	// CodeNoOpinion: the file has no opinion.
	CodeNoOpinion abi.Code = "no_opinion"
)

// LineError says all that is wrong with one line of a docket. The lines after it were still read.
type LineError struct {
	File string
	// Line counts from 1; 0 means the file as a whole.
	Line int
	// Problems are in the order in which they stand in the line; beyond abi.MaxProblems they are only counted in Omitted.
	Problems []abi.Problem
	Omitted  int
}

// Error renders one line for each problem, as `cases.jsonl:7: evidence[3].weight: is no field of evidence (unknown_field)`.
// The text is sanitized, so it is safe to print.
func (e *LineError) Error() string {
	var b strings.Builder
	for i, p := range e.Problems {
		if i > 0 {
			b.WriteByte('\n')
		}
		e.writePlace(&b)
		b.WriteString(sanitize.Line(p.String()))
		b.WriteString(" (" + string(p.Code) + ")")
	}
	if e.Omitted > 0 {
		b.WriteByte('\n')
		e.writePlace(&b)
		b.WriteString("and " + strconv.Itoa(e.Omitted) + " more problems")
	}
	return b.String()
}

// OtherFormat says whether the line may be of another format: it is no JSON, or a field of every case is missing.
func (e *LineError) OtherFormat() bool {
	return slices.ContainsFunc(e.Problems, func(p abi.Problem) bool { return OtherFormat(p.Code, p.Path.String()) })
}

// OtherFormat says whether a problem at a path of a line tells that the line may be of another format.
func OtherFormat(code abi.Code, path string) bool {
	if code == abi.CodeMissingField {
		return path == "id" || path == "labels"
	}
	return code == CodeNotJSON || code == CodeNotText || code == CodeEmptyDocket ||
		path == "" && code == abi.CodeWrongType // the line is a list, a text or a number
}

func (e *LineError) writePlace(b *strings.Builder) {
	b.WriteString(sanitize.Line(e.File))
	if e.Line > 0 {
		b.WriteString(":" + strconv.Itoa(e.Line))
	}
	b.WriteString(": ")
}

// NewLineError is a LineError with one problem.
func NewLineError(file string, line int, code abi.Code, detail string) *LineError {
	return &LineError{File: file, Line: line, Problems: []abi.Problem{{Code: code, Detail: detail}}}
}

// Package docket reads the cases that the court tries, and the opinions that an audit reads.
//
// A docket is a file of cases, one JSON object a line. [Reader] reads it strictly: a wrong line becomes one [LineError] with
// all its problems and their places, and reading continues with the next line. Packages gotest, junit and reportportal read
// the reports of test runs. [Opinions] and [ReadDocument] read what an audit needs.
package docket

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket/internal/stream"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
)

const (
	// DefaultLineBytes is the longest line of a docket.
	DefaultLineBytes = 64 << 20
	// MaxReportBytes is the most of a report in XML, and of one JSON text of an export.
	MaxReportBytes = 64 << 20
)

// Reader reads dockets. The zero value is ready. One Reader for several files finds a case id that stands in two of them.
// Not safe for concurrent use.
type Reader struct {
	// MaxLineBytes is the longest line, line break excluded. Default: DefaultLineBytes. A longer line is one LineError,
	// and is not held in memory.
	MaxLineBytes int
	// MaxDocumentBytes is the most of one document; a longer one is cut, see CutDocuments. Default: abi.DefaultDocumentBytes.
	// All documents of a case together are cut to abi.DefaultCaseDocumentBytes.
	MaxDocumentBytes int

	places *places // of case ids
}

// JSONL reads the cases of a stream, one JSON object a line, in order. Blank lines, a byte order mark and CRLF are
// tolerated. It holds one line at a time.
//
// An error that is a *LineError concerns one line (or, with Line 0, says that the file has no case or is no text); the
// lines after it follow. Any other error comes from in and is the last.
func (r *Reader) JSONL(name string, in io.Reader) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		limit := cmp.Or(max(0, r.MaxLineBytes), DefaultLineBytes)
		lines := stream.NewLines(in, limit)
		empty := true
		for number := 1; ; number++ {
			line, length, err := lines.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				yield(Entry{}, fmt.Errorf("reading %s, line %d: %w", name, number, err))
				return
			}
			if number == 1 {
				if kind := stream.Kind(line); kind != "" {
					yield(Entry{}, NewLineError(name, 0, CodeNotText, "is "+kind+", a docket is UTF-8 text"))
					return
				}
				line = bytes.TrimPrefix(line, []byte(stream.MarkUTF8))
			}
			if length <= limit && len(bytes.TrimSpace(line)) == 0 {
				continue
			}
			empty = false
			if !yield(r.entry(name, number, line, length, limit)) {
				return
			}
		}
		if empty {
			yield(Entry{}, NewLineError(name, 0, CodeEmptyDocket, "there is no case in this docket"))
		}
	}
}

func (r *Reader) entry(name string, number int, line []byte, length, limit int) (Entry, error) {
	if length > limit {
		return Entry{}, NewLineError(name, number, abi.CodeTooLarge,
			"the line has "+strconv.Itoa(length)+" bytes, at most "+strconv.Itoa(limit)+" are allowed")
	}
	entry, invalid := readCase(line, cmp.Or(max(0, r.MaxDocumentBytes), abi.DefaultDocumentBytes))
	problem := &LineError{File: name, Line: number}
	if invalid != nil {
		problem.Problems, problem.Omitted = invalid.Problems, invalid.Omitted
	}
	if first, twice := r.register(entry.Case.ID, place{name, number}); twice {
		problem.Problems = append(problem.Problems, abi.Problem{
			Path: abi.Path{abi.Field("id")}, Code: abi.CodeDuplicateID,
			Detail: "the case at " + first.String() + " has this id",
		})
	}
	if len(problem.Problems) > 0 {
		return Entry{}, problem
	}
	entry.Source, entry.Line = name, number
	return entry, nil
}

// register notes where an id stands, and where it stood before.
func (r *Reader) register(id string, at place) (first place, twice bool) {
	if id == "" {
		return place{}, false
	}
	if r.places == nil {
		r.places = newPlaces()
	}
	return r.places.register(id, at)
}

// place is where an id stands.
type place struct {
	file string
	line int
}

func (p place) String() string { return p.file + ":" + strconv.Itoa(p.line) }

// places knows where ids stand. It keeps a hash of each and not the id, so that a docket of a million cases takes some 36 MB. Two ids of
// a million have the same hash with a probability of 3e-8; the second is then taken for the first. The hash is seeded, so that nobody can
// choose such ids.
type places struct {
	seed  maphash.Seed
	first map[uint64]shortPlace
	files []string
}

// shortPlace is a place with the number of its file.
type shortPlace struct{ file, line uint32 }

func newPlaces() *places { return &places{seed: maphash.MakeSeed(), first: map[uint64]shortPlace{}} }

// register notes where an id stands, or gives where it stood before.
func (p *places) register(id string, at place) (first place, twice bool) {
	hash := maphash.String(p.seed, id)
	if found, ok := p.first[hash]; ok {
		return place{p.files[found.file], int(found.line)}, true
	}
	file := slices.Index(p.files, at.file)
	if file < 0 {
		file = len(p.files)
		p.files = append(p.files, at.file)
	}
	p.first[hash] = shortPlace{uint32(file), uint32(at.line)}
	return at, false
}

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

package docket

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"iter"
	"strconv"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket/internal/stream"
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

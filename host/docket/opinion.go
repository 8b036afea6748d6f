package docket

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"path/filepath"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket/internal/stream"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// MaxOpinionBytes is the longest file that is one opinion.
const MaxOpinionBytes = 16 << 20

// Opinions reads the opinions of a file in order: JSON, one object a line or one over many lines, with the fields text, case_id,
// court_name, metadata, evidence and documents, of which only text must be there; a JSON list of such objects; and any other text, which is
// one opinion whose case is called as the file. JSON is told by how it begins: with a brace, or with a bracket and a brace.
//
// An error that is a *LineError concerns one line (or, with Line 0, the file); the lines after it follow. Any other error comes from in and
// is the last.
func Opinions(name string, in io.Reader) iter.Seq2[OpinionEntry, error] {
	return func(yield func(OpinionEntry, error) bool) {
		data, err := io.ReadAll(io.LimitReader(in, DefaultLineBytes+1))
		if err != nil {
			yield(OpinionEntry{}, fmt.Errorf("reading %s: %w", name, err))
			return
		}
		data = bytes.TrimPrefix(data, []byte(stream.MarkUTF8))
		switch kind := stream.Kind(data); {
		case kind != "":
			yield(OpinionEntry{}, NewLineError(name, 0, CodeNotText, "is "+kind+", an opinion is UTF-8 text"))
		case len(data) > DefaultLineBytes:
			yield(OpinionEntry{}, NewLineError(name, 0, abi.CodeTooLarge, "is larger than "+strconv.Itoa(DefaultLineBytes)+" bytes"))
		case len(bytes.TrimSpace(data)) == 0:
			yield(OpinionEntry{}, NewLineError(name, 0, CodeNoOpinion, "there is no opinion in this file"))
		case isList(bytes.TrimSpace(data)):
			listOpinions(name, data, yield)
		case bytes.TrimSpace(data)[0] == '{':
			jsonOpinions(name, data, yield)
		default:
			yield(textOpinion(name, data))
		}
	}
}

func textOpinion(name string, data []byte) (OpinionEntry, error) {
	switch {
	case len(data) > MaxOpinionBytes:
		return OpinionEntry{}, NewLineError(name, 0, abi.CodeTooLarge, "has "+strconv.Itoa(len(data))+" bytes, at most "+strconv.Itoa(MaxOpinionBytes)+" are allowed")
	case !utf8.Valid(data):
		return OpinionEntry{}, NewLineError(name, 0, abi.CodeInvalidUTF8, "is no UTF-8 text")
	case bytes.IndexByte(data, 0) >= 0:
		return OpinionEntry{}, NewLineError(name, 0, CodeNotText, "is no text: byte "+strconv.Itoa(bytes.IndexByte(data, 0))+" is zero")
	}
	e := OpinionEntry{Source: name}
	e.Opinion.Text = string(data)
	if name != trial.StandardInput {
		e.Opinion.CaseID = filepath.Base(name)
	}
	return e, nil
}

// jsonOpinions reads one object over many lines, or one a line.
func jsonOpinions(name string, data []byte, yield func(OpinionEntry, error) bool) {
	if whole := bytes.TrimSpace(data); bytes.ContainsRune(whole, '\n') {
		if e, invalid := readOpinion(whole); e != nil {
			e.Source = name
			if invalid != nil {
				yield(OpinionEntry{}, &LineError{File: name, Problems: invalid.Problems, Omitted: invalid.Omitted})
				return
			}
			yield(*e, nil)
			return
		}
	}
	number := 0
	for line := range bytes.Lines(data) {
		number++
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		e, invalid := opinionAt(name, number, line)
		var err error
		if invalid != nil {
			err = invalid
		}
		if !yield(e, err) {
			return
		}
	}
}

// opinionReader reads one JSON object. Evidence and documents are those of a case.
type opinionReader struct{ caseReader }

// readOpinion gives the opinion of a text, and all that is wrong with it; nil if it is no JSON object.
func readOpinion(text []byte) (*OpinionEntry, *abi.ValidationError) {
	r := opinionReader{caseReader{scanner: newScanner(text), documentBytes: abi.DefaultDocumentBytes}}
	e := &OpinionEntry{}
	ok := r.object("an opinion", []field{
		{"text", true, func() bool { return r.str(&e.Opinion.Text, true) }},
		{"case_id", false, func() bool { return r.str(&e.Opinion.CaseID, false) }},
		{"court_name", false, func() bool { return r.str(&e.Opinion.CourtName, false) }},
		{"metadata", false, func() bool { return r.metadata(&e.Opinion.Metadata) }},
		{"evidence", false, r.evidence},
		{"documents", false, r.documents},
	})
	if !ok {
		r.c.Add(CodeNotJSON, r.notJSON())
		return nil, invalidOf(r.c)
	}
	if column, more := r.more(); more {
		r.c.Add(abi.CodeTrailingBytes, "something follows the opinion at column "+column+": a line has one")
		return nil, invalidOf(r.c)
	}
	e.Evidence, e.Documents, e.Cut = r.entry.Case.Evidence, r.entry.Case.Documents, r.cuts
	if r.c.Since(0) {
		named := abi.Case{Documents: e.Documents}
		named.Rules(r.c) // names must differ, as in a case
	}
	return e, invalidOf(r.c)
}

func invalidOf(c *abi.Collector) *abi.ValidationError {
	var invalid *abi.ValidationError
	errors.As(c.Err(), &invalid)
	return invalid
}

// maxMetadata entries an opinion may have.
const maxMetadata = 64

func (r *opinionReader) metadata(into *map[string]string) bool {
	if r.in.PeekKind() != '{' {
		return r.wrongType("an object")
	}
	*into = make(map[string]string)
	ok := r.members(func(key string) bool {
		mark := r.c.Mark()
		var value string
		if !r.str(&value, false) {
			return false
		}
		if _, twice := (*into)[key]; twice {
			r.c.Add(abi.CodeDuplicateKey, "occurs twice")
		}
		(*into)[key] = value
		r.c.Nest(mark, abi.Key(shorten(key)))
		return true
	})
	if ok && len(*into) > maxMetadata {
		r.c.Add(abi.CodeBadCount, "has "+strconv.Itoa(len(*into))+" entries, at most "+strconv.Itoa(maxMetadata)+" are allowed")
	}
	return ok
}

// isList says whether a file is a JSON list of objects, and no text that begins with a bracket.
func isList(text []byte) bool {
	rest, ok := bytes.CutPrefix(text, []byte("["))
	rest = bytes.TrimLeft(rest, " \t\r\n")
	return ok && len(rest) > 0 && (rest[0] == '{' || len(rest) == 1 && rest[0] == ']')
}

// listOpinions reads the opinions of a list. Each has the line in which it begins.
func listOpinions(name string, data []byte, yield func(OpinionEntry, error) bool) {
	s := newScanner(data)
	type span struct{ start, end int64 }
	var spans []span
	ok := s.list(func(int) bool {
		value, err := s.in.ReadValue()
		end := s.in.InputOffset()
		spans = append(spans, span{end - int64(len(value)), end})
		return s.fine(err)
	})
	if column, more := s.more(); ok && more {
		yield(OpinionEntry{}, NewLineError(name, 0, abi.CodeTrailingBytes, "something follows the list at column "+column))
		return
	}
	if !ok {
		yield(OpinionEntry{}, NewLineError(name, s.syntax.Line, CodeNotJSON, s.notJSON()))
		return
	}
	if len(spans) == 0 {
		yield(OpinionEntry{}, NewLineError(name, 0, CodeNoOpinion, "there is no opinion in this list"))
		return
	}
	line, at := 1, int64(0)
	for i, one := range spans {
		line += bytes.Count(data[at:one.start], []byte("\n"))
		at = one.start
		e, err := opinionAt(name, line, data[one.start:one.end])
		if err != nil {
			for n := range err.Problems {
				p := &err.Problems[n]
				p.Path = slices.Concat(abi.Path{abi.Index(i)}, p.Path)
			}
			if !yield(e, err) {
				return
			}
			continue
		}
		e.Item = i + 1
		if !yield(e, nil) {
			return
		}
	}
}

// opinionAt reads one object, or says what is wrong with it.
func opinionAt(name string, line int, text []byte) (OpinionEntry, *LineError) {
	e, invalid := readOpinion(text)
	if invalid != nil {
		return OpinionEntry{}, &LineError{File: name, Line: line, Problems: invalid.Problems, Omitted: invalid.Omitted}
	}
	e.Source, e.Line = name, line
	return *e, nil
}

package docket

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/shadowcourt/shadowcourt/abi"
)

// isList says whether a file is a JSON list of objects, and no text that begins with a bracket.
func isList(text []byte) bool {
	rest, ok := bytes.CutPrefix(text, []byte("["))
	rest = bytes.TrimLeft(rest, " \t\r\n")
	return ok && len(rest) > 0 && (rest[0] == '{' || len(rest) == 1 && rest[0] == ']')
}

// listOpinions reads the opinions of a list. Each has the line in which it begins.
func listOpinions(name string, data []byte, yield func(OpinionEntry, error) bool) {
	s := scanner{data: data}
	type span struct{ start, end int }
	var spans []span
	ok := s.list(func(int) bool {
		s.space()
		start := s.pos
		ok := s.skip()
		spans = append(spans, span{start, s.pos})
		return ok
	})
	if s.peek(); ok && s.pos < len(data) {
		ok = s.fail("something follows the list")
	}
	if !ok {
		line, column := lineAndColumn(data, s.pos)
		yield(OpinionEntry{}, lineError(name, line, CodeNotJSON, "is not valid JSON at column "+strconv.Itoa(column)+": "+s.syntax))
		return
	}
	if len(spans) == 0 {
		yield(OpinionEntry{}, lineError(name, 0, CodeNoOpinion, "there is no opinion in this list"))
		return
	}
	line, at := 1, 0
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

// lineAndColumn are the line and the column, both from 1, of a byte of a text.
func lineAndColumn(data []byte, pos int) (line, column int) {
	before := data[:pos]
	return 1 + bytes.Count(before, []byte("\n")), pos - bytes.LastIndexByte(before, '\n')
}

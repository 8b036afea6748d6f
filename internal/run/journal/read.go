package journal

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// ConfigurationError: the journal is of a run of another configuration.
type ConfigurationError struct {
	Other []string // the names of the parts that differ
}

func (e *ConfigurationError) Error() string {
	return "it is of another configuration: another " + strings.Join(e.Other, ", another ")
}

// FaultError: a line of the file can't be read.
type FaultError struct {
	Line int // from 1
	Err  error
}

func (e *FaultError) Error() string {
	if e.Line == 1 {
		return "it is no journal of a run: " + e.Err.Error()
	}
	return fmt.Sprintf("line %d: %v", e.Line, e.Err)
}

func (e *FaultError) Unwrap() error { return e.Err }

// reader reads what an earlier run left, one line ahead.
type reader struct {
	in     *bufio.Reader
	ahead  *line // nil behind the last
	cases  int   // up to the one ahead
	offset int64 // behind the lines that were passed
	length int   // of the line ahead
}

// newReader reads the header; nil where the file holds at most the beginning of the header of parts. With a
// *ConfigurationError there is a reader, too.
func newReader(in io.Reader, parts []Part) (*reader, error) {
	r := &reader{in: bufio.NewReaderSize(in, 1<<16)}
	text, err := r.in.ReadBytes('\n')
	if errors.Is(err, io.EOF) {
		own, err := encode(header{Format, parts})
		if err == nil && !bytes.HasPrefix(own, text) {
			err = &FaultError{1, errors.New("it is cut")}
		}
		return nil, err
	}
	if err != nil {
		return nil, err
	}
	var h header
	if err := json.Unmarshal(text, &h); err != nil {
		return nil, &FaultError{1, err}
	}
	if h.Format != Format {
		return nil, &FaultError{1, fmt.Errorf("its format is %q, not %q", h.Format, Format)}
	}
	r.length = len(text)
	if err := r.advance(); err != nil {
		return nil, err
	}
	if other := differing(h.Configuration, parts); len(other) > 0 {
		return r, &ConfigurationError{other}
	}
	return r, nil
}

// advance passes the line ahead and reads the next one. One that was not written whole is the end.
func (r *reader) advance() error {
	r.offset += int64(r.length)
	r.ahead, r.length = nil, 0
	text, err := r.in.ReadBytes('\n')
	if errors.Is(err, io.EOF) {
		return nil
	}
	if err != nil {
		return err
	}
	if string(text) == endLine {
		return nil
	}
	r.cases++
	if r.ahead, err = decode(text); err != nil {
		return &FaultError{r.cases + 1, err}
	}
	r.length = len(text)
	return nil
}

// differing names the parts that are not the same, or only in one list.
func differing(a, b []Part) []string {
	var names []string
	for _, list := range [][2][]Part{{a, b}, {b, a}} {
		for _, p := range list[0] {
			if !slices.Contains(list[1], p) && !slices.Contains(names, p.Name) {
				names = append(names, p.Name)
			}
		}
	}
	return names
}

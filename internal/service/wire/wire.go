// Package wire is what the service and its client say to each other: trials as lines of JSON, and why a request failed, in the form of
// RFC 9457 (application/problem+json). [Client] submits dockets and reads their trials.
//
// A token goes to the server that a client was made for and nowhere else: no redirect is followed. What a server answers is read up to
// limits, and taken from one that may be broken or hostile. Requests that can be repeated are, after faults of the connection and when the
// service asks to wait.
package wire

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/run"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
)

// Line is an entry of a docket with its trial, or with the reason why it has none.
type Line struct {
	Docket  int64  `json:"docket"`
	Ordinal int    `json:"ordinal"`
	Case    string `json:"case,omitempty"` // empty for an entry that could not be read
	Source  string `json:"source,omitempty"`
	Line    int    `json:"line,omitempty"`
	Fault   string `json:"fault,omitempty"`

	Result    json.RawMessage `json:"result,omitempty"`
	Truth     *trial.Truth    `json:"truth,omitempty"`
	MemberIDs []string        `json:"member_ids,omitempty"`

	// Cases are in the encoding of the contract.
	Encoded    []byte            `json:"encoded,omitempty"`
	LabelNames map[string]string `json:"label_names,omitempty"`
	Story      json.RawMessage   `json:"story,omitempty"`
	Members    [][]byte          `json:"members,omitempty"`
}

// Form says how much of a trial a line has.
type Form string

// The forms.
const (
	Results Form = "results" // the result, and what is known of the truth
	Summary Form = "summary" // also what a table shows: the names of labels, and the case without its documents
	Whole   Form = "whole"
)

// Put puts a trial into a line.
func (l *Line) Put(t *trial.Trial, form Form) error {
	result, story, err := run.EncodeTrial(t)
	if err != nil {
		return err
	}
	l.Result, l.Truth, l.MemberIDs = result, t.Truth, t.Result.Members
	switch form {
	case Whole:
	case Summary:
		without := t.Case
		without.Documents = nil
		l.LabelNames, l.Encoded = t.LabelNames, codec.AppendCase(nil, &without)
		return nil
	default:
		return nil
	}
	l.Story, l.LabelNames, l.Encoded = story, t.LabelNames, codec.AppendCase(nil, &t.Case)
	for i := range t.Members {
		l.Members = append(l.Members, codec.AppendCase(nil, &t.Members[i]))
	}
	return nil
}

// Limits of a line that is read from somebody else.
const (
	// maxLine is the longest line with a result, maxWholeLine with a whole trial, most of which are cases: an entry may stand for many that
	// failed in the same way.
	maxLine      = 64 << 20
	maxWholeLine = 256 << 20
	// maxCase is the largest case: package store takes no larger one.
	maxCase = 64 << 20
	// maxValues bounds the values of JSON in a line, since three bytes may become a struct of hundreds.
	maxValues = 1 << 20
)

// MaxLine is the longest line of a form.
func (f Form) MaxLine() int {
	if f == Whole {
		return maxWholeLine
	}
	return maxLine
}

var errValues = errors.New("it has too many values")

// Parse reads a line. Fields that this version does not know are an error: without them the trial would be another one.
func Parse(text []byte) (*Line, error) {
	if sanitize.CountValues(text) > maxValues {
		return nil, errValues
	}
	l := &Line{}
	if err := strictly(text, l); err != nil {
		return nil, err
	}
	if l.Result != nil {
		if err := strictly(l.Result, &trial.Result{}); err != nil {
			return nil, fmt.Errorf("result: %w", err)
		}
	}
	return l, nil
}

func strictly(text []byte, to any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	return d.Decode(to)
}

// Trial is the trial of a line; nil where it has none. Without a story it has a result alone, and what is known of the truth.
func (l *Line) Trial() (*trial.Trial, error) {
	if l.Result == nil {
		return nil, nil //nolint:nilnil // the line has none
	}
	t, err := run.DecodeTrial(l.Result, l.Story)
	if err != nil {
		return nil, err
	}
	t.Truth, t.Result.Members = l.Truth, l.MemberIDs
	if l.Encoded == nil {
		return t, nil
	}
	c, err := codec.DecodeCase(l.Encoded, maxCase)
	if err != nil {
		return nil, fmt.Errorf("the case of %q: %w", t.Result.ID, err)
	}
	for beside := t; beside != nil; beside = beside.Beside {
		beside.Case = c
	}
	members := make([]abi.Case, len(l.Members))
	for i, text := range l.Members {
		if members[i], err = codec.DecodeCase(text, maxCase); err != nil {
			return nil, fmt.Errorf("member %d of %q: %w", i+1, t.Result.ID, err)
		}
	}
	if len(members) > 0 {
		if len(members) != len(l.MemberIDs) {
			return nil, fmt.Errorf("the trial of %q stands for %d cases, and has %d", t.Result.ID, len(l.MemberIDs), len(members))
		}
		t.Stand(members)
	}
	t.LabelNames = l.LabelNames
	return t, nil
}

// LineReader reads lines of bounded length. A last line without its end was cut off: io.ErrUnexpectedEOF.
type LineReader struct {
	In   *bufio.Reader
	Most int // bytes of a line, its end included
	line []byte
}

// ErrTooLong says that a line has more bytes than it may.
var ErrTooLong = errors.New("the line is too long")

// Next gives a line with its end, which is valid until the next call.
func (r *LineReader) Next() ([]byte, error) {
	for r.line = r.line[:0]; ; {
		part, err := r.In.ReadSlice('\n')
		if len(r.line)+len(part) > r.Most {
			return nil, ErrTooLong
		}
		r.line = append(r.line, part...)
		switch {
		case err == nil:
			return r.line, nil
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && len(r.line) > 0:
			return nil, io.ErrUnexpectedEOF
		default:
			return nil, err
		}
	}
}

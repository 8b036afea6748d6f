package wire

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/shadowcourt/shadowcourt/host/alibi"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
)

// PushFormat is the version of the body in which a run pushes its results: a line with a [Push], a line with a [Pushed] for each trial, and
// behind them the record of a proof, if there is one.
const PushFormat = "shadowcourt-results/1"

// Push is the first line.
type Push struct {
	Format string `json:"format"`
	// Pipeline of the court, in YAML, and the change that it judged; both of the alibi alone.
	Pipeline string        `json:"pipeline,omitempty"`
	Change   *alibi.Change `json:"change,omitempty"`
	// Trials is how many lines stand behind this one.
	Trials int `json:"trials"`
	// Key verifies the record behind the trials: a public key in PEM. Empty for no record.
	Key string `json:"key,omitempty"`
}

// Pushed is a whole trial that was held elsewhere, and of the alibi the answer.
type Pushed struct {
	Line
	// Answer is without its runs: the result has them.
	Answer  *alibi.Answer `json:"answer,omitempty"`
	Seconds float64       `json:"seconds,omitempty"`
}

// NewPushed states a trial. The answer may be nil.
func NewPushed(t *trial.Trial, a *alibi.Answer, seconds float64) (*Pushed, error) {
	p := &Pushed{Seconds: seconds}
	if a != nil {
		own := *a
		own.Runs = nil
		p.Answer = &own
	}
	own := *t
	own.Result.Timings = nil
	return p, p.Put(&own, Whole)
}

// Limits of a push, which is kept in one transaction.
const (
	MaxPushBytes  = 64 << 20
	MaxPushTrials = 5000
)

// PushReader reads a push from somebody else.
type PushReader struct {
	Push

	lines  LineReader // of the bytes that are left
	values int
	line   int
}

// ErrPushTooLarge says that a push has more than one may.
var ErrPushTooLarge = fmt.Errorf("a push has at most %d bytes, %d trials and %d values", MaxPushBytes, MaxPushTrials, maxValues)

// NewPushReader reads the first line.
func NewPushReader(in io.Reader) (*PushReader, error) {
	r := &PushReader{lines: LineReader{In: bufio.NewReaderSize(in, 64<<10), Most: MaxPushBytes}}
	if err := r.next(&r.Push); err != nil {
		return nil, err
	}
	switch {
	case r.Format != PushFormat:
		return nil, fmt.Errorf("format is not %s", PushFormat)
	case r.Trials < 1:
		return nil, errors.New("trials: must be 1 or more")
	case r.Trials > MaxPushTrials:
		return nil, ErrPushTooLarge
	}
	return r, nil
}

// Next reads a trial; io.EOF behind the last. Where only the line is at fault, and the next one can be read, the error is a *PushLineError.
func (r *PushReader) Next() (*Pushed, error) {
	if r.line > r.Trials {
		return nil, io.EOF
	}
	p := &Pushed{}
	return p, r.next(p)
}

// PushLineError is what is wrong with one line.
type PushLineError struct{ Err error }

func (e *PushLineError) Error() string { return e.Err.Error() }

// Unwrap gives what is wrong.
func (e *PushLineError) Unwrap() error { return e.Err }

// Line is the number of the line that was read last.
func (r *PushReader) Line() int { return r.line }

// Record reads what stands behind the trials.
func (r *PushReader) Record() ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r.lines.In, int64(r.lines.Most)+1))
	if err == nil && len(data) > r.lines.Most {
		err = ErrPushTooLarge
	}
	return data, err
}

func (r *PushReader) next(to any) error {
	r.line++
	text, err := r.lines.Next()
	switch {
	case errors.Is(err, ErrTooLong):
		return ErrPushTooLarge
	case errors.Is(err, io.EOF):
		return io.ErrUnexpectedEOF
	case err != nil:
		return err
	}
	r.lines.Most -= len(text)
	if r.values += sanitize.CountValues(text); r.values > maxValues {
		return ErrPushTooLarge
	}
	if !utf8.Valid(text) {
		return &PushLineError{errors.New("it is no UTF-8")}
	}
	if err := strictly(text, to); err != nil {
		return &PushLineError{err}
	}
	if err := sanitize.UniqueKeys(json.NewDecoder(bytes.NewReader(text)), true); err != nil {
		return &PushLineError{err}
	}
	if p, ok := to.(*Pushed); ok && p.Result != nil {
		if err := strictly(p.Result, &trial.Result{}); err != nil {
			return &PushLineError{fmt.Errorf("result: %w", err)}
		}
	}
	return nil
}

// WritePush writes a line of a push.
func WritePush(w io.Writer, line any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(line)
}

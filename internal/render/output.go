// Package render writes trials and audits: tables and explanations for terminals, JSON and JSON lines for programs, HTML and
// Markdown pages, and cases as a docket.
//
// A [Writer] takes trials one by one. [Output] hands each trial to several writers and redacts it before, so that no writer
// can forget to. Texts of cases and modules are untrusted: all writers sanitize them, see package sanitize.
package render

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"

	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
)

// WriterOf takes trials or audits one by one, in their order. Close writes what comes at the end, and does not close what is
// below. Writers are not safe for concurrent use.
type WriterOf[T any] interface {
	Write(t *T) error
	Close() error
}

// Writers of trials, in docket order, and of audits.
type (
	Writer      = WriterOf[trial.Trial]
	AuditWriter = WriterOf[trial.Audit]
)

// Summarizer is a Writer that writes a summary.
type Summarizer interface {
	Writer
	// Summary is what it has so far, for what no trial tells.
	Summary() *Summary
}

// OutputOf redacts what it gets and hands it to several writers. It is the one way from the court to the outside: a writer
// behind it never sees what is redacted. It is a writer itself.
type OutputOf[T any] struct {
	redact  func(*T) *T
	writers []WriterOf[T]
}

// Output is that of trials.
type Output = OutputOf[trial.Trial]

// NewOutput stands before writers. The redactor may be nil.
func NewOutput(redactor *Redactor, writers ...Writer) *Output {
	return &Output{redactor.Trial, writers}
}

// NewAuditOutput does the same for audits.
func NewAuditOutput(redactor *Redactor, writers ...AuditWriter) AuditWriter {
	return &OutputOf[trial.Audit]{redactor.Audit, writers}
}

// NewAnswerOutput hands answers to several writers.
func NewAnswerOutput(writers ...AnswerWriter) AnswerWriter {
	return &OutputOf[Answered]{func(a *Answered) *Answered { return a }, writers}
}

// Write hands it to every writer, even when one fails, and joins their errors.
func (o *OutputOf[T]) Write(t *T) error {
	t = o.redact(t)
	var problems []error
	for _, w := range o.writers {
		problems = append(problems, w.Write(t))
	}
	return errors.Join(problems...)
}

// Close closes every writer.
func (o *OutputOf[T]) Close() error {
	var problems []error
	for _, w := range o.writers {
		problems = append(problems, w.Close())
	}
	return errors.Join(problems...)
}

// NewJSONL writes one result a line, each at once.
func NewJSONL(w io.Writer) Writer {
	return jsonLines[trial.Trial]{w, func(t *trial.Trial) ([]byte, error) { return t.Result.MarshalJSON() }}
}

// NewAuditJSONL writes one audit a line, each at once.
func NewAuditJSONL(w io.Writer) AuditWriter { return jsonLines[trial.Audit]{w, auditJSON} }

func auditJSON(a *trial.Audit) ([]byte, error) { return a.MarshalJSON() }

type jsonLines[T any] struct {
	w      io.Writer
	encode func(*T) ([]byte, error)
}

func (j jsonLines[T]) Write(t *T) error {
	line, err := j.encode(t)
	if err != nil {
		return err
	}
	_, err = j.w.Write(append(line, '\n'))
	return err
}

func (jsonLines[T]) Close() error { return nil }

// NewJSON writes one object: `results`, a list of the results as JSONL has them, one on each line, and `summary`, a
// [Summary]. Results are written at once, so that memory does not grow with the docket.
func NewJSON(w io.Writer) Writer {
	summary := NewSummary()
	return &resultsJSON{jsonList[trial.Trial]{w: w, name: "results", encode: func(t *trial.Trial) ([]byte, error) {
		result, err := t.Result.MarshalJSON()
		if err == nil {
			summary.Add(t)
		}
		return result, err
	}}, summary}
}

type resultsJSON struct {
	jsonList[trial.Trial]
	summary *Summary
}

func (j *resultsJSON) Summary() *Summary { return j.summary }

func (j *resultsJSON) Close() error {
	j.summary.finish()
	summary, err := encoded(j.summary)
	if err != nil {
		return err
	}
	return j.end(",\n\"summary\":" + string(sanitize.JSON(bytes.TrimSuffix(summary, []byte("\n")))))
}

// encoded is a value as a line of JSON. `<`, `>` and `&` stay, since JSON is not HTML.
func encoded(v any) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(v)
	return b.Bytes(), err
}

// NewAuditJSON writes one object with `audits`, a list of the audits as JSONL has them.
func NewAuditJSON(w io.Writer) AuditWriter {
	return &jsonList[trial.Audit]{w: w, name: "audits", encode: auditJSON}
}

// jsonList writes an object with a list, an item on each line.
type jsonList[T any] struct {
	w      io.Writer
	name   string
	encode func(*T) ([]byte, error)
	begun  bool
}

func (j *jsonList[T]) Write(t *T) error {
	item, err := j.encode(t)
	if err != nil {
		return err
	}
	lead := ",\n"
	if !j.begun {
		lead = "{\"" + j.name + "\":[\n"
	}
	j.begun = true
	_, err = j.w.Write(append([]byte(lead), item...))
	return err
}

func (j *jsonList[T]) Close() error { return j.end("") }

// end closes the list, and the object after more fields.
func (j *jsonList[T]) end(more string) error {
	list := "\n]"
	if !j.begun {
		list = "{\"" + j.name + "\":[]"
	}
	_, err := io.WriteString(j.w, list+more+"}\n")
	return err
}

// BesideJSON is both trials of a case that a candidate court took part in.
type BesideJSON struct {
	ID string `json:"id"`
	// Flips: the two end with another status or another label.
	Flips bool `json:"flips"`
	// Truth is the right classification, null where it is not known.
	Truth     *string       `json:"truth"`
	Court     *trial.Result `json:"court"`
	Candidate *trial.Result `json:"candidate"`
}

// NewBesideJSON states both trials of a case; nil where no candidate took part. Timings are left out.
func NewBesideJSON(t *trial.Trial) *BesideJSON {
	if t.Beside == nil {
		return nil
	}
	court, candidate := t.Result, t.Beside.Result
	court.Timings, candidate.Timings = nil, nil
	line := &BesideJSON{ID: t.Result.ID, Flips: t.Compare().BesideFlips, Court: &court, Candidate: &candidate}
	if t.Truth != nil && t.Truth.Classification != "" {
		line.Truth = &t.Truth.Classification
	}
	return line
}

package render

import (
	"errors"

	"github.com/shadowcourt/shadowcourt/host/trial"
)

// Writer takes trials one by one, in docket order. Close writes what comes at the end, and does not close what is below.
// Writers are not safe for concurrent use.
type Writer interface {
	Write(t *trial.Trial) error
	Close() error
}

// Summarizer is a Writer that writes a summary.
type Summarizer interface {
	Writer
	// Summary is what it has so far, for what no trial tells.
	Summary() *Summary
}

// AuditWriter takes audits one by one, in order, like Writer.
type AuditWriter interface {
	Write(a *trial.Audit) error
	Close() error
}

// Output redacts trials and hands them to several writers. It is the one way from the court to the outside: a writer
// behind it never sees what is redacted. It is a Writer itself.
type Output struct {
	redactor *Redactor
	writers  []Writer
}

// NewOutput stands before writers. The redactor may be nil.
func NewOutput(redactor *Redactor, writers ...Writer) *Output {
	return &Output{redactor, writers}
}

// Write hands the trial to every writer, even when one fails, and joins their errors.
func (o *Output) Write(t *trial.Trial) error {
	t = o.redactor.Trial(t)
	var problems []error
	for _, w := range o.writers {
		problems = append(problems, w.Write(t))
	}
	return errors.Join(problems...)
}

// Close closes every writer.
func (o *Output) Close() error {
	var problems []error
	for _, w := range o.writers {
		problems = append(problems, w.Close())
	}
	return errors.Join(problems...)
}

package render

import (
	"errors"
	"io"

	"github.com/shadowcourt/shadowcourt/host/trial"
)

// NewAuditJSONL writes one audit a line, each at once.
func NewAuditJSONL(w io.Writer) AuditWriter { return auditJSONL{w} }

type auditJSONL struct{ w io.Writer }

func (j auditJSONL) Write(a *trial.Audit) error {
	line, err := a.MarshalJSON()
	if err != nil {
		return err
	}
	_, err = j.w.Write(append(line, '\n'))
	return err
}

func (auditJSONL) Close() error { return nil }

// NewAuditJSON writes one object with `audits`, a list of the audits as JSONL has them.
func NewAuditJSON(w io.Writer) AuditWriter { return &auditJSON{w: w} }

type auditJSON struct {
	w     io.Writer
	begun bool
}

func (j *auditJSON) Write(a *trial.Audit) error {
	line, err := a.MarshalJSON()
	if err != nil {
		return err
	}
	lead := ",\n"
	if !j.begun {
		lead = "{\"audits\":[\n"
	}
	j.begun = true
	_, err = j.w.Write(append([]byte(lead), line...))
	return err
}

func (j *auditJSON) Close() error {
	end := "\n]}\n"
	if !j.begun {
		end = "{\"audits\":[]}\n"
	}
	_, err := io.WriteString(j.w, end)
	return err
}

// NewAuditOutput stands before writers and redacts what they get, as NewOutput does. The redactor may be nil.
func NewAuditOutput(redactor *Redactor, writers ...AuditWriter) AuditWriter {
	return &auditOutput{redactor, writers}
}

type auditOutput struct {
	redactor *Redactor
	writers  []AuditWriter
}

func (o *auditOutput) Write(a *trial.Audit) error {
	a = o.redactor.Audit(a)
	var problems []error
	for _, w := range o.writers {
		problems = append(problems, w.Write(a))
	}
	return errors.Join(problems...)
}

func (o *auditOutput) Close() error {
	var problems []error
	for _, w := range o.writers {
		problems = append(problems, w.Close())
	}
	return errors.Join(problems...)
}

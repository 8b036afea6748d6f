package render

import (
	"errors"
	"fmt"
	"regexp"

	"github.com/shadowcourt/shadowcourt/host/trial"
)

// Redacted stands where a redacted text stood.
const Redacted = "[redacted]"

// Redactor takes patterns out of everything that leaves a trial. Nil redacts nothing. Safe for concurrent use.
type Redactor struct {
	patterns []*regexp.Regexp
}

// NewRedactor compiles patterns (package regexp's syntax). A pattern that matches the empty text is rejected, since it
// would match everywhere. All bad patterns are reported together. Without patterns it gives nil.
func NewRedactor(patterns []string) (*Redactor, error) {
	if len(patterns) == 0 {
		return nil, nil //nolint:nilnil // a nil Redactor redacts nothing
	}
	r := &Redactor{}
	var problems []error
	for _, p := range patterns {
		re, err := regexp.Compile(p)
		switch {
		case err != nil:
			problems = append(problems, fmt.Errorf("redaction pattern %q: %w", p, err))
		case re.MatchString(""):
			problems = append(problems, fmt.Errorf("redaction pattern %q matches the empty text, so it would match everywhere", p))
		default:
			r.patterns = append(r.patterns, re)
		}
	}
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	return r, nil
}

// Text redacts a text, for messages and logs.
func (r *Redactor) Text(s string) string {
	if r == nil {
		return s
	}
	for _, re := range r.patterns {
		s = re.ReplaceAllLiteralString(s, Redacted)
	}
	return s
}

// Trial gives a redacted copy; the trial itself is not changed. Every string of it is redacted, keys of maps too, whatever
// fields it will get: only strings of a named type stay, since they are vocabulary (statuses, decisions, elements, codes)
// and not data. Map keys that become equal are numbered. The documents are left out, since no output shows them.
func (r *Redactor) Trial(t *trial.Trial) *trial.Trial {
	if r == nil {
		return t
	}
	m := textMap{text: r.Text, vocabulary: func(s string) string { return s }}
	return m.trial(t)
}

// Audit gives a redacted copy, as Trial does.
func (r *Redactor) Audit(a *trial.Audit) *trial.Audit {
	if r == nil {
		return a
	}
	m := textMap{text: r.Text, vocabulary: func(s string) string { return s }}
	return m.audit(a)
}

package render

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
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

// textMap makes a deep copy of a trial with all its texts changed. It uses reflection, so that no later field is forgotten.
type textMap struct {
	text       func(string) string // strings and keys of maps
	line       func(string) string // those that have one line, see isProse; nil: text
	vocabulary func(string) string // strings of a named type
}

// Sanitize gives a copy of the trial whose texts are all safe to display (see package sanitize), for a writer that lays
// text out itself. Names, references and subjects show line breaks as ␊, so that none begins a line of its own. The documents are left out.
func Sanitize(t *trial.Trial) *trial.Trial {
	m := textMap{text: sanitize.Block, line: sanitize.Line, vocabulary: sanitize.Line}
	return m.trial(t)
}

// SanitizeAudit does the same for an audit.
func SanitizeAudit(a *trial.Audit) *trial.Audit {
	m := textMap{text: sanitize.Block, line: sanitize.Line, vocabulary: sanitize.Line}
	return m.audit(a)
}

// isProse names the fields whose texts may have several lines. All others are names, references and the like: a field that is
// forgotten here shows its line breaks as ␊, which does no harm.
func isProse(field string) bool {
	switch field {
	case "Content", "Quote", "Text", "Excerpt", "Opinion", "Phrase", // of documents
		"Reasoning", "ProsecutionNarrative", "ProsecutionArgument", "DefenseRebuttal", "JudgeNotes", "Observation", "Challenge", "Argument",
		"Summary", "Dissent", "Standing", "Says", "Question", "Reason", "Why", "WhyNot", // of personas
		"Description", "SuggestedAction", "Detail", "Message", "Request", "Answer": // of the host and of definitions
		return true
	}
	return false
}

func (m *textMap) trial(t *trial.Trial) *trial.Trial {
	compared := t.Compare()
	from := *t
	from.Case.Documents, from.Members = nil, nil
	if from.Beside != nil {
		beside := *from.Beside
		beside.Case.Documents = nil
		from.Beside = &beside
	}
	out := &trial.Trial{}
	m.copy(reflect.ValueOf(out).Elem(), reflect.ValueOf(&from).Elem(), m.text)
	out.Compared = &compared
	return out
}

func (m *textMap) audit(a *trial.Audit) *trial.Audit {
	out := &trial.Audit{}
	m.copy(reflect.ValueOf(out).Elem(), reflect.ValueOf(a).Elem(), m.text)
	return out
}

var stringType = reflect.TypeFor[string]()

// copy puts a changed deep copy of from into to, which is zero. text changes its strings.
func (m *textMap) copy(to, from reflect.Value, text func(string) string) {
	switch from.Kind() {
	case reflect.String:
		to.SetString(m.function(from.Type(), text)(from.String()))
	case reflect.Struct:
		for i := range from.NumField() {
			own := m.text
			if m.line != nil && !isProse(from.Type().Field(i).Name) {
				own = m.line
			}
			m.copy(to.Field(i), from.Field(i), own)
		}
	case reflect.Pointer:
		if !from.IsNil() {
			to.Set(reflect.New(from.Type().Elem()))
			m.copy(to.Elem(), from.Elem(), text)
		}
	case reflect.Slice:
		if !from.IsNil() {
			to.Set(reflect.MakeSlice(from.Type(), from.Len(), from.Len()))
			for i := range from.Len() {
				m.copy(to.Index(i), from.Index(i), text)
			}
		}
	case reflect.Map:
		if !from.IsNil() {
			m.copyMap(to, from, text)
		}
	default:
		to.Set(from)
	}
}

func (m *textMap) function(t reflect.Type, text func(string) string) func(string) string {
	if t == stringType {
		return text
	}
	return m.vocabulary
}

func (m *textMap) copyMap(to, from reflect.Value, text func(string) string) {
	to.Set(reflect.MakeMapWithSize(from.Type(), from.Len()))
	keys := from.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
	for _, key := range keys {
		k := reflect.New(key.Type()).Elem()
		m.copy(k, key, text)
		for n, base := 2, k.String(); to.MapIndex(k).IsValid(); n++ {
			k = reflect.ValueOf(base + " " + strconv.Itoa(n)).Convert(key.Type())
		}
		v := reflect.New(from.Type().Elem()).Elem()
		m.copy(v, from.MapIndex(key), text)
		to.SetMapIndex(k, v)
	}
}

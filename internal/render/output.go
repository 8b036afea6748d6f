// Package render writes trials and audits: tables and explanations for terminals, JSON and JSON lines for programs, HTML and
// Markdown pages, and cases as a docket.
//
// A [Writer] takes trials one by one. [Output] hands each trial to several writers and redacts it before, so that no writer
// can forget to. Texts of cases and modules are untrusted: all writers sanitize them, see package sanitize.
package render

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
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
	summary, err := sanitize.EncodeJSON(j.summary, "")
	if err != nil {
		return err
	}
	return j.end(",\n\"summary\":" + string(sanitize.JSON(bytes.TrimSuffix(summary, []byte("\n")))))
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

// NewCases writes the cases that were tried as a docket, one a line and each at once, with what is known of their truth: to be tried again,
// corrected or fitted on. They stand as the modules saw them, so that the same words are found again, but without what the casebook said.
// It takes trials that are not redacted: a redacted one has lost its documents.
func NewCases(w io.Writer) Writer { return casesWriter{w} }

type casesWriter struct{ w io.Writer }

// caseLine is a case as a line of a docket.
type caseLine struct {
	ID        string         `json:"id"`
	Group     string         `json:"group,omitempty"`
	Subject   string         `json:"subject"`
	Labels    []string       `json:"labels"`
	Light     *lightLine     `json:"light,omitempty"`
	Evidence  []evidenceLine `json:"evidence"`
	Documents []documentLine `json:"documents"`
	Truth     *truthLine     `json:"truth,omitempty"`
}

type lightLine struct {
	Classification string  `json:"classification"`
	Confidence     float64 `json:"confidence"`
	Reasoning      string  `json:"reasoning"`
}

type evidenceLine struct {
	SourceRef           string      `json:"source_ref"`
	Content             string      `json:"content"`
	RelevanceConfidence float64     `json:"relevance_confidence"`
	Supports            string      `json:"supports,omitempty"`
	Element             abi.Element `json:"element,omitempty"`
}

type documentLine struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

type truthLine struct {
	Classification  string       `json:"classification,omitempty"`
	ExpectedVerdict abi.Decision `json:"expected_verdict,omitempty"`
}

func (c casesWriter) Write(t *trial.Trial) error {
	if err := c.write(&t.Case, t.Truth); err != nil {
		return err
	}
	for i := range t.Members {
		if err := c.write(&t.Members[i], nil); err != nil {
			return err
		}
	}
	return nil
}

func (c casesWriter) write(of *abi.Case, truth *trial.Truth) error {
	line := caseLine{
		ID: of.ID, Group: of.Group, Subject: of.Subject, Labels: of.Labels, Light: (*lightLine)(of.Light), Truth: (*truthLine)(truth),
		Evidence: make([]evidenceLine, 0, len(of.Evidence)), Documents: make([]documentLine, 0, len(of.Documents)),
	}
	for _, e := range of.Evidence {
		if abi.IsReserved(e.SourceRef) {
			continue // the host's own, which looks it up again
		}
		line.Evidence = append(line.Evidence, evidenceLine(e))
	}
	for _, d := range of.Documents {
		line.Documents = append(line.Documents, documentLine(d))
	}
	text, err := sanitize.EncodeJSON(line, "")
	if err != nil {
		return err
	}
	_, err = c.w.Write(text)
	return err
}

func (casesWriter) Close() error { return nil }

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
	return r.texts().trial(t)
}

// Audit gives a redacted copy, as Trial does.
func (r *Redactor) Audit(a *trial.Audit) *trial.Audit {
	if r == nil {
		return a
	}
	return r.texts().audit(a)
}

func (r *Redactor) texts() *textMap {
	return &textMap{text: r.Text, vocabulary: func(s string) string { return s }}
}

// textMap makes a deep copy of a trial with all its texts changed. It uses reflection, so that no later field is forgotten.
type textMap struct {
	text       func(string) string // strings and keys of maps
	line       func(string) string // those that have one line, see isProse; nil: text
	vocabulary func(string) string // strings of a named type
}

// Sanitize gives a copy of the trial whose texts are all safe to display (see package sanitize), for a writer that lays
// text out itself. Names, references and subjects show line breaks as ␊, so that none begins a line of its own. The documents are left out.
func Sanitize(t *trial.Trial) *trial.Trial { return safe.trial(t) }

var safe = &textMap{text: sanitize.Block, line: sanitize.Line, vocabulary: sanitize.Line}

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
		if from.Type() != stringType {
			text = m.vocabulary
		}
		to.SetString(text(from.String()))
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

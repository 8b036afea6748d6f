package docket

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket/internal/stream"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// caseReader reads one line into an Entry.
type caseReader struct {
	scanner
	entry         Entry
	documentBytes int
	cuts          []trial.DocumentCut
}

// readCase gives the entry of a line, or all that is wrong with it.
func readCase(line []byte, documentBytes int) (Entry, *abi.ValidationError) {
	r := caseReader{scanner: newScanner(line), documentBytes: documentBytes}
	if !r.read() {
		r.c.Add(CodeNotJSON, r.notJSON()+hint(line))
	} else if column, more := r.more(); more {
		r.c.Add(abi.CodeTrailingBytes, "something follows the case at column "+column+": a docket has one case a line")
	}
	return r.entry, invalidOf(r.c)
}

// hint helps with the two files that are most often taken for a docket.
func hint(line []byte) string {
	switch trimmed := bytes.TrimSpace(line); {
	case bytes.Equal(trimmed, []byte("{")), bytes.Equal(trimmed, []byte("[")):
		return "; a docket has one whole case a line, so JSON that is laid out over lines must be joined first (jq -c)"
	}
	return ""
}

func (r *caseReader) read() bool {
	c := &r.entry.Case
	c.Labels, c.Evidence, c.Documents = []string{}, []abi.Evidence{}, []abi.Document{}
	ok := r.object("a case", []field{
		{"id", true, func() bool { return r.str(&c.ID, true) }},
		{"group", false, func() bool { return r.str(&c.Group, false) }},
		{"subject", true, func() bool { return r.str(&c.Subject, false) }},
		{"labels", true, r.labels},
		{"light", false, r.light},
		{"evidence", true, r.evidence},
		{"documents", true, r.documents},
		{"truth", false, r.truth},
	})
	if ok {
		r.rules()
	}
	return ok
}

func (r *caseReader) labels() bool {
	c := &r.entry.Case
	mark, n := r.c.Mark(), 0
	ok := r.list(func(i int) bool {
		var label string
		ok := r.str(&label, false) // the case's rules reject an empty one
		if n = i + 1; n <= MaxLabels {
			c.Labels = append(c.Labels, label)
		}
		return ok
	})
	switch {
	case !ok, n == 0 && r.c.Mark() > mark: // no list
	case n < 2: // what is no label may be the one that lacks
		r.c.Reject(abi.CodeBadCount, "has "+labelCount(n)+", at least 2 are needed")
	case n > MaxLabels:
		r.c.Reject(abi.CodeBadCount, "has "+strconv.Itoa(n)+" labels, at most "+strconv.Itoa(MaxLabels)+" are allowed")
	}
	return ok
}

func labelCount(n int) string {
	if n == 1 {
		return "1 label"
	}
	return strconv.Itoa(n) + " labels"
}

func (r *caseReader) light() bool {
	l := new(abi.LightAnswer)
	r.entry.Case.Light = l
	return r.object("light", []field{
		{"classification", true, func() bool { return r.str(&l.Classification, true) }},
		{"confidence", true, func() bool { return r.unit(&l.Confidence) }},
		{"reasoning", true, func() bool { return r.str(&l.Reasoning, false) }},
	})
}

func (r *caseReader) evidence() bool {
	c := &r.entry.Case
	var e abi.Evidence
	fields := []field{
		{"source_ref", true, func() bool { return r.str(&e.SourceRef, true) }},
		{"content", true, func() bool { return r.str(&e.Content, false) }},
		{"relevance_confidence", true, func() bool { return r.unit(&e.RelevanceConfidence) }},
		{"supports", false, func() bool { return r.str(&e.Supports, false) }},
		{"element", false, func() bool { return r.element(&e.Element) }},
	}
	return r.list(func(int) bool {
		e = abi.Evidence{}
		ok := r.object("evidence", fields)
		if r.c.Mark() < abi.MaxProblems {
			c.Evidence = append(c.Evidence, e)
		}
		return ok
	})
}

func (r *caseReader) element(into *abi.Element) bool {
	return oneOf(r, into, "element", "", abi.Fire, abi.Water, abi.Earth, abi.Air, abi.Diamond, abi.Lightning)
}

// oneOf reads a string that is one of a few; what names what they are.
func oneOf[T ~string](r *caseReader, into *T, what string, words ...T) bool {
	mark := r.c.Mark()
	var word string
	ok := r.str(&word, false)
	*into = T(word)
	if r.c.Mark() == mark && !slices.Contains(words, T(word)) {
		var known []string
		for _, w := range words {
			if w != "" {
				known = append(known, string(w))
			}
		}
		r.c.Reject(abi.CodeInvalidValue, strconv.Quote(shorten(word))+" is no "+what+" ("+strings.Join(known, ", ")+")")
	}
	return ok
}

func (r *caseReader) documents() bool {
	c := &r.entry.Case
	var d abi.Document
	fields := []field{
		{"name", true, func() bool { return r.str(&d.Name, true) }},
		{"text", true, func() bool { return r.str(&d.Text, false) }},
	}
	mark, n := r.c.Mark(), 0
	ok := r.list(func(i int) bool {
		d = abi.Document{}
		ok := r.object("a document", fields)
		if n = i + 1; n <= MaxDocuments {
			c.Documents = append(c.Documents, d)
		}
		return ok
	})
	if ok && n > MaxDocuments {
		r.c.Add(abi.CodeBadCount, "has "+strconv.Itoa(n)+" documents, at most "+strconv.Itoa(MaxDocuments)+" are allowed")
	}
	if ok && r.c.Mark() == mark {
		r.cuts = CutDocuments(c.Documents, r.documentBytes, abi.DefaultCaseDocumentBytes)
	}
	return ok
}

func (r *caseReader) truth() bool {
	var t trial.Truth
	mark := r.c.Mark()
	ok := r.object("truth", []field{
		{"classification", false, func() bool { return r.str(&t.Classification, false) }},
		{"expected_verdict", false, func() bool {
			return oneOf(r, &t.ExpectedVerdict, "verdict", "", abi.Affirm, abi.Amend, abi.Acquit, abi.Remand, abi.Mistrial)
		}},
	})
	if ok && t == (trial.Truth{}) && r.c.Mark() == mark {
		r.c.Add(abi.CodeEmpty, "states neither a classification nor an expected verdict")
		return true
	}
	r.entry.Truth = &t
	return ok
}

// rules checks the rules of a case, as far as what they compare was read.
func (r *caseReader) rules() {
	if !r.c.Since(0) {
		return
	}
	r.entry.Case.Rules(r.c)
	abi.CheckSubmitted(&r.entry.Case, r.c)
	t, labels := r.entry.Truth, r.entry.Case.Labels
	if t == nil || t.Classification == "" || abi.IsLabel(labels, t.Classification) {
		return
	}
	if r.c.Whole(abi.Field("labels")) && r.c.Sound(abi.Field("truth"), abi.Field("classification")) {
		r.c.Add(abi.CodeNotALabel, strconv.Quote(shorten(t.Classification))+" is no label of the case", abi.Field("truth"), abi.Field("classification"))
	}
}

// LightLine is an answer for Light, as a program writes it on a line.
type LightLine struct {
	// ID of the case that is answered; empty where the line does not say.
	ID       string
	Answer   abi.LightAnswer
	Evidence []abi.Evidence
	Remand   *abi.RemandAnswer // nil where the line has none
}

// ParseLightLine reads a line as strictly as that of a docket. The error is an *abi.ValidationError with all problems.
// Labels, indexes and the ids of questions are not checked here: they are the court's to check.
func ParseLightLine(line []byte) (LightLine, error) {
	r := lightReader{caseReader: caseReader{scanner: newScanner(line)}}
	if !r.read() {
		r.c.Add(CodeNotJSON, r.notJSON())
	} else if column, more := r.more(); more {
		r.c.Add(abi.CodeTrailingBytes, "something follows the answer at column "+column+": an answer is one object")
	}
	return r.line, r.c.Err()
}

type lightReader struct {
	caseReader
	line LightLine
}

func (r *lightReader) read() bool {
	l := &r.line
	return r.object("an answer", []field{
		{"id", false, func() bool { return r.str(&l.ID, true) }},
		{"classification", true, func() bool { return r.str(&l.Answer.Classification, true) }},
		{"confidence", true, func() bool { return r.unit(&l.Answer.Confidence) }},
		{"reasoning", true, func() bool { return r.str(&l.Answer.Reasoning, false) }},
		{"evidence", false, func() bool { return r.items(&l.Evidence) }},
		{"remand", false, r.remand},
	})
}

// items reads evidence as that of a case.
func (r *lightReader) items(into *[]abi.Evidence) bool {
	r.entry.Case.Evidence = nil
	ok := r.evidence()
	*into = r.entry.Case.Evidence
	return ok
}

func (r *lightReader) remand() bool {
	var a abi.RemandAnswer
	var reply abi.RemandReply
	var challenged abi.ChallengedReply
	ok := r.object("remand", []field{
		{"answers", true, func() bool {
			return r.list(func(int) bool {
				reply = abi.RemandReply{}
				ok := r.reply(&reply)
				a.Answers = append(a.Answers, reply)
				return ok
			})
		}},
		{"challenged", true, func() bool {
			return r.list(func(int) bool {
				challenged = abi.ChallengedReply{}
				ok := r.challenged(&challenged)
				a.Challenged = append(a.Challenged, challenged)
				return ok
			})
		}},
	})
	r.line.Remand = &a
	return ok
}

func (r *lightReader) reply(into *abi.RemandReply) bool {
	return r.object("an answer to a question", []field{
		{"question_id", true, func() bool { return r.str(&into.QuestionID, true) }},
		{"status", true, func() bool {
			return oneOf(&r.caseReader, &into.Status, "status", abi.Found, abi.NotFound, abi.Withdrawn)
		}},
		{"evidence", true, func() bool { return r.items(&into.Evidence) }},
	})
}

func (r *lightReader) challenged(into *abi.ChallengedReply) bool {
	return r.object("a reply about an item", []field{
		{"evidence_index", true, func() bool { return r.index(&into.EvidenceIndex) }},
		{"status", true, func() bool { return oneOf(&r.caseReader, &into.Status, "status", abi.ItemStands, abi.ItemWithdrawn) }},
	})
}

// index reads a whole number that is not negative.
func (r *lightReader) index(into *int) bool {
	return r.number(func(literal string) {
		n, err := strconv.ParseUint(literal, 10, 31)
		if err != nil {
			r.c.Reject(abi.CodeOutOfRange, shorten(literal)+" is no index: a whole number from 0")
			return
		}
		*into = int(n)
	})
}

// maxShown is how much of a value a message shows.
const maxShown = 60

// scanner walks one JSON text strictly (RFC 8259), and finds all that is wrong with it at once. The standard library's decoder can't be
// used: it replaces invalid UTF-8 and lone surrogates, takes the last of two equal keys and matches keys in any case.
//
// Methods return false once the text is no JSON; what is wrong with it is then in syntax. Whatever is JSON but not what
// was asked for goes to the collector, and the scan goes on behind the value.
type scanner struct {
	json   []byte
	in     *jsontext.Decoder
	syntax *stream.TextError
	c      *abi.Collector
}

func newScanner(text []byte) scanner {
	// What is allowed here is rejected by the scanner, which goes on behind it.
	in := jsontext.NewDecoder(bytes.NewBuffer(text), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	return scanner{json: text, in: in, c: &abi.Collector{}}
}

// fine notes the error of a text that is no JSON.
func (s *scanner) fine(err error) bool {
	if err != nil && s.syntax == nil {
		s.syntax = stream.JSONFault(err, s.json, 0)
	}
	return err == nil
}

// token reads the beginning or the end of an object or a list.
func (s *scanner) token() bool {
	_, err := s.in.ReadToken()
	return s.fine(err)
}

// notJSON is the problem of a text that is no JSON.
func (s *scanner) notJSON() string {
	s.syntax.Code = CodeNotJSON
	return s.syntax.Error()
}

// more says that something follows the text, and at which column.
func (s *scanner) more() (column string, more bool) {
	rest := bytes.TrimLeft(s.json[s.in.InputOffset():], " \t\r\n")
	_, at := stream.Place(s.json[:len(s.json)-len(rest)])
	return strconv.Itoa(at), len(rest) > 0
}

// field is one field of an object: how to read its value.
type field struct {
	name     string
	required bool
	read     func() bool
}

// object reads an object's fields. what names the object in messages, such as "a case".
func (s *scanner) object(what string, fields []field) bool {
	if s.in.PeekKind() != '{' {
		return s.wrongType("an object")
	}
	var seen uint64
	ok := s.members(func(key string) bool {
		i := slices.IndexFunc(fields, func(f field) bool { return f.name == key })
		if i < 0 {
			s.c.Add(abi.CodeUnknownField, "is no field of "+what, step(key))
			return s.skip()
		}
		if seen&(1<<i) != 0 {
			s.c.Reject(abi.CodeDuplicateKey, "occurs twice", step(key))
			return s.skip()
		}
		seen |= 1 << i
		mark := s.c.Mark()
		if !fields[i].read() {
			return false
		}
		s.c.Nest(mark, abi.Field(key))
		return true
	})
	if !ok {
		return false
	}
	for i, f := range fields {
		if f.required && seen&(1<<i) == 0 {
			s.c.Reject(abi.CodeMissingField, "is missing", abi.Field(f.name))
		}
	}
	return true
}

// members walks an object, calling value behind each key.
func (s *scanner) members(value func(key string) bool) bool {
	if !s.token() {
		return false
	}
	for s.in.PeekKind() != '}' {
		if key, ok := s.text(); !ok || !value(key) {
			return false
		}
	}
	return s.token()
}

// list walks an array, calling element at each; problems found there get the index.
func (s *scanner) list(element func(i int) bool) bool {
	if s.in.PeekKind() != '[' {
		return s.wrongType("a list")
	}
	if !s.token() {
		return false
	}
	for i := 0; s.in.PeekKind() != ']'; i++ {
		mark := s.c.Mark()
		if !element(i) {
			return false
		}
		s.c.Nest(mark, abi.Index(i))
	}
	return s.token()
}

// text reads a string.
func (s *scanner) text() (string, bool) {
	value, err := s.in.ReadValue()
	if !s.fine(err) {
		return "", false
	}
	valid := utf8.Valid(value)
	text, err := jsontext.AppendUnquote(nil, value)
	switch {
	case !valid:
		s.c.Reject(abi.CodeInvalidUTF8, "is no valid UTF-8")
	case err != nil:
		s.c.Reject(abi.CodeInvalidUTF8, "holds a lone surrogate")
	}
	return string(text), true
}

// str reads a string; nonempty rejects "".
func (s *scanner) str(into *string, nonempty bool) bool {
	if s.in.PeekKind() != '"' {
		return s.wrongType("a string")
	}
	text, ok := s.text()
	if ok && nonempty && text == "" {
		s.c.Reject(abi.CodeEmpty, "is empty")
	}
	*into = text
	return ok
}

// number reads a number and hands it on as it is written.
func (s *scanner) number(take func(literal string)) bool {
	if s.in.PeekKind() != '0' {
		return s.wrongType("a number")
	}
	literal, err := s.in.ReadToken()
	if err == nil {
		take(literal.String())
	}
	return s.fine(err)
}

// unit reads a number in [0, 1].
func (s *scanner) unit(into *float64) bool {
	return s.number(func(literal string) {
		v, err := strconv.ParseFloat(literal, 64)
		if err != nil || v < 0 || v > 1 {
			s.c.Reject(abi.CodeOutOfRange, shorten(literal)+" is outside [0, 1]")
			return
		}
		*into = v + 0 // -0 becomes 0
	})
}

// skip passes over any value.
func (s *scanner) skip() bool { return s.fine(s.in.SkipValue()) }

// wrongType notes that the next value is none of the expected type, and passes over it.
func (s *scanner) wrongType(expected string) bool {
	is := stream.KindOf(s.in.PeekKind())
	switch {
	case !s.skip():
		return false
	case is == "null":
		s.c.Reject(abi.CodeNil, "is null, expected "+expected+": leave out what is not there")
	default:
		s.c.Reject(abi.CodeWrongType, "is "+is+", expected "+expected)
	}
	return true
}

// step is the path element of a key that somebody else chose.
func step(key string) abi.PathElement {
	for i := range len(key) {
		b := key[i]
		if b != '_' && (b < '0' || b > '9') && (b < 'a' || b > 'z') && (b < 'A' || b > 'Z') {
			return abi.Key(shorten(key))
		}
	}
	if key == "" || len(key) > maxShown {
		return abi.Key(shorten(key))
	}
	return abi.Field(key)
}

// shorten keeps a value's beginning for a message.
func shorten(s string) string {
	if len(s) <= maxShown {
		return s
	}
	end := maxShown
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + "..."
}

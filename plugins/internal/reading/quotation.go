package reading

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Quotation is what a statement has between quotation marks or backticks.
type Quotation struct {
	// Text as it stands between the marks.
	Text string
	// Key is the text folded, without the signs at either end: it is looked up, and tells quotations apart.
	Key string
	// Name: it has too few words to be more than a name or a term. One that stands somewhere tells what is spoken of; one that doesn't says
	// nothing.
	Name bool
}

const (
	// minQuote is the shortest quotation, in bytes, that tells one item from another; minQuotedWords make one that is no name or term.
	minQuote, minQuotedWords = 8, 3
	// MaxQuotations of an opinion are looked up, the first ones.
	MaxQuotations = 64
)

func newQuotation(text string) Quotation {
	key := strings.Trim(strings.ReplaceAll(Fold(text), "…", "..."), " ,.;:!?'")
	return Quotation{Text: strings.TrimSpace(text), Key: key, Name: len(strings.Fields(key)) < minQuotedWords}
}

// StandsIn says whether all parts of the quotation between ellipses stand in a folded text, and in which of its bytes: from the first part
// to the last.
func (q *Quotation) StandsIn(folded string) (from, to int, ok bool) {
	for part := range strings.SplitSeq(q.Key, "...") {
		part = strings.Trim(part, " ,.;:!?'[]")
		at := strings.Index(folded[to:], part)
		if at < 0 {
			return 0, 0, false
		}
		if to == 0 {
			from = at
		}
		to += at + len(part)
	}
	return from, to, to > 0
}

// opens says whether a quotation begins at s[at:], and behind which byte it ends.
func opens(s string, at int, c rune) (end int, ok bool) {
	var closing string
	switch c {
	case '"', '`':
		closing = string(c)
	case '“':
		closing = "”"
	default:
		return 0, false
	}
	from := at + utf8.RuneLen(c)
	i := strings.Index(s[from:], closing)
	return from + i + len(closing), i >= 0
}

// Unquoted is a text with a sign in place of each quotation that leave does not want left.
func Unquoted(s string, leave func(q *Quotation) bool) string {
	if !strings.ContainsAny(s, "\"`“") {
		return s
	}
	var b strings.Builder
	until := 0
	for i, c := range s {
		if i < until {
			continue
		}
		end, ok := opens(s, i, c)
		if !ok || strings.Contains(s[i:end], "\n\n") {
			b.WriteRune(c)
			continue
		}
		_, last := utf8.DecodeLastRuneInString(s[:end])
		if q := newQuotation(s[i+utf8.RuneLen(c) : end-last]); leave(&q) {
			b.WriteString(s[i:end])
		} else {
			b.WriteString(`""`)
		}
		until = end
	}
	return b.String()
}

// LookedUp are the quotations of statements that are looked up, each once, by their key.
func LookedUp(statements []Statement) map[string]bool {
	keys := make(map[string]bool)
	for i := range statements {
		for _, q := range statements[i].Quotations {
			if len(keys) < MaxQuotations {
				keys[q.Key] = true
			}
		}
	}
	return keys
}

// Fold gives a text in which words are looked up: small letters, one space for each run of white space, one shape of quotation marks.
func Fold(s string) string {
	folded, _ := fold(s, len(s))
	return string(folded)
}

// fold gives the first bytes of the folded text, and where the last of them stands in the text.
func fold(s string, most int) (out []byte, at int) {
	out = make([]byte, 0, most)
	space := false
	for i := 0; i < len(s) && len(out) < most; i++ {
		c := s[i]
		switch {
		case c == ' ' || c >= '\t' && c <= '\r':
			space = true
			continue
		case c >= 'A' && c <= 'Z':
			c += 'a' - 'A'
		case c == '"' || c == '`':
			c = '\''
		}
		if space && len(out) > 0 {
			if out = append(out, ' '); len(out) == most {
				return out, i - 1
			}
		}
		out, at, space = append(out, c), i, false
	}
	return out, at
}

// Document is a text folded, which knows where its parts stand.
type Document struct {
	Folded string
	text   string
	lines  []line
}

// line is where a line begins, folded and in the text.
type line struct{ folded, text int }

// FoldDocument folds a document.
func FoldDocument(s string) *Document {
	d := &Document{text: s}
	var b strings.Builder
	b.Grow(len(s))
	at := 0
	for text := range strings.Lines(s) {
		if folded := Fold(text); folded != "" {
			if b.Len() > 0 {
				b.WriteByte(' ')
			}
			d.lines = append(d.lines, line{b.Len(), at})
			b.WriteString(folded)
		}
		at += len(text)
	}
	d.Folded = b.String()
	return d
}

// Span says which part of the text became [from, to) of Folded.
func (d *Document) Span(from, to int) (start, end int) { return d.unfold(from), d.unfold(to-1) + 1 }

// unfold is where the byte stands that became Folded[at].
func (d *Document) unfold(at int) int {
	i, found := slices.BinarySearchFunc(d.lines, at, func(l line, at int) int { return l.folded - at })
	if !found {
		i = max(0, i-1)
	}
	_, place := fold(d.text[d.lines[i].text:], at-d.lines[i].folded+1)
	return d.lines[i].text + place
}

// figure is a token with a digit, and what it is a figure of.
type figure struct {
	text    string // in small letters, without the signs around it
	numeric bool
	value   float64
	unit    string // letters behind the number
	of      string // the unit, or the word behind it
	about   string // the word before it
	near    bool   // "about", "nearly", ...
}

// maxFigures of a text are compared.
const maxFigures = 64

// approximate words say that a figure is no exact one.
var approximate = set("about around roughly nearly almost approximately circa some over under than least most up ~")

// figures are the figures of a text, in order.
func figures(text string) []figure {
	if !strings.ContainsAny(text, "0123456789") {
		return nil
	}
	tokens := strings.FieldsFunc(text, func(c rune) bool { return unicode.IsSpace(c) || c == '=' || c == '|' })
	for i := range tokens {
		tokens[i] = strings.ToLower(strings.Trim(tokens[i], "()[]{}<>,;:!?\"'`.*“”"))
	}
	var list []figure
	for i, token := range tokens {
		if !hasDigit(token) || len(list) == maxFigures {
			continue
		}
		f := newFigure(token)
		f.near = i > 0 && approximate[tokens[i-1]]
		for k := i + 1; k < min(len(tokens), i+4) && f.of == "" && (digits(tokens[k]) == "" || tokens[k-1] == "of"); k++ {
			f.of = content(tokens[k]) // what stands behind the next figure is of that one
		}
		for k := i - 1; k >= max(0, i-3) && f.about == "" && digits(tokens[k]) == ""; k-- {
			f.about = content(tokens[k])
		}
		list = append(list, f)
	}
	return list
}

func hasDigit(s string) bool { return strings.ContainsAny(s, "0123456789") }

// newFigure reads "30", "1,250" and "0.75s".
func newFigure(token string) figure {
	number := strings.TrimRightFunc(token, func(c rune) bool { return unicode.IsLetter(c) || c == '%' })
	value, err := strconv.ParseFloat(strings.ReplaceAll(strings.ReplaceAll(number, ",", ""), "_", ""), 64)
	if err != nil || math.IsInf(value, 0) || math.IsNaN(value) {
		return figure{text: token}
	}
	unit := token[len(number):]
	return figure{text: token, numeric: true, value: value, unit: unit, of: unit}
}

// content gives the word of a token if it says something; it is none if it has a digit.
func content(token string) string {
	if hasDigit(token) || common[token] || len(token) < 3 && token != "s" && token != "ms" && token != "%" {
		return ""
	}
	return singular(strings.TrimFunc(token, func(c rune) bool { return !unicode.IsLetter(c) && c != '%' && c != '_' }))
}

func singular(word string) string {
	if len(word) > 3 && strings.HasSuffix(word, "s") && !strings.HasSuffix(word, "ss") {
		return word[:len(word)-1]
	}
	return word
}

// equals says whether two figures are the same, as numbers or else as they stand. A time may leave out its seconds.
func (f *figure) equals(other *figure) bool {
	switch {
	case !f.numeric || !other.numeric:
		return f.text == other.text || strings.ContainsAny(f.text, ":-/T") && len(f.text) >= 4 && strings.Contains(other.text, f.text)
	case f.unit != "" && other.unit != "" && f.unit != other.unit:
		return false
	case f.near:
		return math.Abs(f.value-other.value) <= math.Abs(other.value)/10
	}
	return f.value == other.value
}

// among says whether one of a list is the same.
func (f *figure) among(list []figure) bool {
	return slices.ContainsFunc(list, func(other figure) bool { return f.equals(&other) })
}

// alike says whether two figures are of the same thing, as far as the words beside them tell.
func (f figure) alike(other figure) bool {
	return f.numeric == other.numeric && f.of != "" && f.of == other.of
}

// ordinal words stand before figures that count or name, and measure nothing.
var ordinal = set("item round line step section paragraph page exhibit figure table chapter article no number time")

// figures of a statement that the evidence must bear out: outside of quotations, and neither places in documents nor how sure somebody is.
func (s *Statement) figures() []figure {
	if s.read {
		return s.figured
	}
	s.read = true
	_, sure := s.stated()
	for _, f := range figures(s.Outside) {
		if !ordinal[f.about] && (!ordinal[f.of] || f.of == "time") && !proceedings[f.of] && f.text != sure && !place(f.text) {
			s.figured = append(s.figured, f)
		}
	}
	return s.figured
}

// place says whether a token is a place in a document: log:L3, L3, log#12.
func place(token string) bool {
	i := strings.LastIndexAny(token, ":#")
	rest := token[i+1:]
	if strings.HasPrefix(rest, "l") {
		return digits(rest[1:]) != ""
	}
	return i > 0 && digits(rest) == rest && !hasDigit(token[i-1:i])
}

package reading

import (
	"slices"
	"strings"
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

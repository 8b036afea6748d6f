package reading

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Quotation is what a statement has between quotation marks or backticks.
type Quotation struct {
	// Text as it stands between the marks.
	Text string
	// Parts to look up: folded, without the signs at either end, those between ellipses.
	Parts []string
	// Name: it has too few words to be more than a name or a term. One that
	// stands somewhere tells what is spoken of; one that doesn't says nothing.
	Name bool
}

// Key is by what a quotation is recognised.
func (q *Quotation) Key() string { return strings.Join(q.Parts, " ... ") }

const (
	// minQuote is the shortest quotation, in bytes, that tells one item from another.
	minQuote = 8
	// minQuotedWords make a quotation; fewer are a name or a term. Of a script
	// that doesn't part words it takes minQuotedSigns.
	minQuotedWords, minQuotedSigns = 3, 6
	// MaxQuotations of an opinion are looked up, the first ones.
	MaxQuotations = 64
)

func newQuotation(text string) (q Quotation, ok bool) {
	q.Text = text
	words, signs := 0, 0
	for part := range strings.SplitSeq(strings.ReplaceAll(Fold(text), "[...]", "..."), "...") {
		part = strings.Trim(part, " ,.;:!?'。，")
		if len(part) == 0 {
			continue
		}
		words += len(strings.Fields(part))
		for _, c := range part {
			if unparted(c) {
				signs++
			}
		}
		q.Parts = append(q.Parts, part)
	}
	q.Name = words < minQuotedWords && signs < minQuotedSigns
	return q, len(q.Key()) >= minQuote || !q.Name
}

// unparted says whether a character is of a script that doesn't part words.
func unparted(c rune) bool {
	return c >= 0x3040 && unicode.In(c, unicode.Han, unicode.Hiragana, unicode.Katakana)
}

// StandsIn says whether all parts of the quotation stand in a folded text, and in which
// of its bytes: from the first part to the last.
func (q *Quotation) StandsIn(folded string) (from, to int, ok bool) {
	for i, part := range q.Parts {
		at := strings.Index(folded[to:], part)
		if at < 0 {
			return 0, 0, false
		}
		if i == 0 {
			from = at
		}
		to += at + len(part)
	}
	return from, to, to > 0
}

// marks of quotation: what opens one, and what closes it.
const opening = "\"`“„«»「『‹"

func closes(open, c rune) bool {
	switch open {
	case '"', '`':
		return c == open
	case '“':
		return c == '”'
	case '„':
		return c == '“' || c == '”'
	case '«':
		return c == '»'
	case '»':
		return c == '«'
	case '「':
		return c == '」'
	case '『':
		return c == '』'
	case '‹':
		return c == '›'
	default:
		return false
	}
}

// opens says whether a quotation begins at s[at:], and behind which byte it ends.
// A mark behind a letter or a digit opens none: 5" is a size.
func opens(s string, at int, c rune) (end int, ok bool) {
	if c < 0x80 && c != '"' && c != '`' || !strings.ContainsRune(opening, c) {
		return 0, false
	}
	if before, _ := utf8.DecodeLastRuneInString(s[:at]); c == '"' && (unicode.IsDigit(before) || unicode.IsLetter(before) && !unparted(before)) {
		return 0, false
	}
	from := at + utf8.RuneLen(c)
	for i, other := range s[from:] {
		if closes(c, other) {
			return from + i + utf8.RuneLen(other), true
		}
	}
	return 0, false
}

// parted parts a sentence into its quotations and what is left, in which a
// sign stands for each of them.
func parted(s string) (outside string, quotes []string) {
	if !strings.ContainsAny(s, opening) {
		return s, nil
	}
	var b strings.Builder
	until := 0
	for i, c := range s {
		if i < until {
			continue
		}
		end, ok := opens(s, i, c)
		if !ok {
			b.WriteRune(c)
			continue
		}
		until = end
		_, last := utf8.DecodeLastRuneInString(s[:end])
		if quote := strings.TrimSpace(s[i+utf8.RuneLen(c) : end-last]); quote != "" {
			quotes = append(quotes, quote)
		}
		b.WriteString(`""`)
	}
	return b.String(), quotes
}

// Unquoted is a text with a sign in place of each quotation for which leave says so.
func Unquoted(s string, leave func(q *Quotation) bool) string {
	if !strings.ContainsAny(s, opening) {
		return s
	}
	var b strings.Builder
	until := 0
	for i, c := range s {
		if i < until {
			continue
		}
		end, ok := opens(s, i, c)
		if !ok || strings.ContainsRune(s[i:end], '\n') && strings.Contains(s[i:end], "\n\n") {
			b.WriteRune(c)
			continue
		}
		_, last := utf8.DecodeLastRuneInString(s[:end])
		if q, _ := newQuotation(s[i+utf8.RuneLen(c) : end-last]); len(q.Parts) == 0 || leave(&q) {
			b.WriteString(s[i:end])
		} else {
			b.WriteString(`""`)
		}
		until = end
	}
	return b.String()
}

// LookedUp are the quotations of statements that are looked up, each once, by
// their key.
func LookedUp(statements []Statement) map[string]bool {
	keys := make(map[string]bool)
	for i := range statements {
		for j := range statements[i].Quotations {
			if key := statements[i].Quotations[j].Key(); !keys[key] && len(keys) < MaxQuotations {
				keys[key] = true
			}
		}
	}
	return keys
}

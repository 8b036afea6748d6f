package reading

import (
	"slices"
	"strings"
	"unicode"
)

// Fold gives a text in which words are looked up: small letters, one space for
// each run of white space, one shape of quotation marks and of dashes.
func Fold(s string) string {
	if out, ok := foldASCII(s); ok {
		return out
	}
	var b strings.Builder
	b.Grow(len(s))
	foldTo(s, func(_ int, folded string) bool {
		b.WriteString(folded)
		return true
	})
	return b.String()
}

// foldASCII folds what nearly every text is, byte by byte.
func foldASCII(s string) (string, bool) {
	out := make([]byte, 0, len(s))
	space := false
	for i := range len(s) {
		c := s[i]
		switch {
		case c >= 0x80:
			return "", false
		case c == ' ' || c >= '\t' && c <= '\r':
			space = true
			continue
		case c >= 'A' && c <= 'Z':
			c += 'a' - 'A'
		case c == '"' || c == '`':
			c = '\''
		}
		if space && len(out) > 0 {
			out = append(out, ' ')
		}
		space = false
		out = append(out, c)
	}
	return string(out), true
}

// Document is a text folded, which knows where its parts stand.
type Document struct {
	Folded string
	text   string
	marks  []mark // of chunks, in order
}

// mark is where a chunk begins, folded and in the text.
type mark struct{ folded, text int }

// chunkBytes at least are folded at a time, up to the end of a line.
const chunkBytes = 4096

// FoldDocument folds a document.
func FoldDocument(s string) *Document {
	d := &Document{text: s}
	var b strings.Builder
	b.Grow(len(s))
	for at := 0; at < len(s); {
		end := min(at+chunkBytes, len(s))
		if i := strings.IndexByte(s[end:], '\n'); i >= 0 {
			end += i + 1
		} else {
			end = len(s)
		}
		if folded := Fold(s[at:end]); folded != "" {
			if b.Len() > 0 {
				b.WriteByte(' ')
			}
			d.marks = append(d.marks, mark{b.Len(), at})
			b.WriteString(folded)
		}
		at = end
	}
	d.Folded = b.String()
	return d
}

// Span says which part of the text became [from, to) of Folded, without white
// space at its end.
func (d *Document) Span(from, to int) (start, end int) {
	i, j := d.chunk(from), d.chunk(to-1)
	start, _ = Unfold(d.text[d.marks[i].text:d.after(i)], from-d.marks[i].folded, to-d.marks[i].folded)
	_, end = Unfold(d.text[d.marks[j].text:d.after(j)], max(0, from-d.marks[j].folded), to-d.marks[j].folded)
	start, end = start+d.marks[i].text, end+d.marks[j].text
	return start, start + len(strings.TrimSpace(d.text[start:end]))
}

// chunk is the last that begins no later.
func (d *Document) chunk(folded int) int {
	i, found := slices.BinarySearchFunc(d.marks, folded, func(m mark, at int) int { return m.folded - at })
	if found {
		return i
	}
	return max(0, i-1)
}

// after is where chunk i ends.
func (d *Document) after(i int) int {
	if i+1 < len(d.marks) {
		return d.marks[i+1].text
	}
	return len(d.text)
}

// Unfold says which part of a text became [from, to) of its [Fold].
func Unfold(s string, from, to int) (start, end int) {
	start, end = -1, len(s)
	at := 0
	foldTo(s, func(i int, folded string) bool {
		if start < 0 && at+len(folded) > from {
			start = i
		}
		if at >= to {
			end = i
			return false
		}
		at += len(folded)
		return true
	})
	return max(start, 0), end
}

// foldTo calls put for each character that is left, with where it came from.
func foldTo(s string, put func(at int, folded string) bool) {
	gap, first := 0, true
	space := false
	for i, c := range s {
		if unicode.IsSpace(c) {
			if !space {
				space, gap = true, i
			}
			continue
		}
		folded := foldRune(c)
		if folded == "" {
			continue
		}
		if space && !first && !put(gap, " ") {
			return
		}
		space, first = false, false
		if !put(i, folded) {
			return
		}
	}
}

// ascii holds the small letters of one byte.
var ascii = asciiTable()

func asciiTable() (table [0x80]string) {
	for i := range table {
		c := rune(i)
		if c == '"' || c == '`' {
			c = '\''
		}
		table[i] = string(unicode.ToLower(c))
	}
	return table
}

func foldRune(c rune) string {
	switch {
	case c < 0x80:
		return ascii[c]
	case c >= 0x200b && c <= 0x200f || c == 0xfeff || c == 0xad:
		return "" // without width
	case c >= 0x2018 && c <= 0x201f || c == '«' || c == '»' || c == '‹' || c == '›' || c >= '「' && c <= '』':
		return "'"
	case c >= 0x2010 && c <= 0x2015 || c == 0x2212:
		return "-"
	case c == '…':
		return "..."
	default:
		return string(unicode.ToLower(c))
	}
}

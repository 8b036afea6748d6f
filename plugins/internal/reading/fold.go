package reading

import (
	"strings"
	"unicode"
)

// Fold gives a text in which words are looked up: small letters, one space for
// each run of white space, one shape of quotation marks and of dashes.
func Fold(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	foldTo(s, func(_ int, folded string) bool {
		b.WriteString(folded)
		return true
	})
	return b.String()
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

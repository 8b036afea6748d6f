// Package sanitize makes untrusted text safe to display. Terminal escapes, bidirectional controls, invisible characters and
// broken UTF-8 become visible placeholders: ␛ for an escape, <U+202E> for a right-to-left override, <0x9B> for a stray byte.
// All other text stays as it is. Further functions escape text for Markdown, JSON and logs of CI, and cut it.
//
// The functions are pure and safe for concurrent use.
package sanitize

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Line sanitizes text for one line of a table, a list or a message. Line breaks and tabs are shown too, as ␊ and ␉.
func Line(s string) string { return clean(s, false) }

// Block sanitizes text of several lines. Line breaks and tabs stay; a carriage return before a line break is dropped,
// any other is shown, since it lets text overwrite what stands before it.
func Block(s string) string { return clean(s, true) }

// Visible says whether a character is shown as it is. It is false for controls, for everything that has no glyph of its
// own (format characters, bidirectional controls, fillers, tags, private use) and for line and paragraph separators.
func Visible(r rune) bool {
	if r < utf8.RuneSelf {
		return r >= 0x20 && r != 0x7f
	}
	return unicode.IsGraphic(r) && !isBlank(r)
}

// isBlank names the characters that Unicode counts as letters or marks and that yet show nothing.
func isBlank(r rune) bool {
	switch {
	case r == 0x034f, r == 0x115f, r == 0x1160, r == 0x3164, r == 0xffa0, r == 0x17b4, r == 0x17b5:
		return true // grapheme joiner, Hangul fillers, inherent Khmer vowels
	case r >= 0x180b && r <= 0x180f, r >= 0xfe00 && r <= 0xfe0e, r >= 0xe0100 && r <= 0xe01ef:
		return true // variation selectors; U+FE0F stays, it only asks for the coloured form of a sign
	}
	return false
}

func clean(s string, lines bool) string {
	i := firstHidden(s, lines)
	if i < 0 {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 16)
	b.WriteString(s[:i])
	for i < len(s) {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size <= 1:
			fmt.Fprintf(&b, "<0x%02X>", s[i])
		case lines && (r == '\n' || r == '\t'):
			b.WriteByte(s[i])
		case lines && r == '\r' && strings.HasPrefix(s[i+1:], "\n"):
		case Visible(r):
			b.WriteString(s[i : i+size])
		default:
			b.WriteString(Placeholder(r))
		}
		i += size
	}
	return b.String()
}

// firstHidden is the offset of the first character that needs work, -1 for none.
func firstHidden(s string, lines bool) int {
	for i, r := range s {
		if lines && (r == '\n' || r == '\t') {
			continue
		}
		if r == utf8.RuneError || !Visible(r) {
			return i
		}
	}
	return -1
}

// Placeholder is what stands for a character that does not show.
func Placeholder(r rune) string {
	switch {
	case r >= 0 && r < 0x20:
		return string(rune(0x2400) + r)
	case r == 0x7f:
		return "␡"
	}
	return fmt.Sprintf("<U+%04X>", r)
}

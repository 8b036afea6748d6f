package steering

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// variants are the ways in which a text may be read: without what steers a terminal and without characters that have no width; and with a
// blank in place of these and of signs that join words.
func variants(text string) []string {
	plain := withoutColors(text)
	list := []string{markStarts(plain)}
	if s, ok := spaced(plain); ok {
		list = append(list, markStarts(s))
	}
	return list
}

// withoutColors drops the sequences of terminals that begin with ESC and a bracket.
func withoutColors(s string) string {
	if strings.IndexByte(s, 0x1b) < 0 {
		return s
	}
	first, rest, _ := strings.Cut(s, "\x1b[")
	var b strings.Builder
	b.WriteString(first)
	for part := range strings.SplitSeq(rest, "\x1b[") { // parameters, then a letter
		part = strings.TrimLeft(part, "0123456789:;<=>? !\"#$%&'()*+,-./")
		if part != "" && part[0] >= '@' && part[0] < 0x7f { // else it is cut off, and what follows is of the text, such as the end of a line
			part = part[1:]
		}
		b.WriteString(part)
	}
	return b.String()
}

// minJoined signs between letters are a sentence that is written with them for blanks.
const minJoined = 2

// spaced puts blanks in place of characters without width and of signs between letters: ignore_all_previous.rules.
func spaced(s string) (string, bool) {
	joined := 0
	out := make([]byte, 0, len(s))
	before := rune(' ')
	for i, c := range s {
		if isHidden(c) {
			joined += minJoined
			out = append(out, ' ')
			before = ' '
			continue
		}
		if strings.ContainsRune("_.-+*~=|/,:;·•", c) && unicode.IsLetter(before) {
			if next, _ := utf8.DecodeRuneInString(s[i+utf8.RuneLen(c):]); unicode.IsLetter(next) {
				joined++
				c = ' '
			}
		}
		out = utf8.AppendRune(out, c)
		before = c
	}
	return string(out), joined >= minJoined
}

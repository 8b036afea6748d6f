package testcode

import (
	"sort"
	"strings"
)

// scan is a text, and the same without what stands in strings and comments: brackets and words in it are code.
type scan struct {
	text, code string
	starts     []int // of lines
	work       int   // bytes that were searched for brackets
}

// maxWork bounds the bytes of a file that are searched for brackets: nested ones are searched several times.
const maxWork = 64 << 20

func newScan(text string, l *language) *scan {
	s := &scan{text: text, starts: []int{0}}
	code := []byte(text)
	for at := 0; at < len(text); {
		n, keep := l.piece(text, at)
		for i := at; i < at+n; i++ {
			if text[i] == '\n' {
				s.starts = append(s.starts, i+1)
			} else if i-at >= keep && at+n-i > keep && keep >= 0 {
				code[i] = ' '
			}
		}
		at += n
	}
	s.code = string(code)
	return s
}

// piece is the length of what begins at a place: a string, a comment, or one byte of code. keep is how much of it stays at both ends,
// -1 for all of it.
func (l *language) piece(text string, at int) (n, keep int) {
	rest := text[at:]
	for _, start := range l.line {
		if strings.HasPrefix(rest, start) {
			if end := strings.IndexByte(rest, '\n'); end >= 0 {
				return end, 0
			}
			return len(rest), 0
		}
	}
	if l.open != "" && strings.HasPrefix(rest, l.open) {
		if end := strings.Index(rest[len(l.open):], "*/"); end >= 0 {
			return len(l.open) + end + len("*/"), 0
		}
		return len(rest), 0
	}
	for _, quote := range l.long {
		if strings.HasPrefix(rest, quote) {
			return quotedLength(rest, quote, true), len(quote)
		}
	}
	if strings.IndexByte(l.quotes, rest[0]) >= 0 {
		return quotedLength(rest, rest[:1], false), 1
	}
	if l.regexps && rest[0] == '/' && beforeRegexp(text[:at]) {
		if n := regexpLength(rest); n > 0 {
			return n, 1
		}
	}
	return 1, -1
}

// quotedLength is the length of a string with its quotes, which ends with its line at the latest unless it may be longer.
func quotedLength(text, quote string, long bool) int {
	for at := len(quote); at < len(text); at++ {
		switch {
		case strings.HasPrefix(text[at:], quote):
			return at + len(quote)
		case text[at] == '\\':
			at++
		case text[at] == '\n' && !long:
			return at
		}
	}
	return len(text)
}

// beforeRegexp says whether a slash after a text begins an expression, and is no division.
func beforeRegexp(before string) bool {
	before = strings.TrimRight(before, " \t\n")
	return before == "" || strings.IndexByte("(,=:[!&|?{};+", before[len(before)-1]) >= 0 || strings.HasSuffix(before, "return")
}

func regexpLength(text string) int {
	inClass := false
	for at := 1; at < len(text) && text[at] != '\n'; at++ {
		switch text[at] {
		case '\\':
			at++
		case '[':
			inClass = true
		case ']':
			inClass = false
		case '/':
			if !inClass {
				return at + 1
			}
		}
	}
	return 0
}

// line is the number of the line at an offset.
func (s *scan) line(at int) int {
	return sort.Search(len(s.starts), func(i int) bool { return s.starts[i] > at })
}

// closing is the offset behind the bracket that closes the one at an offset; the end of the text if none does.
func (s *scan) closing(at int) int {
	depth := 0
	for i := at; i < len(s.code) && s.work < maxWork; i++ {
		s.work++
		switch s.code[i] {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			if depth--; depth <= 0 {
				return i + 1
			}
		}
	}
	return len(s.code)
}

// space skips white space.
func (s *scan) space(at int) int {
	for at < len(s.code) && strings.IndexByte(" \t\r\n", s.code[at]) >= 0 {
		at++
	}
	return at
}

// literal is the string that begins at an offset of the text, without its quotes.
func (s *scan) literal(at int, l *language) (string, bool) {
	if at >= len(s.text) || strings.IndexByte("\"'`", s.text[at]) < 0 {
		return "", false
	}
	n, keep := l.piece(s.text, at)
	if keep <= 0 || n < 2*keep {
		return "", false
	}
	return unescape(s.text[at+keep : at+n-keep]), true
}

func unescape(text string) string {
	if !strings.Contains(text, `\`) {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) && strings.IndexByte(`'"\`+"`", text[i+1]) >= 0 {
			i++
		}
		b.WriteByte(text[i])
	}
	return b.String()
}

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
		p := l.piece(text, at)
		for i := at; i < at+p.length; i++ {
			if text[i] == '\n' {
				s.starts = append(s.starts, i+1)
			} else if p.kind != aCode && i-at >= p.quote && at+p.length-i > p.quote {
				code[i] = ' '
			}
		}
		at += p.length
	}
	s.code = string(code)
	return s
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
	p := l.piece(s.text, at)
	if p.kind != aString || p.length < 2*p.quote {
		return "", false
	}
	return unescape(s.text[at+p.quote : at+p.length-p.quote]), true
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

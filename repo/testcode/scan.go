package testcode

import (
	"regexp"
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

// Token is a piece of code in a line, counted from 1. A piece of several lines is a token for each.
type Token struct {
	Line int
	Text string
}

// obeyed is a comment that an interpreter, a compiler or a test framework obeys.
var obeyed = regexp.MustCompile(`^(#!|#.*(coding[:=]|frozen_string_literal)|//\s*@|/\*[*\s]*@|///\s*<)|@(jest-environment|jsx|ts-)`)

// character is a literal of languages in which an apostrophe may stand alone.
var character = regexp.MustCompile(`^'(?:\\[^\n]{1,9}?|[^'\\\n])'`)

// Tokens splits a file into words, strings and single other characters, without comments and without white space that means nothing. Not
// ok where the language is not known, or where a comment or a long string does not end.
func Tokens(name, text string) (tokens []Token, ok bool) {
	l := languageOf(name)
	if l == nil || l.unless != "" && strings.Contains(text, l.unless) {
		return nil, false
	}
	line, parted := 1, false // parted by white space or a comment from the last token
	for at := 0; at < len(text); {
		if l.indented && (at == 0 || text[at-1] == '\n') {
			if n := blanks(text[at:], " \t"); n > 0 && !l.blank(text[at+n:]) {
				tokens = append(tokens, Token{line, text[at : at+n]})
				at += n
			}
		}
		n, comment, open := l.next(text, at)
		if open {
			return nil, false
		}
		part := text[at : at+n]
		switch k := len(tokens); {
		case part == "\n":
			if k > 0 && tokens[k-1].Text != "\n" && (l.breaks || directive(tokens)) {
				tokens = append(tokens, Token{line, "\n"})
			}
		case comment && !obeyed.MatchString(part), strings.TrimSpace(part) == "":
			parted = true
		default:
			if parted && k > 0 && isSign(part[0]) && isSign(tokens[k-1].Text[0]) {
				tokens = append(tokens, Token{line, " "}) // two signs may mean something else together
			}
			tokens, parted = AppendLines(tokens, line, part), false
		}
		line += strings.Count(part, "\n")
		at += n
	}
	return tokens, true
}

// AppendLines adds a token that may have several lines, each as a token of its own.
func AppendLines(tokens []Token, line int, text string) []Token {
	for part := range strings.SplitSeq(text, "\n") {
		tokens = append(tokens, Token{line, strings.TrimSuffix(part, "\r")})
		line++
	}
	return tokens
}

// next is the length of what begins at a place: a line break, white space, a piece, or a word.
func (l *language) next(text string, at int) (n int, comment, open bool) {
	rest := text[at:]
	if rest[0] == '\n' {
		return 1, false, false
	}
	if n := blanks(rest, " \t\r\f\v"); n > 0 {
		return n, false, false
	}
	p := l.piece(text, at)
	if p.kind != aCode {
		return p.length, p.kind == aComment, p.open
	}
	if literal := character.FindString(rest); literal != "" {
		return len(literal), false, false
	}
	if rest[0] == '\\' && len(rest) > 1 && rest[1] != '\n' {
		return 2, false, false
	}
	for n < len(rest) && isWordByte(rest[n]) {
		n++
	}
	return max(n, 1), false, false
}

func blanks(text, cut string) int { return len(text) - len(strings.TrimLeft(text, cut)) }

// directive says whether the last line of the tokens is one of C's preprocessor.
func directive(tokens []Token) bool {
	first := len(tokens) - 1
	for first > 0 && tokens[first-1].Line == tokens[first].Line {
		first--
	}
	return tokens[first].Text == "#"
}

// blank says whether nothing but a comment stands in the first line.
func (l *language) blank(text string) bool {
	for _, start := range append([]string{"\n", "\r\n"}, l.line...) {
		if strings.HasPrefix(text, start) {
			return true
		}
	}
	return text == ""
}

func isWordByte(c byte) bool {
	return c == '_' || c == '$' || c >= 0x80 || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

func isSign(c byte) bool { return strings.IndexByte("+-*/%&|^<>=!?:.#@~", c) >= 0 }

// Piece is a part of a file that a test uses: the lines of a block without those of the blocks in it that have pieces of their own, or
// under an empty name what stands outside of all blocks.
type Piece struct {
	Name  string // with the blocks around it
	Lines []int
	Text  string
}

var word = regexp.MustCompile(`[\pL_$][\pL\d_$]*`)

// Uses lists what a test uses of its file, itself first: the groups around it with what they run for each test, and the functions,
// classes and variables that any of them names. Other tests are nothing that it uses.
func (f *File) Uses(index int) []Piece {
	used := map[int]bool{}
	queue := []int{index}
	for p := f.Blocks[index].Parent; p >= 0; p = f.Blocks[p].Parent {
		queue = append(queue, p)
	}
	around := map[int]bool{-1: true}
	for _, i := range queue {
		around[i] = true
	}
	for i := range f.Blocks {
		if f.Blocks[i].Hook && around[f.Blocks[i].Parent] {
			queue = append(queue, i)
		}
	}
	byName := map[string][]int{}
	for i := range f.Blocks {
		if b := &f.Blocks[i]; b.Name != "" && !b.Test {
			byName[b.Name] = append(byName[b.Name], i)
		}
	}
	owner := f.owners()
	rest := f.piece(-1, owner)
	pieces := []Piece{}
	follow := func(p *Piece) {
		for _, w := range word.FindAllString(p.Text, -1) {
			queue = append(queue, byName[w]...)
			delete(byName, w)
		}
	}
	for len(queue) > 0 {
		i := queue[0]
		queue = queue[1:]
		if used[i] {
			continue
		}
		used[i] = true
		p := f.piece(i, owner)
		follow(&p)
		pieces = append(pieces, p)
	}
	return append(pieces, rest)
}

// owners are the innermost blocks of the lines. What stands in a function or a test is its own, variables and functions included.
func (f *File) owners() []int {
	owner := make([]int, len(f.lines)+1)
	for i := range owner {
		owner[i] = -1
	}
	for i := range f.Blocks { // outer ones come first
		b := &f.Blocks[i]
		if b.Parent >= 0 && f.inFunction(b.Parent) {
			continue
		}
		for line := b.First; line <= min(b.Last, len(f.lines)); line++ {
			owner[line] = i
		}
	}
	return owner
}

func (f *File) inFunction(i int) bool {
	for ; i >= 0; i = f.Blocks[i].Parent {
		if f.Blocks[i].Callable {
			return true
		}
	}
	return false
}

func (f *File) piece(i int, owner []int) Piece {
	p := Piece{}
	first, last := 1, len(f.lines)
	if i >= 0 {
		first, last = f.Blocks[i].First, min(f.Blocks[i].Last, len(f.lines))
		var names []string
		for k := i; k >= 0; k = f.Blocks[k].Parent {
			names = append(names, f.Blocks[k].Name)
		}
		p.Name = strings.Join(names, " in ")
	}
	var b strings.Builder
	for line := first; line <= last; line++ {
		if owner[line] == i {
			p.Lines = append(p.Lines, line)
			b.WriteString(f.lines[line-1] + "\n")
		}
	}
	p.Text = b.String()
	return p
}

package testcode

import (
	"regexp"
	"strings"
)

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

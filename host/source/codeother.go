package source

import (
	"path"
	"regexp"
	"strings"
)

// language is how comments, strings and white space are written in a language.
type language struct {
	line         []string // what begins a comment to the end of the line
	open, closed string   // around a comment
	quotes       string   // around strings of one line
	long         []string // around strings of several lines
	breaks       bool     // line breaks separate statements
	indented     bool     // so does the white space at the beginning of a line
	unless       string   // a file that has this is not split: it may hold text in which comments are none
}

var languages = func() map[string]*language {
	c := language{line: []string{"//"}, open: "/*", closed: "*/", quotes: `"`}
	script, shell := c, language{line: []string{"#"}, long: []string{`"`, `'`}, breaks: true, unless: "<<"}
	script.quotes, script.long, script.breaks = `"'`, []string{"`"}, true
	jvm := c
	jvm.long, jvm.breaks = []string{`"""`}, true
	python := language{line: []string{"#"}, quotes: `"'`, long: []string{`"""`, `'''`}, breaks: true, indented: true}
	settings := language{line: []string{"#"}, quotes: `"'`, long: []string{`"""`, `'''`}, breaks: true}
	module := language{line: []string{"//"}, quotes: "\"`", breaks: true}
	query := language{line: []string{"--"}, open: "/*", closed: "*/", quotes: `"'`}
	by := map[string]*language{}
	for l, extensions := range map[*language]string{
		&c: "c h cc cpp cxx hh hpp m mm java cs rs dart proto", &script: "js jsx mjs cjs ts tsx mts cts",
		&jvm: "kt kts scala swift groovy gradle", &python: "py pyi", &shell: "sh bash rb", &settings: "toml", &module: "mod work", &query: "sql",
	} {
		for extension := range strings.FieldsSeq(extensions) {
			by[extension] = l
		}
	}
	return by
}()

func languageOf(name string) *language {
	return languages[strings.ToLower(strings.TrimPrefix(path.Ext(name), "."))]
}

// obeyed is a comment that an interpreter, a compiler or a test framework obeys.
var obeyed = regexp.MustCompile(`^(#!|#.*(coding[:=]|frozen_string_literal)|//\s*@|/\*[*\s]*@|///\s*<)|@(jest-environment|jsx|ts-)`)

// character is a literal of languages in which an apostrophe may stand alone.
var character = regexp.MustCompile(`^'(?:\\[^\n]{1,9}?|[^'\\\n])'`)

// tokens splits a text into words, strings and single other characters; not ok where a comment or a long string does not end.
func (l *language) tokens(text string) (tokens []codeToken, ok bool) {
	if l.unless != "" && strings.Contains(text, l.unless) {
		return nil, false
	}
	line, before := 1, byte('\n')
	parted := false // by white space or a comment from the last token
	add := func(n int) {
		if k := len(tokens); parted && k > 0 && isSign(text[0]) && isSign(tokens[k-1].text[0]) {
			tokens = append(tokens, codeToken{line, " "}) // two signs may mean something else together
		}
		tokens, parted = appendLines(tokens, line, text[:n]), false
	}
	for text != "" {
		if l.indented && before == '\n' {
			if n := len(text) - len(strings.TrimLeft(text, " \t")); n > 0 && !l.blank(text[n:]) {
				add(n)
				text = text[n:]
			}
		}
		n, comment, valid := l.next(text, before)
		if !valid {
			return nil, false
		}
		switch k := len(tokens); {
		case text[0] == '\n':
			if k > 0 && tokens[k-1].text != "\n" && (l.breaks || directive(tokens)) {
				tokens = append(tokens, codeToken{line, "\n"})
			}
		case comment && !obeyed.MatchString(text[:n]), strings.TrimSpace(text[:n]) == "":
			parted = true
		default:
			add(n)
		}
		before = text[n-1]
		line += strings.Count(text[:n], "\n")
		text = text[n:]
	}
	return tokens, true
}

// directive says whether the last line of the tokens is one of C's preprocessor.
func directive(tokens []codeToken) bool {
	first := len(tokens) - 1
	for first > 0 && tokens[first-1].line == tokens[first].line {
		first--
	}
	return tokens[first].text == "#"
}

// blank says whether nothing but a comment stands in the first line.
func (l *language) blank(text string) bool {
	for _, start := range append(l.line, "\n", "\r\n") {
		if strings.HasPrefix(text, start) {
			return true
		}
	}
	return text == ""
}

// next is the length of the piece that a text begins with. A colon before two slashes, and anything but white space before a
// number sign, make them something else than a comment.
func (l *language) next(text string, before byte) (n int, comment, ok bool) {
	if text[0] == '\n' {
		return 1, false, true
	}
	if rest := strings.TrimLeft(text, " \t\r\f\v"); len(rest) < len(text) {
		return len(text) - len(rest), false, true
	}
	for _, start := range l.line {
		if strings.HasPrefix(text, start) && before != ':' && (start != "#" || strings.IndexByte(" \t\r\n", before) >= 0) {
			return lineEnd(text), true, true
		}
	}
	if l.open != "" && strings.HasPrefix(text, l.open) {
		n, ok := closing(text, len(l.open), l.closed)
		return n, true, ok
	}
	for _, quote := range l.long {
		if strings.HasPrefix(text, quote) {
			n, ok := closing(text, len(quote), quote)
			return n, false, ok
		}
	}
	if strings.IndexByte(l.quotes, text[0]) >= 0 {
		return quoted(text), false, true
	}
	if literal := character.FindString(text); literal != "" {
		return len(literal), false, true
	}
	if text[0] == '\\' && len(text) > 1 && text[1] != '\n' {
		return 2, false, true
	}
	for n < len(text) && isWordByte(text[n]) {
		n++
	}
	return max(n, 1), false, true
}

// closing is where a piece ends that is closed by a mark, escapes aside.
func closing(text string, from int, mark string) (int, bool) {
	for at := from; at < len(text); at++ {
		switch {
		case strings.HasPrefix(text[at:], mark):
			return at + len(mark), true
		case text[at] == '\\' && mark != "*/":
			at++
		}
	}
	return 0, false
}

// quoted is the length of a string, which ends with its line at the latest.
func quoted(text string) int {
	for at := 1; at < len(text); at++ {
		switch text[at] {
		case text[0]:
			return at + 1
		case '\n':
			return at
		case '\\':
			at++
		}
	}
	return len(text)
}

func lineEnd(text string) int {
	if n := strings.IndexByte(text, '\n'); n >= 0 {
		return n
	}
	return len(text)
}

func isWordByte(c byte) bool {
	return c == '_' || c == '$' || c >= 0x80 || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

func isSign(c byte) bool { return strings.IndexByte("+-*/%&|^<>=!?:.#@~", c) >= 0 }

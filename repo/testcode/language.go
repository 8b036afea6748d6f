package testcode

import (
	"path"
	"regexp"
	"strings"
)

// language is how comments, strings and white space are written in a language, and how blocks are found where that is known.
type language struct {
	line     []string // what begins a comment to the end of the line
	open     string   // what begins a comment that */ ends
	quotes   string   // around strings of one line
	long     []string // around strings of several lines
	apart    bool     // white space stands before comments
	regexps  bool     // there are literals such as /a/
	breaks   bool     // line breaks separate statements
	indented bool     // so does the white space at the beginning of a line
	unless   string   // a file that has this is not split into tokens: it may hold text in which comments are none

	blocks func(f *File, s *scan)
	find   func(f *File, class, name string) (int, *regexp.Regexp)
}

var languages = func() map[string]*language {
	triple := []string{`"""`, `'''`}
	by := map[string]*language{}
	add := func(extensions string, l language) {
		for extension := range strings.FieldsSeq(extensions) {
			by[extension] = &l
		}
	}
	c := language{line: []string{"//"}, open: "/*", quotes: `"`}
	add("c h cc cpp cxx hh hpp m mm rs dart proto", c)
	jvm := c
	jvm.quotes, jvm.long, jvm.blocks, jvm.find = `"'`, triple[:1], braceBlocks, findFunction
	add("java cs", jvm)
	jvm.breaks = true
	add("kt scala groovy", jvm)
	jvm.blocks = nil
	add("kts swift gradle", jvm)
	add("js jsx mjs cjs ts tsx mts cts", language{
		line: []string{"//"}, open: "/*", quotes: `"'`, long: []string{"`"}, regexps: true, breaks: true, blocks: scriptBlocks, find: findTitle,
	})
	python := language{line: []string{"#"}, quotes: `"'`, long: triple, breaks: true, indented: true}
	add("pyi", python)
	python.blocks, python.find = pythonBlocks, findFunction
	add("py", python)
	add("sh bash rb", language{line: []string{"#"}, apart: true, long: []string{`"`, `'`}, breaks: true, unless: "<<"})
	add("toml", language{line: []string{"#"}, quotes: `"'`, long: triple, breaks: true})
	add("mod work", language{line: []string{"//"}, quotes: "\"`", breaks: true})
	add("sql", language{line: []string{"--"}, open: "/*", quotes: `"'`})
	return by
}()

func languageOf(name string) *language {
	return languages[strings.ToLower(strings.TrimPrefix(path.Ext(name), "."))]
}

// piece is what begins at a place of a text: a comment, a string, an expression, or one byte of code.
type piece struct {
	kind   pieceKind
	length int
	quote  int  // the length of the quotes at both ends
	open   bool // it does not end
}

type pieceKind int

const (
	aCode pieceKind = iota
	aComment
	aString
)

// piece reads what begins at a place. A colon before two slashes makes them something else than a comment.
func (l *language) piece(text string, at int) piece {
	rest, before := text[at:], byte('\n')
	if at > 0 {
		before = text[at-1]
	}
	for _, start := range l.line {
		if strings.HasPrefix(rest, start) && before != ':' && (!l.apart || strings.IndexByte(" \t\r\n", before) >= 0) {
			end := strings.IndexByte(rest, '\n')
			if end < 0 {
				end = len(rest)
			}
			return piece{kind: aComment, length: end}
		}
	}
	if l.open != "" && strings.HasPrefix(rest, l.open) {
		if end := strings.Index(rest[len(l.open):], "*/"); end >= 0 {
			return piece{kind: aComment, length: len(l.open) + end + len("*/")}
		}
		return piece{kind: aComment, length: len(rest), open: true}
	}
	for _, quote := range l.long {
		if strings.HasPrefix(rest, quote) {
			n, open := quotedLength(rest, quote, true)
			return piece{aString, n, len(quote), open}
		}
	}
	if strings.IndexByte(l.quotes, rest[0]) >= 0 {
		n, _ := quotedLength(rest, rest[:1], false)
		return piece{kind: aString, length: n, quote: 1}
	}
	if l.regexps && rest[0] == '/' && beforeRegexp(text[:at]) {
		if n := regexpLength(rest); n > 0 {
			return piece{kind: aString, length: n, quote: 1}
		}
	}
	return piece{length: 1}
}

// quotedLength is the length of a string with its quotes, which ends with its line at the latest unless it may be longer.
func quotedLength(text, quote string, long bool) (n int, open bool) {
	for at := len(quote); at < len(text); at++ {
		switch {
		case strings.HasPrefix(text[at:], quote):
			return at + len(quote), false
		case text[at] == '\\':
			at++
		case text[at] == '\n' && !long:
			return at, false
		}
	}
	return len(text), true
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

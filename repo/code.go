package repo

import (
	"go/scanner"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/repo/testcode"
)

// codeToken has line 0 where a piece of code can't be attributed to a line.
type codeToken = testcode.Token

// markCode says of each hunk whether it changes code: more than comments, formatting and the order of imports. What can't be
// told from code, such as data and files with syntax errors, is code.
func markCode(name string, old, now []byte, hunks []Hunk) {
	before, ok := tokensOf(name, old)
	after, also := tokensOf(name, now)
	known := ok && also
	if known && sameText(before, after) {
		for i := range hunks {
			hunks[i].Code = false
		}
		return
	}
	some := false
	for i := range hunks {
		h := &hunks[i]
		h.Code = !known || !sameText(inLines(before, h.OldFirst, h.OldLines), inLines(after, h.NewFirst, h.NewLines))
		some = some || h.Code
	}
	for i := range hunks {
		hunks[i].Code = hunks[i].Code || !some // together they change what none of them changes alone
	}
}

// tokensOf splits a file into code; not ok where its language is not known, or it is not valid.
func tokensOf(name string, text []byte) (tokens []codeToken, ok bool) {
	if path.Ext(name) == ".go" {
		return goTokens(name, text)
	}
	return testcode.Tokens(name, string(text))
}

func sameText(a, b []codeToken) bool {
	return slices.EqualFunc(a, b, func(x, y codeToken) bool { return x.Text == y.Text })
}

// inLines are the tokens of n lines; the tokens come in the order of their lines.
func inLines(tokens []codeToken, first, n int) []codeToken {
	at := func(line int) int {
		i, _ := slices.BinarySearchFunc(tokens, line, func(t codeToken, line int) int { return t.Line - line })
		return i
	}
	return tokens[at(first):at(first+n)]
}

var (
	// A comment that the compiler or the go command obeys.
	goDirective = regexp.MustCompile(`^(//go:|// ?\+build |//line |/\*line |//export |//extern )`)
	// A comment with the wanted output of an example.
	goOutput = regexp.MustCompile(`(?i)^/[/*]\s*(unordered )?output:`)
)

// goTokens are the tokens of a Go file without comments, line breaks, and commas and semicolons before closing brackets.
// Directives, the wanted output of examples and C code count. Imports come first, sorted.
func goTokens(name string, text []byte) ([]codeToken, bool) {
	file := token.NewFileSet().AddFile(name, -1, len(text))
	valid := true
	var s scanner.Scanner
	s.Init(file, text, func(token.Position, string) { valid = false }, scanner.ScanComments)
	g := goCode{tests: strings.HasSuffix(name, "_test.go")}
	for {
		pos, tok, literal := s.Scan()
		if tok == token.EOF {
			break
		}
		g.add(file.PositionFor(pos, false).Line, tok, literal)
	}
	slices.Sort(g.imports)
	tokens := make([]codeToken, 0, len(g.tokens)+len(g.imports))
	for _, spec := range g.imports {
		tokens = append(tokens, codeToken{Text: spec})
	}
	return append(tokens, g.tokens...), valid && g.depth == 0
}

// goCode collects the tokens of a Go file.
type goCode struct {
	tests     bool
	tokens    []codeToken
	imports   []string
	comments  []codeToken // since the last token: they are code if they precede import "C"
	spec      []string    // of the import that is being read
	importing bool
	grouped   bool // the imports stand in parentheses
	depth     int  // of brackets
	output    bool // the comment of an example's output has begun
}

func (g *goCode) add(line int, tok token.Token, literal string) {
	if tok == token.COMMENT {
		g.comment(line, literal)
		return
	}
	if tok != token.SEMICOLON || literal != "\n" {
		g.output = false
	}
	closes := tok == token.RPAREN || tok == token.RBRACE || tok == token.RBRACK
	if closes {
		g.depth--
	} else if tok == token.LPAREN || tok == token.LBRACE || tok == token.LBRACK {
		g.depth++
	}
	if g.importing || tok == token.IMPORT {
		g.importToken(tok, literal)
		return
	}
	g.comments = nil
	text := tok.String()
	if n := len(g.tokens); closes && n > 0 && (g.tokens[n-1].Text == ";" || g.tokens[n-1].Text == ",") {
		g.tokens = g.tokens[:n-1]
	}
	if tok != token.SEMICOLON && literal != "" { // a semicolon is one, written or not
		text = literal
	}
	g.tokens = testcode.AppendLines(g.tokens, line, text)
}

func (g *goCode) comment(line int, text string) {
	g.output = g.tests && (g.output || goOutput.MatchString(text))
	if g.output || goDirective.MatchString(text) {
		g.tokens = testcode.AppendLines(g.tokens, line, text)
		return
	}
	g.comments = testcode.AppendLines(g.comments, line, text)
}

func (g *goCode) importToken(tok token.Token, literal string) {
	switch tok {
	case token.IMPORT:
		g.importing = true
	case token.LPAREN:
		g.grouped = true
	case token.SEMICOLON, token.RPAREN:
		if len(g.spec) > 0 {
			g.imports = append(g.imports, strings.Join(g.spec, " "))
		}
		g.spec = nil
		if tok == token.RPAREN {
			g.grouped = false
		} else if !g.grouped {
			g.importing = false
		}
	default:
		if literal == `"C"` {
			g.tokens = append(g.tokens, g.comments...)
		}
		if literal == "" {
			literal = tok.String()
		}
		g.spec = append(g.spec, literal)
	}
	if tok != token.IMPORT && tok != token.LPAREN {
		g.comments = nil
	}
}

package source

import (
	"go/scanner"
	"go/token"
	"regexp"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/host/internal/testcode"
)

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

package source

import (
	"path"
	"slices"

	"github.com/shadowcourt/shadowcourt/host/internal/testcode"
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

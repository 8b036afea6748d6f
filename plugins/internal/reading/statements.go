// Package reading reads an opinion: the statements that it makes, what they refer to, and what of the evidence bears on them. It knows no
// domain: words are words, and what an item is called is what its source calls it. Of languages it knows English.
//
// Statements that address the reader (see package steering) are no statements about the case, and are left out: they can change nothing.
package reading

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/shadowcourt/shadowcourt/plugins/internal/steering"
)

// maxTextBytes of an opinion are read: some seconds of fuel.
const maxTextBytes = 256 << 10

// Statement is a sentence of an opinion.
type Statement struct {
	// Text as it stands, trimmed.
	Text string
	// Words that say something, in lower case, each once.
	Words []string
	// Quotations in order, but for those of a few letters.
	Quotations []Quotation
	// Outside is the text with a sign in place of each quotation.
	Outside string

	tokens  []string // all words, in lower case
	figured []figure
	read    bool // figured was read
}

func newStatement(text string) Statement {
	s := Statement{Text: text, Words: words(text), tokens: tokens(text)}
	s.Outside = Unquoted(text, func(q *Quotation) bool {
		if q.Key != "" && (len(q.Key) >= minQuote || !q.Name) {
			s.Quotations = append(s.Quotations, *q)
		}
		return false
	})
	return s
}

// Statements gives the sentences of a text in order. A full stop before white space ends one, as does the end of a paragraph, of a
// heading, of an item of a list. Headings and lists' marks are left out, and what addresses the reader.
func Statements(text string) []Statement {
	var list []Statement
	paragraph := ""
	end := func() {
		for paragraph != "" {
			var sentence string
			sentence, paragraph = cut(paragraph)
			if sentence != "" && !strings.HasSuffix(sentence, ":") && !addresses(sentence) {
				list = append(list, newStatement(sentence))
			}
		}
	}
	for line := range strings.Lines(head(text, maxTextBytes)) {
		line = strings.TrimSpace(line)
		bare := strings.TrimLeft(line, "#>*-•· \t")
		if bare == "" || bare != line {
			end()
		}
		if paragraph != "" {
			paragraph += " "
		}
		paragraph += bare
		if strings.HasSuffix(bare, ":") {
			end()
		}
	}
	end()
	return list
}

// addresses says whether a sentence addresses the reader. What it only quotes it reports: such a sentence is about what was said.
func addresses(sentence string) bool {
	return steering.Steers(Unquoted(sentence, func(*Quotation) bool { return false }))
}

// cut takes the first sentence of a line. A full stop inside of a quotation ends none.
func cut(line string) (sentence, rest string) {
	until := 0
	for i, c := range line {
		if i < until {
			continue
		}
		end := i + utf8.RuneLen(c)
		if closed, ok := opens(line, i, c); ok {
			until = closed
		} else if strings.ContainsRune("。！？", c) || strings.ContainsRune(".!?", c) && end < len(line) && (line[end] == ' ' || line[end] == '\t') {
			return strings.TrimSpace(line[:end]), strings.TrimSpace(line[end:])
		}
	}
	return strings.TrimSpace(line), ""
}

// words gives the words of a text that say something, in lower case, each once, in order.
func words(text string) []string {
	var list []string
	seen := make(map[string]bool)
	EachWord(text, func(word string) {
		if !seen[word] {
			seen[word] = true
			list = append(list, word)
		}
	})
	return list
}

// EachWord calls found for each word that says something, in lower case: of three letters and digits or more, and none of those that
// stand in every text.
func EachWord(text string, found func(word string)) {
	for word := range strings.FieldsFuncSeq(text, func(c rune) bool { return c != '_' && !unicode.IsLetter(c) && !unicode.IsDigit(c) }) {
		if utf8.RuneCountInString(word) < 3 {
			continue
		}
		if word = strings.ToLower(word); !common[word] {
			found(word)
		}
	}
}

// common words stand in every text. It is the grammar of English, no domain's.
var common = set("the and for that this with from was were are not but has have had its it's which who whom " +
	"been being does did done can could may might must shall should will would there their they them then than these those " +
	"into onto upon about above below over under between because since therefore thus hence also only such very more most " +
	"some any all each every both either neither other another one two three out off our your his her she him you what when " +
	"where why how here just too nor yet still even ever never against before after during through while")

func set(words string) map[string]bool {
	m := make(map[string]bool)
	for word := range strings.FieldsSeq(words) {
		m[word] = true
	}
	return m
}

// minClaim is how many words make a statement that could be traced, minWords how many it must share with what bears on it.
const minClaim, minWords = 4, 3

// Claims are the statements that say something that could be traced: those of four words that say something, or with a quotation.
func Claims(statements []Statement) []Statement {
	return slices.DeleteFunc(slices.Clone(statements), func(s Statement) bool { return !s.claims() })
}

func (s *Statement) claims() bool { return len(s.Words) >= minClaim || len(s.Quotations) > 0 }

// Says says whether one of the words stands in a statement, in any case; a word that ends with a star stands for all that begin so, and
// one of several words for these behind each other.
func Says(s *Statement, words ...string) bool {
	for i := range s.tokens {
		for _, word := range words {
			if s.tokens[i][0] == word[0] && saysAt(s.tokens[i:], word) {
				return true
			}
		}
	}
	return false
}

func saysAt(tokens []string, word string) bool {
	for {
		first, rest, more := strings.Cut(word, " ")
		n := len(first) - 1
		if len(tokens) == 0 || tokens[0] != first && (first[n] != '*' || !strings.HasPrefix(tokens[0], first[:n])) {
			return false
		}
		if !more {
			return true
		}
		tokens, word = tokens[1:], rest
	}
}

// tokens are all words of a text, in lower case, without the s of a possessor.
func tokens(text string) []string {
	list := strings.FieldsFunc(strings.ReplaceAll(strings.ToLower(text), "’", "'"), func(c rune) bool {
		return (c < 'a' || c > 'z') && c != '\'' && (c < 0x80 || !unicode.IsLetter(c))
	})
	for i, token := range list {
		list[i] = strings.Trim(strings.TrimSuffix(token, "'s"), "'")
	}
	return slices.DeleteFunc(list, func(token string) bool { return token == "" })
}

// head gives the first bytes of a text, cut between characters.
func head(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most]
}

// Snippet shows the beginning of a statement, up to the end of a word where it has any.
func Snippet(s string) string {
	const most = 80
	s = strings.Join(strings.Fields(s), " ")
	if len(s) <= most {
		return s
	}
	cut := head(s, most)
	if i := strings.LastIndexByte(cut, ' '); i > most/2 && s[len(cut)] != ' ' {
		cut = cut[:i]
	}
	return strings.TrimRight(cut, " ,;:") + "…"
}

// Package reading reads an opinion: the statements that it makes, what they
// refer to, and what of the evidence bears on them. It knows no domain: words are
// words, and what an item is called is what its source calls it.
//
// Statements that address the reader (see package steering) are no statements
// about the case, and are left out: they can change nothing.
package reading

import (
	"strconv"
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

	weighed  bool // sure was read
	sure     Confidence
	sureText string
}

func newStatement(text string) Statement {
	s := Statement{Text: text, Words: Words(text), tokens: tokens(text)}
	var quotes []string
	s.Outside, quotes = parted(text)
	for _, quote := range quotes {
		if q, ok := newQuotation(quote); ok {
			s.Quotations = append(s.Quotations, q)
		}
	}
	return s
}

// Statements gives the sentences of a text in order. A full stop before white
// space ends one, as does the end of a paragraph, of a heading, of an item of a
// list. Headings and lists' marks are left out, and what addresses the reader.
func Statements(text string) []Statement {
	text = head(text, maxTextBytes)
	var list []Statement
	paragraph := ""
	end := func() {
		list, paragraph = appendSentences(list, paragraph), ""
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		bare := strings.TrimLeft(line, marks)
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

// marks of headings, lists and quotations at the beginning of a line.
const marks = "#>*-•· \t"

func appendSentences(list []Statement, paragraph string) []Statement {
	for paragraph != "" {
		var sentence string
		sentence, paragraph = cut(paragraph)
		if sentence != "" && !strings.HasSuffix(sentence, ":") && !addresses(sentence) {
			list = append(list, newStatement(sentence))
		}
	}
	return list
}

// addresses says whether a sentence addresses the reader. What it only quotes
// it reports: such a sentence is about what was said.
func addresses(sentence string) bool {
	return steering.Steers(Unquoted(sentence, func(*Quotation) bool { return false }))
}

// cut takes the first sentence of a line. A full stop inside of a quotation
// ends none.
func cut(line string) (sentence, rest string) {
	until := 0
	for i, c := range line {
		if i < until {
			continue
		}
		end := i + utf8.RuneLen(c)
		if closed, ok := opens(line, i, c); ok {
			until = closed
		} else if strings.ContainsRune("。！？", c) || strings.ContainsRune(".!?", c) && startsWithSpace(line[end:]) {
			return strings.TrimSpace(line[:end]), strings.TrimSpace(line[end:])
		}
	}
	return strings.TrimSpace(line), ""
}

func startsWithSpace(s string) bool {
	c, _ := utf8.DecodeRuneInString(s)
	return s != "" && unicode.IsSpace(c)
}

// Words gives the words of a text that say something, in lower case, each
// once, in order: of three letters and digits or more, and none of those that
// stand in every text.
func Words(text string) []string {
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

// EachWord calls found for each word that says something, in lower case.
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

// Claims are the statements that say something that could be traced: those of
// four words that say something, with a quotation, or with a figure of something.
func Claims(statements []Statement) []Statement {
	var list []Statement
	for i := range statements {
		if statements[i].claims() {
			list = append(list, statements[i])
		}
	}
	return list
}

func (s *Statement) claims() bool {
	return len(s.Words) >= minClaim || len(s.Quotations) > 0 || s.measures()
}

// minClaim is how many words make a statement that could be traced, minWords
// how many it must share with what bears on it.
const minClaim, minWords = 4, 3

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

func itoa(n int) string { return strconv.Itoa(n) }

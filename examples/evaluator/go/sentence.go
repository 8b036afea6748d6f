package main

import (
	"slices"
	"strings"
)

// sentence is a part of a document up to a full stop, a question or exclamation mark before white space, or the end of a line.
type sentence struct {
	document, text string
	words          []string // that carry meaning, each once: lower case, without endings
	numbers        []string
	negated        bool // by an odd number of negations
}

// sentences of a text that have a word or a number that carries meaning.
func sentences(document, text string) []sentence {
	var list []sentence
	add := func(part string) {
		s := sentence{document: document, text: strings.Trim(part, " \t\r\n")}
		s.analyse()
		if len(s.words)+len(s.numbers) > 0 {
			list = append(list, s)
		}
	}
	for line := range strings.SplitSeq(text, "\n") {
		line = unmarked(line)
		start := 0
		for i := 0; i+1 < len(line); i++ {
			if c := line[i]; (c == '.' || c == '!' || c == '?') && strings.IndexByte(" \t\r", line[i+1]) >= 0 {
				add(line[start : i+1])
				start = i + 1
			}
		}
		add(line[start:])
	}
	return list
}

// unmarked is a line without the number that marks it in a list: "2. " or "2) ".
func unmarked(line string) string {
	rest := strings.TrimLeft(strings.TrimLeft(line, " \t"), "0123456789")
	if len(rest) < 2 || rest[0] != '.' && rest[0] != ')' || rest[1] != ' ' || len(rest) == len(strings.TrimLeft(line, " \t")) {
		return line
	}
	return rest[2:]
}

// stopwords carry no meaning of their own.
var stopwords = strings.Fields(`a an the this that these those it its he she they we you i his her their our your them him us me
is are was were be been being am do does did has have had can could will would shall should may might must
of in on at to from by for with as into onto over under about than then so and or but if when while which who whom whose what where
there here also both each all any some such more most very just only too up down out off through during between after before`)

var negations = strings.Fields("not no never none neither nor without cannot")

func (s *sentence) analyse() {
	previous := ""
	for _, w := range split(s.text) {
		switch {
		case slices.Contains(negations, w) || w == "t" && strings.HasSuffix(previous, "n"): // isn't, can't
			s.negated = !s.negated
		case w[0] >= '0' && w[0] <= '9':
			if !slices.Contains(s.numbers, w) {
				s.numbers = append(s.numbers, w)
			}
		case len(w) > 1 && !slices.Contains(stopwords, w):
			if w = stem(w); !slices.Contains(s.words, w) {
				s.words = append(s.words, w)
			}
		}
		previous = w
	}
}

// split gives the words and numbers of a text in lower case. A letter beyond ASCII is of a word, but for spaces and punctuation. A number
// may have a point within (3.5); commas within are left out (1,200).
func split(text string) []string {
	var list []string
	var word []rune
	runes := []rune(text)
	for i, c := range runes {
		digits := i > 0 && i+1 < len(runes) && digit(runes[i-1]) && digit(runes[i+1]) && len(word) > 0 && digit(word[0])
		switch {
		case c >= 'A' && c <= 'Z':
			word = append(word, c+'a'-'A')
		case c >= 'a' && c <= 'z' || digit(c) || c == '.' && digits || c >= 0x80 && c != 0xa0 && (c < 0x2000 || c > 0x206f):
			word = append(word, c)
		case c == ',' && digits:
		case len(word) > 0:
			list, word = append(list, string(word)), word[:0]
		}
	}
	if len(word) > 0 {
		list = append(list, string(word))
	}
	return list
}

func digit(c rune) bool { return c >= '0' && c <= '9' }

// stem takes the commonest endings of English from a word.
func stem(w string) string {
	for _, ending := range []string{"ing", "ed", "es", "s"} {
		if len(w) >= len(ending)+3 && strings.HasSuffix(w, ending) {
			w = w[:len(w)-len(ending)]
			break
		}
	}
	if len(w) > 3 && strings.HasSuffix(w, "e") {
		w = w[:len(w)-1]
	}
	return w
}

// lacks says which share of a claim's words a sentence does not have, and whether it is near.
func (s *sentence) lacks(claim *sentence) (missing float64, near bool) {
	if s.negated != claim.negated || slices.ContainsFunc(claim.numbers, func(n string) bool { return !slices.Contains(s.numbers, n) }) {
		return 1, false
	}
	lacking := 0
	for _, w := range claim.words {
		if !slices.Contains(s.words, w) {
			lacking++
		}
	}
	if lacking == 0 {
		return 0, true
	}
	return float64(lacking) / float64(len(claim.words)), 2*lacking <= len(claim.words)
}

// quote is the sentence, cut to maxQuote characters.
func (s *sentence) quote() string {
	n := 0
	for i := range s.text {
		if n == maxQuote {
			return s.text[:i]
		}
		n++
	}
	return s.text
}

// oneLine writes a quote as one line of a question.
func oneLine(text string) string {
	return strings.NewReplacer("\r", " ", "\t", " ", "\u2028", " ", "\u2029", " ").Replace(text)
}

package reading

import (
	"strings"
	"unicode"
)

// joining words stand between two clauses of a sentence.
var joining = set("and but while whereas although though because since und aber während weil obwohl et mais car y pero porque aunque")

// leastClause is how many words make a clause of its own, where it has no figure.
const leastClause = 2

// standsAlone says whether a part of a sentence is a clause of its own.
func standsAlone(part string) bool {
	words := Words(part)
	return len(words) >= leastClause || len(words) > 0 && strings.ContainsAny(part, "0123456789")
}

// Clauses are the parts of a statement, outside of its quotations, that say something by
// themselves: between commas, semicolons and joining words. A statement of one has one.
func (s *Statement) Clauses() []Statement {
	var list []Statement
	open := ""
	end := func() {
		if standsAlone(open) {
			list = append(list, newStatement(open))
			open = ""
		}
	}
	for token := range strings.FieldsFuncSeq(s.Outside, unicode.IsSpace) {
		if joining[strings.ToLower(token)] {
			end()
		}
		if open != "" {
			open += " "
		}
		open += token
		if strings.ContainsAny(token[len(token)-1:], ",;:") || strings.ContainsAny(token, "—–") {
			end()
		}
	}
	if open == "" {
		return list
	}
	if len(list) > 0 && !standsAlone(open) { // too little to stand alone
		last := &list[len(list)-1]
		open, list = last.Text+" "+open, list[:len(list)-1]
	}
	return append(list, newStatement(open))
}

// shareOf is the share of words that stand in the item.
func (item *Item) shareOf(words []string) float64 {
	shared := 0
	for _, word := range words {
		if item.words[word] {
			shared++
		}
	}
	return float64(shared) / float64(max(1, len(words)))
}

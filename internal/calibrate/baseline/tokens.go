package baseline

import (
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/shadowcourt/shadowcourt/abi"
)

// tokens gives the words of the documents and of the items' contents: runs of letters and digits with at least one
// letter, in lower case, of 2 to 40 bytes, each once; and how often each stands.
func tokens(c *abi.Case) (list []string, times []int) {
	seen := map[string]int{}
	add := func(text string) {
		for word := range strings.FieldsFuncSeq(text, isBreak) {
			if len(word) < 2 || len(word) > 40 || !strings.ContainsFunc(word, unicode.IsLetter) {
				continue
			}
			lower := strings.ToLower(word)
			if _, ok := seen[lower]; !ok {
				lower = strings.Clone(lower) // a part of a document would keep all of it
			}
			seen[lower]++
		}
	}
	for i := range c.Documents {
		add(c.Documents[i].Text)
	}
	for i := range c.Evidence {
		add(c.Evidence[i].Content)
	}
	list = slices.Sorted(maps.Keys(seen))
	for _, token := range list {
		times = append(times, seen[token])
	}
	return list, times
}

func isBreak(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }

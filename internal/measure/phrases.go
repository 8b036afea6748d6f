package measure

import (
	"slices"
	"strings"
	"sync"

	"github.com/shadowcourt/shadowcourt/abi/odds"
)

// Bounds of what is a phrase.
const (
	mostWords     = 2
	mostGap       = 3  // bytes between two words of a phrase
	mostPhrase    = 60 // bytes
	mostGroups    = 5
	leastCases    = 3
	fewestGroups  = 2
	groupsShare   = 5       // a phrase stands in one of so many groups, within the bounds above
	mostTextBytes = 1 << 20 // of one case that are mined
	mostCells     = 1 << 23 // phrases times labels
)

// leastGroups is in how many groups a phrase must stand at least: what a few projects have in common may be a name.
func (c *corpus) leastGroups() int {
	if !c.grouped || c.named == 1 {
		return min(fewestGroups, c.groups)
	}
	return min(max(c.groups/groupsShare, fewestGroups), mostGroups, c.groups)
}

// minePhrases finds the phrases of the cases that stand in at least leastCases cases and in enough groups, though not
// in nearly all, and notes in each case those that stand there. It doesn't look at the truth.
func (c *corpus) minePhrases(workers int) {
	known := make(map[string]bool)
	for _, w := range c.frequent(workers, 1, nil) {
		known[w] = true
	}
	c.phrases = c.frequent(workers, mostWords, known)
	index := make(map[string]int32, len(c.phrases))
	for i, p := range c.phrases {
		index[p] = int32(i)
	}
	each(len(c.samples), workers, func(i int) {
		s := &c.samples[i]
		for p := range phrasesOf(s, mostWords, known) {
			if k, ok := index[p]; ok {
				s.phrases = append(s.phrases, k)
			}
		}
		slices.Sort(s.phrases)
	})
}

// frequent gives, sorted, the phrases up to a number of words that may tell labels apart. Where they are so many that
// counts by label would fill the memory, the rarest go.
func (c *corpus) frequent(workers, words int, known map[string]bool) []string {
	type standing struct {
		cases  int
		groups []int // as many as are needed
	}
	var mu sync.Mutex
	counts, groups, most := make(map[string]*standing), c.leastGroups(), max(mostCells/len(c.labels), 1)
	each(len(c.samples), workers, func(i int) {
		s := &c.samples[i]
		phrases := phrasesOf(s, words, known)
		mu.Lock()
		defer mu.Unlock()
		for p := range phrases {
			st := counts[p]
			if st == nil {
				st = &standing{}
				counts[strings.Clone(p)] = st
			}
			st.cases++
			if len(st.groups) < groups && !slices.Contains(st.groups, s.group) {
				st.groups = append(st.groups, s.group)
			}
		}
	})
	for least := leastCases; ; least++ {
		var out []string
		for p, st := range counts {
			if st.cases >= least && len(st.groups) >= groups && len(c.samples)-st.cases >= leastCases {
				out = append(out, p)
			}
		}
		if len(out) <= most || least >= len(c.samples) {
			slices.Sort(out)
			return out
		}
	}
}

// phrasesOf gives the distinct phrases of a case up to a number of words, in
// small letters. Words that are not known begin and continue none; nil knows all.
func phrasesOf(s *sample, most int, known map[string]bool) map[string]struct{} {
	out := make(map[string]struct{})
	left := mostTextBytes
	for _, text := range texts(&s.entry.Case) {
		if len(text) > left {
			text = text[:left]
		}
		left -= len(text)
		addPhrases(out, lower(text), most, known)
	}
	return out
}

type span struct{ start, end int }

// addPhrases walks over the words of a text and adds each with its predecessors.
func addPhrases(out map[string]struct{}, text string, most int, known map[string]bool) {
	var before []span // the known words that end just before, the latest last
	for start := 0; start < len(text); {
		if !inWord(text[start]) {
			start++
			continue
		}
		end := start + 1
		for end < len(text) && inWord(text[end]) {
			end++
		}
		word := text[start:end]
		if end-start > mostPhrase || !telling(word) || known != nil && !known[word] {
			before = before[:0]
			start = end
			continue
		}
		out[word] = struct{}{}
		if n := len(before); n > 0 && !near(text[before[n-1].end:start]) {
			before = before[:0]
		}
		for _, b := range before {
			if end-b.start <= mostPhrase {
				out[text[b.start:end]] = struct{}{}
			}
		}
		before = append(before, span{start, end})
		if len(before) >= most {
			before = slices.Delete(before, 0, len(before)-most+1)
		}
		start = end
	}
}

// near says whether what stands between two words leaves them in one phrase.
func near(gap string) bool {
	return len(gap) <= mostGap && !strings.ContainsAny(gap, "\n\r\t")
}

// telling says whether a word may be a signal: one letter is none, and what begins with a digit is a line, a count, a time or an address.
func telling(word string) bool {
	return len(word) >= 2 && (word[0] < '0' || word[0] > '9')
}

func inWord(b byte) bool { return 'a' <= b && b <= 'z' || '0' <= b && b <= '9' || b >= 0x80 }

// lower makes ASCII letters small and leaves all other bytes as they stand.
func lower(text string) string {
	b := []byte(text)
	for i := range b {
		b[i] = odds.Fold(b[i])
	}
	return string(b)
}

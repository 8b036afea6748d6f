package bench

import (
	"strings"

	"github.com/shadowcourt/shadowcourt/abi/odds"
	"github.com/shadowcourt/shadowcourt/plugins/internal/text"
)

// lineReader finds the lines that name labels beside a word of trouble, in one
// pass of a matcher over all stems: a line that holds none costs nothing.
type lineReader struct {
	matcher *odds.Matcher
	// words are the labels' distinct words, the matcher's first phrases; those
	// beyond are the stems of trouble.
	words []string
	// namesOf lists, for each word, the names that need it.
	namesOf [][]int
	// needs is how many words each name needs.
	needs []int

	// Of the line that is being read:
	document   string
	start, end int
	trouble    bool
	seenWord   []bool
	touched    []int // words seen
	hits       []int // by name
}

func newLineReader(names []name) *lineReader {
	r := &lineReader{needs: make([]int, len(names)), hits: make([]int, len(names))}
	index := make(map[string]int)
	var stems []string
	for i := range names {
		for _, w := range names[i].words {
			j, ok := index[w]
			if !ok {
				j = len(r.words)
				index[w] = j
				r.words, r.namesOf, stems = append(r.words, w), append(r.namesOf, nil), append(stems, stem(w))
			}
			if n := r.namesOf[j]; len(n) == 0 || n[len(n)-1] != i {
				r.namesOf[j] = append(n, i)
				r.needs[i]++
			}
		}
	}
	r.seenWord = make([]bool, len(r.words))
	r.matcher = odds.NewMatcher(append(stems, troubleStems()...))
	return r
}

// read calls found for every name that a line of document names beside a word
// of trouble; [start, end) is the line.
func (r *lineReader) read(document string, found func(name, start, end int)) {
	r.document, r.start, r.end = document, 0, -1
	r.matcher.Scan(document, func(phrase, start, end int) {
		if start > 0 && text.IsWordByte(document[start-1]) {
			return
		}
		if start > r.end {
			r.finish(found)
			r.begin(start)
		}
		r.note(phrase, start, end)
	})
	r.finish(found)
}

func (r *lineReader) begin(at int) {
	r.start = strings.LastIndexByte(r.document[:at], '\n') + 1
	r.end = len(r.document)
	if i := strings.IndexByte(r.document[at:], '\n'); i >= 0 {
		r.end = at + i
	}
}

func (r *lineReader) note(phrase, start, end int) {
	line := r.document[r.start:r.end]
	from := start - r.start
	to := text.WordEnd(line, end-r.start)
	if phrase >= len(r.words) {
		r.trouble = r.trouble || !denied(line, from, to)
		return
	}
	if !r.seenWord[phrase] && isForm(line[end-r.start:to], r.words[phrase]) {
		r.seenWord[phrase] = true
		r.touched = append(r.touched, phrase)
		for _, name := range r.namesOf[phrase] {
			r.hits[name]++
		}
	}
}

// finish tells what the line names, each name once, and forgets it.
func (r *lineReader) finish(found func(name, start, end int)) {
	for _, word := range r.touched {
		r.seenWord[word] = false
		for _, name := range r.namesOf[word] {
			if r.trouble && r.hits[name] == r.needs[name] {
				found(name, r.start, r.end)
			}
			r.hits[name] = 0
		}
	}
	r.touched, r.trouble = r.touched[:0], false
}

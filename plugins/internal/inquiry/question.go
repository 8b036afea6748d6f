package inquiry

import (
	"cmp"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/odds"
	"github.com/shadowcourt/shadowcourt/abi/sourcefile"
	"github.com/shadowcourt/shadowcourt/plugins/internal/text"
)

// Topic is what a question of a remand is about.
type Topic struct {
	labels []string // that it names, or that an item which it names supports
	// Items of the case's evidence that it names, by index.
	Items  []int
	words  []string
	finder odds.Signals // of the words
}

// Topics of the questions, in their order. A question names labels and items as they stand in the case: an item by its source_ref.
func Topics(r *abi.NodeRequest) []Topic {
	if r.File == nil || r.File.Feedback == nil {
		return nil
	}
	out := make([]Topic, len(r.File.Feedback.Questions))
	for i := range out {
		out[i] = topicOf(r, r.File.Feedback.Questions[i].Question)
	}
	return out
}

func topicOf(r *abi.NodeRequest, question string) Topic {
	var t Topic
	for i := range r.Case.Evidence {
		e := &r.Case.Evidence[i]
		if named(question, e.SourceRef) {
			t.Items = append(t.Items, i)
			if e.Supports != "" && !slices.Contains(t.labels, e.Supports) {
				t.labels = append(t.labels, e.Supports)
			}
		}
	}
	for _, label := range r.Case.Labels {
		if named(question, label) && !slices.Contains(t.labels, label) {
			t.labels = append(t.labels, label)
		}
	}
	t.words = wordsOf(question, r.Case.Labels)
	t.finder = odds.FindPhrases(t.words)
	return t
}

// named says whether a name stands in a text, with no letter or digit beside it.
func named(s, name string) bool {
	if name == "" {
		return false
	}
	for at := 0; ; {
		i := strings.Index(s[at:], name)
		if i < 0 {
			return false
		}
		start, end := at+i, at+i+len(name)
		if (start == 0 || !inWord(s[start-1]) || !inWord(name[0])) && (end == len(s) || !inWord(s[end]) || !inWord(name[len(name)-1])) {
			return true
		}
		at = start + 1
	}
}

func inWord(c byte) bool {
	c = odds.Fold(c)
	return 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '_'
}

// The bounds of what a question asks by its words.
const (
	leastWordBytes = 4
	maxTopicWords  = 24
	// leastShared is how many of the words must stand in a line: one word alone stands in many.
	leastShared = 2
)

// plainWords say nothing about what is asked for.
func plainWords() []string {
	return []string{
		"about", "above", "after", "also", "another", "because", "been", "before", "case", "does", "else", "evidence", "from", "have",
		"item", "label", "labels", "other", "says", "show", "shows", "than", "that", "their", "them", "then", "there", "they",
		"this", "what", "when", "where", "which", "while", "with", "would",
	}
}

func wordsOf(question string, labels []string) []string {
	var words []string
	plain := plainWords()
	for word := range strings.FieldsFuncSeq(question, func(c rune) bool {
		return c < 0x80 && !inWord(byte(c))
	}) {
		word = fold(word)
		if len(word) >= leastWordBytes && len(words) < maxTopicWords && !slices.Contains(words, word) && !slices.Contains(plain, word) && !slices.ContainsFunc(labels, func(l string) bool { return fold(l) == word }) {
			words = append(words, word)
		}
	}
	return words
}

func fold(s string) string {
	b := []byte(s)
	for i := range b {
		b[i] = odds.Fold(b[i])
	}
	return string(b)
}

// Concerns says whether an item bears on what the question asks: it speaks for
// a label that the question is about, or says two of its words.
func (t *Topic) Concerns(e *abi.Evidence) bool {
	if e.Supports != "" && slices.Contains(t.labels, e.Supports) {
		return true
	}
	return t.shared(e.Content) >= leastShared
}

func (t *Topic) shared(content string) int {
	seen := make(map[int]bool)
	t.finder.Scan(content, func(word, _, _ int) { seen[word] = true })
	return len(seen)
}

// answerSource is the source of lines that were found by the words of a question.
const answerSource = sourcePrefix + "answer"

// maxSearched bounds what is found by the words of one question.
const maxSearched = 3

// Search finds lines that say words of the question, in what the clues leave of the documents; those that say most of them first.
func (c *Clues) Search(t *Topic) []abi.Evidence {
	if len(t.words) < leastShared {
		return nil
	}
	type hit struct {
		document, line, shared int
	}
	var hits []hit
	for n := range c.documents {
		d := &c.documents[n]
		said := make(map[int]uint32) // by line, a bit for each word
		t.finder.Scan(d.text, func(word, start, _ int) {
			if i := d.at(start); d.block[i] == 0 {
				said[i] |= 1 << word
			}
		})
		for i, bits := range said {
			if shared := count(bits); shared >= leastShared {
				hits = append(hits, hit{n, i, shared})
			}
		}
	}
	slices.SortFunc(hits, func(a, b hit) int {
		return cmp.Or(cmp.Compare(b.shared, a.shared), cmp.Compare(a.document, b.document), cmp.Compare(a.line, b.line))
	})
	var out []abi.Evidence
	seen := make(map[string]bool)
	for _, h := range hits {
		d := &c.documents[h.document]
		quote := d.quote(h.line, h.line+1)
		key := strings.Join(text.Substance(quote), "\n")
		if len(out) == maxSearched {
			break
		}
		if !text.Blank(quote) && !seen[key] {
			seen[key] = true
			out = append(out, abi.Evidence{SourceRef: answerSource + ":" + at(d.name, h.line), Content: quote, RelevanceConfidence: wordRelevance, Element: abi.Water})
		}
	}
	return out
}

func count(bits uint32) int {
	n := 0
	for ; bits != 0; bits &= bits - 1 {
		n++
	}
	return n
}

// steer is what a pass looks for first: the places that resolve selected, and what the court asks.
type steer struct {
	focus  []string
	topics []Topic
}

func steerOf(r *abi.NodeRequest) steer {
	s := steer{topics: Topics(r)}
	if r.File != nil && r.File.Resolve != nil {
		for i := range r.File.Resolve.Selected {
			s.focus = append(s.focus, r.File.Resolve.Selected[i].FocusPaths...)
		}
	}
	return s
}

// The ranks of clues.
const (
	asked     = iota // it bears on a question of the court
	inFocus          // it names a place that was selected
	elsewhere        // neither
)

// rankOf a clue: the least comes first.
func (c *Clues) rankOf(clue *Clue) int {
	e := c.Item(clue)
	for i := range c.steer.topics {
		if c.steer.topics[i].Concerns(&e) {
			return asked
		}
	}
	if clue.Place.Path != "" {
		at := clue.Place.Path + ":" + text.Int(clue.Place.Line)
		if slices.ContainsFunc(c.steer.focus, func(f string) bool { return sourcefile.Same(f, at) || sourcefile.Same(f, clue.Place.Path) }) {
			return inFocus
		}
	}
	return elsewhere
}

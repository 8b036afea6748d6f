package roles

import (
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/odds"
	"github.com/shadowcourt/shadowcourt/plugins/internal/text"
)

// name is what of a label can be looked for in a text: the words that set it apart from the case's other labels.
type name struct {
	label string
	words []string
}

// readNames finds lines in which a label's own words stand together with a word of trouble: knowing nothing of the domain, it takes a log
// at its word. Labels that are codes say nothing that a log could repeat.
func readNames(documents []abi.Document, labels []string) *abi.Discovery {
	names := distinctive(labels)
	best := make([]namedLine, len(names))
	if len(names) > 0 {
		reader := newLineReader(names)
		for d := range documents {
			reader.read(documents[d].Text, func(name, start, end int) { best[name].see(d, start, end-start) })
		}
	}
	out := &abi.Discovery{Findings: []abi.Finding{}, Missing: []string{}}
	for i := range names {
		if best[i].times == 0 {
			out.Missing = append(out.Missing, "no line names "+strings.Join(names[i].words, " ")+" beside a word of trouble")
			continue
		}
		d := &documents[best[i].document]
		out.Findings = append(out.Findings, abi.Finding{
			Document:    d.Name,
			Observation: "names " + strings.Join(names[i].words, " ") + " beside a word of trouble, " + times(best[i].times),
			Quote:       text.QuoteAround(d.Text, best[i].start, best[i].start),
			Supports:    names[i].label,
			Strength:    nameStrength(len(names[i].words), len(labels)),
		})
	}
	if len(names) == 0 {
		out.Missing = append(out.Missing, "the labels' names are codes, no document can name them")
	}
	return out
}

// nameStrength is how probable a line that names one of k labels makes it: the line is taken for three times as likely where the label is
// right, and for five times when it took several words. Logs mention much.
func nameStrength(words, k int) float64 {
	odds := 3.0
	if words > 1 {
		odds = 5
	}
	return odds / (odds + float64(k-1))
}

// namedLine is the shortest line that names a label: the plainest statement.
type namedLine struct {
	document, start, length, times int
}

func (n *namedLine) see(document, start, length int) {
	if n.times == 0 || length < n.length {
		n.document, n.start, n.length = document, start, length
	}
	n.times++
}

// distinctive splits labels into words and keeps those that fewer than half
// of the labels share; a label with a word that isn't one gives nothing.
func distinctive(labels []string) []name {
	split := make([][]string, len(labels))
	count := make(map[string]int)
	for i, label := range labels {
		split[i] = labelWords(label)
		for _, w := range split[i] {
			count[w]++
		}
	}
	var names []name
	for i, label := range labels {
		var own []string
		for _, w := range split[i] {
			if 2*count[w] < len(labels) || count[w] == 1 {
				own = append(own, w)
			}
		}
		if len(own) > 0 {
			names = append(names, name{label, own})
		}
	}
	return names
}

// labelWords gives a label's words in lower case, or nothing where one of them
// is no word: codes such as ab12, and what is too short to recognise.
func labelWords(label string) []string {
	var out []string
	for _, w := range text.Words(label) {
		if len(w) < 4 || strings.ContainsAny(w, "0123456789") {
			return nil
		}
		out = append(out, w)
	}
	return out
}

// stemBytes is how much of a long word must agree for another to be a form of it: resolve and resolution, dependency and dependencies.
const stemBytes = 5

// stem is what every form of a word begins with.
func stem(word string) string { return word[:min(len(word), stemBytes)] }

// isForm says whether a word that begins with another's stem is a form of it:
// any is of a long word, of a short one only the common endings are.
func isForm(rest, word string) bool {
	if len(word) > stemBytes {
		return true
	}
	switch strings.ToLower(rest) {
	case "", "s", "ed", "ing":
		return true
	default:
		return false
	}
}

// troubleStems begin the words by which a line reports trouble.
func troubleStems() []string {
	return []string{
		"error", "fail", "fatal", "panic", "exception", "cannot", "unable", "unresolved", "denied", "could not",
		"couldn't", "refused", "abort", "invalid", "violat", "missing", "timeout", "timed out", "crash", "broken",
	}
}

// denied says whether a zero or a no stands beside the word in [start, end) of a line: "Failures: 0", "no errors".
func denied(line string, start, end int) bool {
	if next, ok := wordAfter(line, end); ok && next == "0" {
		return true
	}
	switch before := wordBefore(line, start); strings.ToLower(before) {
	case "0", "no", "without":
		return true
	default:
		return false
	}
}

func wordAfter(line string, i int) (string, bool) {
	for i < len(line) && !text.IsWordByte(line[i]) {
		i++
	}
	return line[i:text.WordEnd(line, i)], i < len(line)
}

func wordBefore(line string, i int) string {
	for i > 0 && !text.IsWordByte(line[i-1]) {
		i--
	}
	end := i
	for i > 0 && text.IsWordByte(line[i-1]) {
		i--
	}
	return line[i:end]
}

// lineReader finds the lines that name labels beside a word of trouble, in one
// pass of a matcher over all stems: a line that holds none costs nothing.
type lineReader struct {
	matcher *odds.Matcher
	// words are the labels' distinct words, the matcher's first phrases; those beyond are the stems of trouble.
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

// read calls found for every name that a line of document names beside a word of trouble; [start, end) is the line.
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

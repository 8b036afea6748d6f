package measure

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/odds"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// lightSource is what Light is called among the sources. An outside source of the same name is another one.
const lightSource = "light"

// noLabel is what a source says that names no label.
const noLabel = -1

// utterance is one thing that one source says of a case.
type utterance struct {
	source int
	// says is a label of the corpus, or noLabel.
	says      int
	statement int     // index into corpus.statements
	logit     float64 // of the strongest confidence stated with it, within the range of the source
}

// sample is a case as fitting sees it.
type sample struct {
	entry   *docket.Entry
	labels  []int // of the corpus, in the case's order
	truth   int   // index into labels
	group   int
	uttered []utterance
	// elements are the element statements of the corpus that the case's items make, rising.
	elements []int32
	phrases  []int32 // of the corpus, rising
}

type statement struct{ source, says int }

// corpus is all cases with one numbering of labels, sources, statements and phrases.
type corpus struct {
	labels     []string
	sources    []string // 0 is Light
	statements []statement
	elements   []elementStatement
	phrases    []string
	samples    []sample
	// ranges are the confidences that each source states with a label, but for the ends; nil where it states none.
	ranges  []*abi.ConfidenceRange
	groups  int
	grouped bool // cases name their groups
	// named is how many groups there are where cases name them. All of one group count as one each: nothing else could be left out.
	named int
	// same: all cases have the same set of labels.
	same bool
}

// newCorpus numbers what stands in the entries. Entries stay referenced.
func newCorpus(entries []docket.Entry) *corpus {
	c := &corpus{sources: []string{lightSource}, same: true}
	labels, groups := make(map[string]int), make(map[string]int)
	sources, statements := make(map[string]int), make(map[statement]int)
	for i := range entries {
		e := &entries[i]
		s := sample{entry: e, truth: -1}
		for j, label := range e.Case.Labels {
			s.labels = append(s.labels, index(labels, label, &c.labels))
			if e.Truth != nil && e.Truth.Classification == label {
				s.truth = j
			}
		}
		key := "case " + e.Case.ID // which is a group of its own
		if e.Case.Group != "" {
			key, c.grouped = "group "+e.Case.Group, true
		}
		s.group = number(groups, key)
		utter := func(source int, says string, confidence float64) {
			u := utterance{source: source, says: noLabel, logit: odds.Logit(confidence)}
			if says != "" {
				j := slices.Index(e.Case.Labels, says)
				if j < 0 {
					return
				}
				u.says = s.labels[j]
			}
			u.statement = index(statements, statement{source, u.says}, &c.statements)
			s.utter(u)
		}
		if light := e.Case.Light; light != nil {
			utter(0, light.Classification, light.Confidence)
		}
		for k := range e.Case.Evidence {
			item := &e.Case.Evidence[k]
			key := odds.SourceKey(item.SourceRef)
			if key == "" {
				continue // a profile has no name for it
			}
			source := 1 + number(sources, key)
			if source == len(c.sources) {
				c.sources = append(c.sources, key)
			}
			utter(source, item.Supports, item.RelevanceConfidence)
		}
		c.samples = append(c.samples, s)
	}
	c.named = len(groups)
	if c.groups = c.named; c.groups == 1 { // split into cases: nothing else could be left out
		c.groups = len(c.samples)
		for i := range c.samples {
			c.samples[i].group = i
		}
	}
	for i := range c.samples {
		c.same = c.same && len(c.samples[i].labels) == len(c.labels)
	}
	c.measureRanges()
	c.readElements()
	return c
}

// rangeEnds is the share of the confidences of a source beyond each end of its range.
const rangeEnds = 0.05

// measureRanges finds the range of what each source states, and takes what it states within.
func (c *corpus) measureRanges() {
	stated := make([][]float64, len(c.sources))
	c.eachStated(func(u *utterance) { stated[u.source] = append(stated[u.source], u.logit) })
	c.ranges = make([]*abi.ConfidenceRange, len(c.sources))
	for s, list := range stated {
		if len(list) > 0 {
			slices.Sort(list)
			beyond := int(rangeEnds * float64(len(list)))
			c.ranges[s] = &abi.ConfidenceRange{Least: round(expit(list[beyond])), Most: round(expit(list[len(list)-1-beyond]))}
		}
	}
	c.eachStated(func(u *utterance) {
		r := c.ranges[u.source]
		u.logit = min(max(u.logit, odds.Logit(r.Least)), odds.Logit(r.Most))
	})
}

// eachStated calls for each utterance that names a label.
func (c *corpus) eachStated(f func(u *utterance)) {
	for i := range c.samples {
		for k := range c.samples[i].uttered {
			if u := &c.samples[i].uttered[k]; u.says != noLabel {
				f(u)
			}
		}
	}
}

func expit(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// utter keeps each thing that a source says once, with the strongest confidence.
func (s *sample) utter(u utterance) {
	for i := range s.uttered {
		if before := &s.uttered[i]; before.statement == u.statement {
			before.logit = max(before.logit, u.logit)
			return
		}
	}
	s.uttered = append(s.uttered, u)
}

// number gives the number of a key, the next one to a new key.
func number[T comparable](known map[T]int, key T) int {
	n, ok := known[key]
	if !ok {
		n = len(known)
		known[key] = n
	}
	return n
}

// index gives the place of a key in a list, adding it where it is new.
func index[T comparable](known map[T]int, key T, list *[]T) int {
	i := number(known, key)
	if i == len(*list) {
		*list = append(*list, key)
	}
	return i
}

// Texts of a case in which the court looks for signals: the subject, the documents, and the contents of items that name no label.
func texts(c *abi.Case) []string {
	out := []string{c.Subject}
	for i := range c.Documents {
		out = append(out, c.Documents[i].Text)
	}
	for i := range c.Evidence {
		if c.Evidence[i].Supports == "" {
			out = append(out, c.Evidence[i].Content)
		}
	}
	return out
}

// elementStatement is something that a source may say by an item of an element.
type elementStatement struct {
	statement int // index into corpus.statements
	element   abi.Element
}

// readElements finds by which elements each source says what it says, where that differs: a reader of logs that names a label for one
// kind of line and for another makes two statements that may not be worth the same.
func (c *corpus) readElements() {
	made := make([][]elementStatement, len(c.samples))
	cases := make(map[elementStatement]int)
	for i := range c.samples {
		made[i] = c.elementStatements(i)
		for _, x := range made[i] {
			cases[x]++
		}
	}
	kinds := make([]int, len(c.statements)) // by statement: elements by which it is made
	for x, n := range cases {
		if n >= leastCases {
			kinds[x.statement]++
		}
	}
	for x, n := range cases {
		if n >= leastCases && kinds[x.statement] > 1 {
			c.elements = append(c.elements, x)
		}
	}
	slices.SortFunc(c.elements, func(a, b elementStatement) int {
		return cmp.Or(cmp.Compare(a.statement, b.statement), cmp.Compare(a.element, b.element))
	})
	for i := range c.samples {
		for at, x := range c.elements {
			if slices.Contains(made[i], x) {
				c.samples[i].elements = append(c.samples[i].elements, int32(at))
			}
		}
	}
}

// elementStatements are what the items of a case say by which element, each once.
func (c *corpus) elementStatements(i int) []elementStatement {
	s := &c.samples[i]
	var out []elementStatement
	for k := range s.entry.Case.Evidence {
		item := &s.entry.Case.Evidence[k]
		key := odds.SourceKey(item.SourceRef)
		for u := range s.uttered {
			x := &s.uttered[u]
			if x.source == 0 || c.sources[x.source] != key || c.labelOf(x.says) != item.Supports {
				continue
			}
			if made := (elementStatement{x.statement, odds.ElementOf(item.Element)}); !slices.Contains(out, made) {
				out = append(out, made)
			}
		}
	}
	return out
}

// labelOf names what a source says; empty for no label.
func (c *corpus) labelOf(says int) string {
	if says == noLabel {
		return ""
	}
	return c.labels[says]
}

// AddStatements gives the entries with what language models stated in results of the same cases among the evidence: a model is a source like
// any other.
func AddStatements(entries []docket.Entry, results []trial.Result) ([]docket.Entry, error) {
	entries, stated := slices.Clone(entries), make(map[string][]abi.Evidence)
	for i := range results {
		id := results[i].ID
		for k, s := range results[i].Statements {
			if !odds.IsModel(s.Source) || s.Label == "" || !(s.Confidence >= 0 && s.Confidence <= 1) {
				return nil, fmt.Errorf("case %q: statements[%d]: needs a source %sNAME, a label and a confidence in [0, 1]", id, k, abi.ModelSource)
			}
			stated[id] = append(stated[id], abi.Evidence{SourceRef: s.Source, Supports: s.Label, RelevanceConfidence: s.Confidence})
		}
	}
	if len(stated) == 0 {
		return nil, errors.New("no language model stated anything there; what runs tell is not learned but in the profiles alibi and go-test")
	}
	for i := range entries {
		c := &entries[i].Case
		c.Evidence = slices.Concat(c.Evidence, stated[c.ID])
	}
	return entries, nil
}

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

package odds

import (
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
)

// passages find where a text holds more signals than a profile allows.
type passages struct {
	limit   abi.SignalPassage
	labels  int
	weights [][]abi.LabelWeight // by signal
	index   [][]int             // of the labels of these weights
}

func newPassages(p *abi.Profile, limit abi.SignalPassage) *passages {
	r := &passages{limit: limit, weights: make([][]abi.LabelWeight, len(p.Signals)), index: make([][]int, len(p.Signals))}
	var labels []string
	for i := range p.Signals {
		r.weights[i] = p.Signals[i].Weights
		for j := range r.weights[i] {
			at := slices.Index(labels, r.weights[i][j].Label)
			if at < 0 {
				at = len(labels)
				labels = append(labels, r.weights[i][j].Label)
			}
			r.index[i] = append(r.index[i], at)
		}
	}
	r.labels = len(labels)
	return r
}

type span struct{ start, end int }

// Densest gives, for a text, the most in nats by which the signals of a profile in so many bytes of it move two labels apart.
func (s Signals) Densest(p *abi.Profile, size int) func(text string) float64 {
	r := newPassages(p, abi.SignalPassage{Bytes: size})
	return func(text string) float64 {
		most := 0.0
		if s.matcher != nil {
			r.each(s, text, func(_ hit, _ int, nats float64) { most = max(most, nats) })
		}
		return most
	}
}

// hit is a place where a signal stands.
type hit struct{ signal, start, end int }

// stuffed are the parts of a text whose signals count nothing, in order and apart: passages that exceed the limit, the signals beside them
// that no word parts from them, and half the length of a passage on each side, since not all that is written to move the court is a
// signal. It also gives all places where signals stand. Where these are more than mostHits, there is none that counts.
func (s Signals) stuffed(text string) (list []span, hits []hit) {
	var chain span // signals that no word parts
	exceeds := false
	beside := s.passages.limit.Bytes / 2
	s.passages.each(s, text, func(h hit, first int, nats float64) {
		hits = append(hits, h)
		if h.start > chain.end && hasWord(text[chain.end:h.start]) {
			chain, exceeds = span{h.start, h.end}, false
		}
		chain.end = max(chain.end, h.end)
		at := span{min(h.start, chain.start), h.end}
		if nats > s.passages.limit.Nats {
			exceeds, at.start = true, min(first, chain.start)
		}
		if !exceeds {
			return
		}
		at.start, at.end = at.start-beside, at.end+beside
		for len(list) > 0 && at.start <= list[len(list)-1].end {
			last := list[len(list)-1]
			at.start, at.end = min(at.start, last.start), max(at.end, last.end)
			list = list[:len(list)-1]
		}
		list = append(list, at)
	})
	if len(hits) > mostHits {
		return nil, nil
	}
	return list, hits
}

// mostHits is in how many places of a text signals may stand: one in eight bytes of the longest document. More would only spend the judges' time.
const mostHits = 1 << 17

func hasWord(text string) bool {
	for i := range len(text) {
		if inWord(text[i]) || text[i] >= 0x80 {
			return true
		}
	}
	return false
}

// each calls passage at each of the first mostHits+1 places where a signal stands, for the passage that ends there: with its last signal, where its first one
// begins, and by how many nats they move two labels apart. One signal, with those that overlap it, is no passage, and has none.
func (r *passages) each(s Signals, text string, passage func(last hit, first int, nats float64)) {
	w := window{passages: r, sum: make([]float64, r.labels+1), at: make([]int, len(r.weights))} // the last is a label that no signal names
	hits := 0
	s.scan(text, func(signal, start, end int) {
		if hits++; hits > mostHits+1 {
			return
		}
		h := hit{signal, start, end}
		w.push(h)
		nats := 0.0
		if w.parted(start) {
			nats = Spread(w.sum)
		}
		passage(h, w.hits[w.first].start, nats)
	})
}

// window holds the signals of a passage, in the order of where they begin, each where it stands last.
type window struct {
	*passages
	sum  []float64
	hits []hit // those before first are gone, and those whose signal is gone
	// first is the first that is in the window
	first int
	at    []int // by signal, 1 + its place in hits, 0 for none
}

const gone = -1

// push adds a signal and drops those that are too far before its end.
func (w *window) push(h hit) {
	if i := w.at[h.signal]; i > 0 {
		w.drop(i - 1)
	}
	for w.first < len(w.hits) && (w.hits[w.first].signal == gone || w.hits[w.first].start < h.end-w.limit.Bytes) {
		w.drop(w.first)
		w.first++
	}
	if w.first == len(w.hits) || w.first >= 2*len(w.at) {
		w.hits = append(w.hits[:0], w.hits[w.first:]...)
		w.first = 0
		for i := range w.hits {
			if signal := w.hits[i].signal; signal != gone {
				w.at[signal] = i + 1
			}
		}
	}
	w.hits = append(w.hits, h)
	w.at[h.signal] = len(w.hits)
	w.add(w.sum, h.signal, 1)
}

func (w *window) drop(i int) {
	if signal := w.hits[i].signal; signal != gone {
		w.add(w.sum, signal, -1)
		w.at[signal], w.hits[i].signal = 0, gone
	}
}

// parted says whether a signal of the window ends before a place.
func (w *window) parted(start int) bool {
	for i := w.first; i < len(w.hits); i++ {
		if w.hits[i].signal != gone && w.hits[i].end <= start {
			return true
		}
	}
	return false
}

func (r *passages) add(to []float64, signal int, times float64) {
	for i, at := range r.index[signal] {
		to[at] += times * r.weights[signal][i].Weight
	}
}

// Signals finds the signals of a profile in texts. Its zero value finds nothing. It can be used by many goroutines at once.
type Signals struct {
	matcher *Matcher
	list    []string
	// passages is nil for no limit
	passages *passages
}

// NewSignals is for the signals of a profile, by their index; nil, or a profile without any, gives one that finds nothing.
func NewSignals(p *abi.Profile) Signals {
	if p == nil || len(p.Signals) == 0 {
		return Signals{}
	}
	list := make([]string, len(p.Signals))
	for i := range p.Signals {
		list[i] = p.Signals[i].Phrase
	}
	s := FindPhrases(list)
	if p.SignalPassage != nil {
		s.passages = newPassages(p, *p.SignalPassage)
	}
	return s
}

// FindPhrases is NewSignals for phrases that are no signals yet.
func FindPhrases(list []string) Signals {
	if len(list) == 0 {
		return Signals{}
	}
	return Signals{matcher: NewMatcher(list), list: list}
}

// Empty says whether there are no signals to be found.
func (s Signals) Empty() bool { return s.matcher == nil }

// Scan calls found for every place of a text where a signal stands. A phrase that begins or ends with an ASCII letter or digit stands only
// where no other is beside it. start and end are byte offsets. Passages that hold more than the profile allows are left out.
func (s Signals) Scan(text string, found func(signal, start, end int)) {
	if s.matcher == nil {
		return
	}
	if s.passages == nil {
		s.scan(text, found)
		return
	}
	stuffed, hits := s.stuffed(text)
	for _, h := range hits {
		for len(stuffed) > 0 && stuffed[0].end <= h.start {
			stuffed = stuffed[1:]
		}
		if len(stuffed) == 0 || h.end <= stuffed[0].start {
			found(h.signal, h.start, h.end)
		}
	}
}

func (s Signals) scan(text string, found func(signal, start, end int)) {
	s.matcher.Scan(text, func(i, start, end int) {
		p := s.list[i]
		if start > 0 && inWord(p[0]) && inWord(text[start-1]) {
			return
		}
		if end < len(text) && inWord(p[len(p)-1]) && inWord(text[end]) {
			return
		}
		found(i, start, end)
	})
}

func inWord(c byte) bool {
	c = Fold(c)
	return 'a' <= c && c <= 'z' || '0' <= c && c <= '9'
}

// AddSignal adds the weights of a signal.
func AddSignal(to []float64, labels []string, s *abi.Signal) {
	for i := range s.Weights {
		if j := slices.Index(labels, s.Weights[i].Label); j >= 0 {
			to[j] += s.Weights[i].Weight
		}
	}
}

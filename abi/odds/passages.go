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
// signal. It also gives all places where signals stand.
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
	return list, hits
}

func hasWord(text string) bool {
	for i := range len(text) {
		if inWord(text[i]) || text[i] >= 0x80 {
			return true
		}
	}
	return false
}

// each calls passage at each place where a signal stands, for the passage that ends there: with its last signal, where its first one
// begins, and by how many nats they move two labels apart. One signal, with those that overlap it, is no passage, and has none.
func (r *passages) each(s Signals, text string, passage func(last hit, first int, nats float64)) {
	type place struct{ signal, start, end int }
	var last []place
	sum := make([]float64, r.labels+1) // the last is a label that no signal names
	s.scan(text, func(signal, start, end int) {
		first, behind := start, len(text)
		last = slices.DeleteFunc(last, func(p place) bool {
			if p.start >= end-r.limit.Bytes && p.signal != signal {
				first, behind = min(first, p.start), min(behind, p.end)
				return false
			}
			r.add(sum, p.signal, -1)
			return true
		})
		last = append(last, place{signal, start, end})
		r.add(sum, signal, 1)
		nats := 0.0
		if behind <= start {
			nats = Spread(sum)
		}
		passage(hit{signal, start, end}, first, nats)
	})
}

func (r *passages) add(to []float64, signal int, times float64) {
	for i, at := range r.index[signal] {
		to[at] += times * r.weights[signal][i].Weight
	}
}

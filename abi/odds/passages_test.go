package odds

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
)

// The window gives what looking at all signals of each passage gives.
func TestPassagesAreReadAsIfEachByItself(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(1, 2))
	words := []string{"aa", "b", "cc dd", "dd", "aa b", "e", "dd e b", "ff"}
	for range 300 {
		p := &abi.Profile{SignalPassage: &abi.SignalPassage{Bytes: 4 + rnd.IntN(30), Nats: 1}}
		for _, w := range words {
			p.Signals = append(p.Signals, abi.Signal{Phrase: w, Weights: []abi.LabelWeight{{Label: string('x' + rune(rnd.IntN(3))), Weight: float64(1 + rnd.IntN(8))}}})
		}
		var text []string
		for range 60 {
			text = append(text, words[rnd.IntN(len(words))])
		}
		s := NewSignals(p)
		var last []hit // of each signal, those in reach
		s.passages.each(s, strings.Join(text, " "), func(h hit, first int, nats float64) {
			last = slices.DeleteFunc(last, func(x hit) bool { return x.signal == h.signal || x.start < h.end-p.SignalPassage.Bytes })
			begins, parted := h.start, false
			sum := make([]float64, 4)
			for _, x := range append(slices.Clone(last), h) {
				begins, parted = min(begins, x.start), parted || x.end <= h.start
				w := p.Signals[x.signal].Weights[0]
				sum[w.Label[0]-'x'] += w.Weight
			}
			want := 0.0
			if parted {
				want = Spread(sum)
			}
			if first != begins || math.Abs(nats-want) > 1e-9 {
				t.Fatalf("at %+v: from %d, %v nats; want %d, %v", h, first, nats, begins, want)
			}
			last = append(last, h)
		})
	}
}

// A text in which signals stand in too many places moves nothing, and takes no longer for it.
func TestTooManySignalsCountNothing(t *testing.T) {
	t.Parallel()
	p := &abi.Profile{Signals: []abi.Signal{{Phrase: "aa", Weights: []abi.LabelWeight{{Label: "x", Weight: 1}}}}, SignalPassage: &abi.SignalPassage{Bytes: 96, Nats: 3}}
	s := NewSignals(p)
	for _, n := range []int{1, mostHits, mostHits + 1, 3 * mostHits} {
		found := 0
		s.Scan(strings.Repeat("aa and ", n), func(int, int, int) { found++ })
		if want := n; n > mostHits && found != 0 || n <= mostHits && found != want {
			t.Errorf("%d places: %d found", n, found)
		}
	}
}

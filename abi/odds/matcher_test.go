package odds

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
)

type match struct{ phrase, start, end int }

func scan(list []string, document string) []match {
	var out []match
	NewMatcher(list).Scan(document, func(phrase, start, end int) { out = append(out, match{phrase, start, end}) })
	return out
}

func TestScan(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name     string
		list     []string
		document string
		want     []match
	}{
		{"any case of ASCII letters", []string{"Data RACE"}, "xx dATA rACE", []match{{0, 3, 12}}},
		{"other bytes as they stand", []string{"größe"}, "GRÖSSE größe GRöße", []match{{0, 8, 15}, {0, 16, 23}}},
		{"overlaps", []string{"abcd", "bcde"}, "abcde", []match{{0, 0, 4}, {1, 1, 5}}},
		{"the same phrase again", []string{"aaaa"}, "aaaaa", []match{{0, 0, 4}, {0, 1, 5}}},
		{"short phrases", []string{"ab", "c"}, "abc", []match{{0, 0, 2}, {1, 2, 3}}},
		{"longer than the text", []string{"abcdef"}, "abcde", nil},
		{"empty phrase", []string{""}, "abc", nil},
		{"no phrases", nil, "abc", nil},
		{"empty text", []string{"abcd", "a"}, "", nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if got := scan(tc.list, tc.document); !slices.Equal(got, tc.want) {
				t.Errorf("got %v, want %v", got, tc.want)
			}
		})
	}
}

// The table must find exactly what looking at every place finds.
func TestScanFindsWhatASearchFinds(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(1, 2))
	word := func(n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = "aAbBcC"[rnd.IntN(6)]
		}
		return string(b)
	}
	for range 200 {
		document := word(300)
		list := make([]string, 40)
		for i := range list {
			list[i] = word(1 + rnd.IntN(7))
		}
		got := scan(list, document)
		slices.SortFunc(got, func(a, b match) int { return (a.start-b.start)*1000 + a.phrase - b.phrase })
		var want []match
		for start := range document {
			for i, phrase := range list {
				end := start + len(phrase)
				if end <= len(document) && strings.EqualFold(document[start:end], phrase) {
					want = append(want, match{i, start, end})
				}
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
	}
}

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

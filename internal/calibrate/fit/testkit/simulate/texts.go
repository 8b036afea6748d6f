package simulate

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
)

// Words makes up n words, the same for the same seed.
func Words(seed uint64, n int) []string {
	r := rand.New(rand.NewPCG(seed, 77)) //nolint:gosec // a simulation
	parts := strings.Fields("ba co di fu ga hi jo ka le mu na po qui ro sa te vu wo xe zi")
	out := make([]string, n)
	for i := range out {
		var b strings.Builder
		for range 2 + r.IntN(3) {
			b.WriteString(parts[r.IntN(len(parts))])
		}
		fmt.Fprintf(&b, "%c", 'a'+i%26)
		out[i] = b.String()
	}
	return out
}

// Phrased writes logs: lines of common words, times and counts, and with
// probability hit one of the label's own phrases of two words, with
// probability stray one of another label's.
func Phrased(seed uint64, labels, lines int, hit, stray float64) func(*rand.Rand, int, int) string {
	words := Words(seed, 400)
	phrase := func(label, i int) string { return words[10*label+i] + " " + words[10*label+i+5] }
	return func(r *rand.Rand, label, group int) string {
		var b strings.Builder
		special := make(map[int]string)
		if r.Float64() < hit {
			special[r.IntN(lines)] = phrase(label, r.IntN(4))
		}
		if r.Float64() < stray {
			special[r.IntN(lines)] = phrase(r.IntN(labels), r.IntN(4))
		}
		for i := range lines {
			fmt.Fprintf(&b, "2026-01-%02dT%02d:%02d:%02d worker-%d ", 1+r.IntN(28), r.IntN(24), r.IntN(60), r.IntN(60), r.IntN(9000))
			for range 6 {
				b.WriteString(words[100+zipf(r, 300)] + " ")
			}
			if p := special[i]; p != "" {
				b.WriteString("error: " + p + " in " + fmt.Sprintf("%08x", r.Uint32()))
			}
			fmt.Fprintf(&b, " [%s]\n", words[90+group%10])
		}
		return b.String()
	}
}

// Topical writes prose in which every label only tilts how often words are
// used: no word decides, and many together do.
func Topical(seed uint64, labels, length int, tilt float64) func(*rand.Rand, int, int) string {
	words := Words(seed, 1500)
	w := rand.New(rand.NewPCG(seed, 5)) //nolint:gosec // a simulation
	cumulative := make([][]float64, labels)
	for j := range cumulative {
		sum := 0.0
		for i := range words {
			sum += math.Exp(tilt*w.NormFloat64()) / float64(i+5)
			cumulative[j] = append(cumulative[j], sum)
		}
	}
	return func(r *rand.Rand, label, _ int) string {
		var b strings.Builder
		for i := range length/2 + r.IntN(length) {
			x := r.Float64() * cumulative[label][len(words)-1]
			at := 0
			for cumulative[label][at] < x {
				at++
			}
			b.WriteString(words[at])
			if i%12 == 11 {
				b.WriteString(".\n")
			} else {
				b.WriteByte(' ')
			}
		}
		return b.String()
	}
}

// zipf draws an index below n, small ones more often.
func zipf(r *rand.Rand, n int) int {
	return min(int(math.Exp(r.Float64()*math.Log(float64(n))))-1, n-1)
}

package measure

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/odds"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// witness is a source that speaks for labels, and is right with its accuracy; zero fields change nothing.
type witness struct {
	name     string
	accuracy float64
	// spread of the accuracy from case to case, which the witness knows and states; states is a confidence that it always states.
	spread, states float64
	says           string // a label that it always names
	only           string // the one label that it names, where it thinks that it is so; it is silent otherwise
	copies         string // an earlier witness that it repeats with the probability copyRate
	copyRate       float64
	speaks         float64 // how often it speaks
	names          float64 // how often an item of it names a label when it speaks
}

// simulated is what cases with known truths are drawn from: of groups, if any, and with a text for a label.
type simulated struct {
	labels    []string
	base      []float64 // nil is even
	light     witness
	witnesses []witness
	text      func(r *rand.Rand, label, group int) string
	groups    int
}

func labelNames(k int) []string {
	return strings.Fields("alpha beta gamma delta epsilon zeta eta theta iota")[:k]
}

// worlds are of every kind that fitting has to cope with.
var worlds = func() map[string]*simulated {
	light, light5 := witness{accuracy: 0.62, spread: 0.5}, witness{accuracy: 0.55, spread: 0.4}
	return map[string]*simulated{
		"independent witnesses": {labels: labelNames(4), light: light, witnesses: []witness{
			{name: "a", accuracy: 0.7, spread: 0.8}, {name: "b", accuracy: 0.6, spread: 0.8}, {name: "c", accuracy: 0.55, spread: 0.8},
		}},
		"overconfident witness": {labels: labelNames(3), light: light, witnesses: []witness{
			{name: "loud", accuracy: 0.4, states: 0.99}, {name: "meek", accuracy: 0.8, states: 0.6},
		}},
		"constant and chance witnesses": {labels: labelNames(4), light: light, base: []float64{0.4, 0.3, 0.2, 0.1}, witnesses: []witness{
			{name: "constant", accuracy: 0.5, says: "alpha", states: 0.95}, {name: "chance", accuracy: 0.25, states: 0.8}, {name: "good", accuracy: 0.75, spread: 0.5},
		}},
		"correlated witnesses": {labels: labelNames(4), light: light, witnesses: []witness{
			{name: "first", accuracy: 0.6, states: 0.8},
			{name: "echo", copies: "first", copyRate: 0.95, accuracy: 0.6, states: 0.8},
			{name: "echo2", copies: "first", copyRate: 0.95, accuracy: 0.6, states: 0.8},
			{name: "own", accuracy: 0.72, states: 0.8},
		}},
		"scanner findings": {labels: []string{"true_positive", "false_positive"}, base: []float64{0.3, 0.7}, light: witness{accuracy: 0.6, spread: 0.6}, witnesses: []witness{
			{name: "taint", accuracy: 0.75, only: "true_positive", states: 0.9},
			{name: "lint", accuracy: 0.6, only: "true_positive", states: 0.7},
			{name: "history", accuracy: 0.7, spread: 0.8, speaks: 0.5},
			{name: "notes", accuracy: 0.6, names: 0.3},
		}, text: phrased(3, 2, 6, 0.5, 0.2)},
		"rare labels": {labels: labelNames(7), base: []float64{0.5, 0.3, 0.1, 0.04, 0.03, 0.02, 0.01}, light: light, witnesses: []witness{
			{name: "a", accuracy: 0.8, spread: 1}, {name: "b", accuracy: 0.6, spread: 0.5, speaks: 0.7},
		}},
		"log excerpts": {labels: labelNames(4), light: light5, groups: 15, text: phrased(4, 4, 20, 0.85, 0.3)},
		"issue texts":  {labels: labelNames(6), light: light5, text: topical(6, 6, 80, 0.6)},
		"texts and witnesses": {labels: labelNames(5), light: light5, groups: 20, text: phrased(8, 5, 10, 0.6, 0.2), witnesses: []witness{
			{name: "a", accuracy: 0.55, spread: 0.6}, {name: "b", accuracy: 0.45, spread: 0.6, speaks: 0.6},
		}},
	}
}()

// shape is the simulated world of a name.
func shape(name string) *simulated { return worlds[name] }

// Docket draws n cases; the same seed gives the same.
func (w *simulated) Docket(seed uint64, n int) []docket.Entry {
	r := rand.New(rand.NewPCG(seed, 1))
	out := make([]docket.Entry, n)
	for i := range out {
		truth, group := w.label(r), 0
		c := abi.Case{ID: "case-" + strconv.Itoa(i), Subject: "a case", Labels: w.labels}
		if w.groups > 0 {
			group = r.IntN(w.groups)
			c.Group = "group-" + strconv.Itoa(group)
		}
		says, confidence, _ := w.ask(r, &w.light, truth, nil)
		c.Light = &abi.LightAnswer{Classification: says, Confidence: confidence}
		w.hear(r, &c, truth)
		if w.text != nil {
			c.Documents = []abi.Document{{Name: "log", Text: w.text(r, truth, group)}}
		}
		out[i] = docket.Entry{Case: c, Truth: &trial.Truth{Classification: w.labels[truth]}, Source: "simulated", Line: i + 1}
	}
	return out
}

func (w *simulated) label(r *rand.Rand) int {
	if w.base == nil {
		return r.IntN(len(w.labels))
	}
	x := r.Float64()
	for j, p := range w.base {
		if x -= p; x < 0 {
			return j
		}
	}
	return len(w.base) - 1
}

func (w *simulated) hear(r *rand.Rand, c *abi.Case, truth int) {
	heard := map[string]abi.LightAnswer{}
	for i := range w.witnesses {
		x := &w.witnesses[i]
		if x.speaks > 0 && r.Float64() >= x.speaks {
			continue
		}
		says, confidence, ok := w.ask(r, x, truth, heard)
		if !ok {
			continue
		}
		heard[x.name] = abi.LightAnswer{Classification: says, Confidence: confidence}
		if x.names > 0 && r.Float64() >= x.names {
			says = ""
		}
		c.Evidence = append(c.Evidence, abi.Evidence{
			SourceRef: x.name + ":" + strconv.Itoa(i), Content: fmt.Sprintf("%s looked at case %s", x.name, c.ID), RelevanceConfidence: confidence, Supports: says,
		})
	}
}

// ask asks one witness; ok is false where it is silent.
func (w *simulated) ask(r *rand.Rand, x *witness, truth int, heard map[string]abi.LightAnswer) (says string, confidence float64, ok bool) {
	state := func(p float64) float64 {
		if x.states > 0 {
			return x.states
		}
		return math.Round(min(max(p, 0.01), 0.99)*100) / 100
	}
	if earlier, found := heard[x.copies]; found && r.Float64() < x.copyRate {
		return earlier.Classification, state(earlier.Confidence), true
	}
	accuracy, thinks := expit(odds.Logit(x.accuracy)+x.spread*r.NormFloat64()), truth
	if r.Float64() >= accuracy {
		thinks = (truth + 1 + r.IntN(len(w.labels)-1)) % len(w.labels)
	}
	says = w.labels[thinks]
	if x.only != "" && says != x.only {
		return "", 0, false
	}
	if x.says != "" {
		says = x.says
	}
	return says, state(accuracy), true
}

// madeUp makes up n words, the same for the same seed.
func madeUp(seed uint64, n int) []string {
	r := rand.New(rand.NewPCG(seed, 77))
	parts := strings.Fields("ba co di fu ga hi jo ka le mu na po qui ro sa te vu wo xe zi")
	out := make([]string, n)
	for i := range out {
		for range 2 + r.IntN(3) {
			out[i] += parts[r.IntN(len(parts))]
		}
		out[i] += string(rune('a' + i%26))
	}
	return out
}

// phrased writes logs: lines of common words, times and counts, and with probability hit one of the label's own phrases of two words, with
// probability stray one of another label's.
func phrased(seed uint64, labels, lines int, hit, stray float64) func(*rand.Rand, int, int) string {
	words := madeUp(seed, 400)
	phrase := func(label, i int) string { return words[10*label+i] + " " + words[10*label+i+5] }
	common := func(r *rand.Rand) string {
		return words[100+min(int(math.Exp(r.Float64()*math.Log(300)))-1, 299)] // small ones more often
	}
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
				b.WriteString(common(r) + " ")
			}
			if p := special[i]; p != "" {
				fmt.Fprintf(&b, "error: %s in %08x", p, r.Uint32())
			}
			fmt.Fprintf(&b, " [%s]\n", words[90+group%10])
		}
		return b.String()
	}
}

// topical writes prose in which every label only tilts how often words are used: no word decides, and many together do.
func topical(seed uint64, labels, length int, tilt float64) func(*rand.Rand, int, int) string {
	words, w := madeUp(seed, 1500), rand.New(rand.NewPCG(seed, 5))
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
			at, _ := slices.BinarySearch(cumulative[label], x)
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

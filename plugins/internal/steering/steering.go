// Package steering finds texts that address whoever reads them: that set
// instructions aside, hand out roles, dictate an answer, or forge the marks of a
// conversation. It looks for patterns of words, after undoing what hides them.
//
// It is a first line: it finds what everybody copies, in English and the commonest
// of it in German, French, Spanish, Italian, Portuguese, Russian, Chinese and Japanese. It is blind
// to a polite new one, to riddles and to codes. What it does not find is a claim
// like any other: no module follows it.
package steering

import (
	"slices"
	"strings"
)

// Breach is the probability from which a text counts as a breach.
const Breach = 0.6

// Finding is what was found in a text.
type Finding struct {
	// Probability that the text means to steer its reader.
	Probability float64
	// Kinds of what was found, each once, in the order of the text.
	Kinds []string
	// Passage is the words of what weighs most.
	Passage string
}

// Hidden characters: a few are a slip of an editor, many are a message.
const (
	fewHidden, fewWeight   = 3, 0.4
	manyHidden, manyWeight = 16, 0.7
)

// Detect reads a text. Kinds are taken for independent; of a kind the heaviest counts.
func Detect(text string) Finding {
	var f Finding
	var weights []float64
	note := func(kind string, weight float64) {
		if i := slices.Index(f.Kinds, kind); i >= 0 {
			weights[i] = max(weights[i], weight)
			return
		}
		f.Kinds, weights = append(f.Kinds, kind), append(weights, weight)
	}
	words, hidden := read(text)
	most := 0.0
	for at, word := range words {
		for _, p := range patterns[word] {
			end := p.match(words, at, 0)
			if end < 0 || p.commands && !commands(words, at) {
				continue
			}
			note(p.kind, p.weight)
			if p.weight > most {
				most, f.Passage = p.weight, strings.Join(words[at:end], " ")
			}
		}
	}
	for _, passage := range unparted(text) {
		note(passage.kind, passage.weight)
		if passage.weight > most {
			most, f.Passage = passage.weight, passage.words
		}
	}
	switch {
	case hidden >= manyHidden:
		note(Hidden, manyWeight)
	case hidden >= fewHidden:
		note(Hidden, fewWeight)
	}
	innocent := 1.0
	for _, w := range weights {
		innocent *= 1 - w
	}
	f.Probability = 1 - innocent
	return f
}

// Steers says whether a text is a breach.
func Steers(text string) bool { return Detect(text).Probability >= Breach }

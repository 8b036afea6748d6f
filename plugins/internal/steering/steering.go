// Package steering finds texts that address whoever reads them: that set instructions aside, hand out roles, dictate an answer, or forge
// the marks of a conversation. It looks for patterns of words, after undoing what hides them.
//
// It is a first line: it finds what everybody copies, in English and the commonest of it in German, French, Spanish, Italian, Portuguese,
// Russian, Chinese and Japanese. It is blind to a polite new one, to riddles and to codes. What it does not find is a claim like any other:
// no module follows it.
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
	// unfinished: more words at its end may make it one that steers.
	unfinished bool
}

// Hidden characters: a few are a slip of an editor, many are a message.
const (
	fewHidden, fewWeight   = 3, 0.4
	manyHidden, manyWeight = 16, 0.7
)

// Detect reads a text. Kinds are taken for independent; of a kind the heaviest counts.
func Detect(text string) Finding { return detect(text, false) }

// sure is the weight from which a command to set instructions aside or to reveal them counts in the middle of a sentence.
const sure = 0.8

func detect(text string, anywhere bool) Finding {
	f := Finding{unfinished: !isASCII(text)}
	var weights []float64
	most := 0.0
	note := func(kind string, weight float64, passage func() string) {
		if weight > most && passage != nil {
			most, f.Passage = weight, passage()
		}
		if i := slices.Index(f.Kinds, kind); i >= 0 {
			weights[i] = max(weights[i], weight)
			return
		}
		f.Kinds, weights = append(f.Kinds, kind), append(weights, weight)
	}
	hidden := 0
	for i, variant := range variants(text) {
		all, unseen := read(variant)
		if i == 0 {
			hidden = unseen
		}
		words, starts := split(all)
		for at, word := range words {
			for _, p := range patterns[word] {
				end := p.match(words, at, 0)
				f.unfinished = f.unfinished || end == unfinished
				if end < 0 || p.commands && !commands(words, starts, at, anywhere && p.weight >= sure && (p.kind == Override || p.kind == Secrets)) {
					continue
				}
				note(p.kind, p.weight, func() string { return strings.Join(words[at:end], " ") })
			}
		}
		for _, passage := range unparted(variant) {
			note(passage.kind, passage.weight, func() string { return passage.words })
		}
	}
	switch {
	case hidden >= manyHidden:
		note(Hidden, manyWeight, nil)
	case hidden >= fewHidden:
		note(Hidden, fewWeight, nil)
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

// Addresses says whether a line of a document or a text of a case, which a model is to read, is a breach. It is stricter than [Steers]: an order
// to set instructions aside counts in the middle of a line, too, since a line that is withheld wrongly costs little.
func Addresses(line string) bool { return detect(line, true).Probability >= Breach }

// Line is Addresses, and says whether the lines that follow may make a command of what this one begins.
func Line(line string) (addresses, begins bool) {
	f := detect(line, true)
	return f.Probability >= Breach, f.unfinished
}

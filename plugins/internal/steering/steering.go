// Package steering finds texts that address whoever reads them: that set
// instructions aside, hand out roles, dictate an answer, or forge the marks of a
// conversation. It looks for patterns of words, after undoing what hides them.
//
// It is a first line: it finds what everybody copies, and is blind to a polite
// new one. What it does not find is a claim like any other: no module follows it.
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

// pattern is alternatives of one word each; a nil part stands for up to four
// words of any kind.
type pattern struct {
	kind   string
	weight float64
	parts  [][]string
}

// The kinds.
const (
	Override = "it sets instructions aside"
	Role     = "it hands out roles"
	Dictate  = "it dictates an answer"
	Forgery  = "it forges the marks of a conversation"
	Secrets  = "it asks for what the reader was told"
	Hidden   = "it hides characters"
)

// patterns by the words that they may begin with. A weight is about the
// probability that a text with it means to steer.
var patterns = index([]pattern{
	of(Override, 0.9, "ignore|disregard|forget|override|bypass * previous|prior|above|earlier|preceding|your|system * instructions|instruction|rules|rubric|prompt|prompts|directions|guidelines|criteria"),
	of(Override, 0.9, "ignore|disregard|forget|override|bypass * instructions|rules|rubric|prompt|guidelines"),
	of(Override, 0.8, "do|must|should not follow|obey|apply * instructions|rules|rubric|guidelines"),
	of(Override, 0.7, "new|updated|real instructions|instruction :"),
	of(Role, 0.7, "you are|re now"),
	of(Role, 0.6, "you are|re * judge|prosecutor|defender|evaluator|assistant|grader|auditor"),
	of(Role, 0.6, "act|behave|respond|answer|pretend as|like * judge|prosecutor|defender|admin|administrator|developer|evaluator"),
	of(Role, 0.7, "developer|admin|debug|jailbreak mode enabled|on|activated"),
	of(Dictate, 0.8, "you|judge|judges|auditor|auditors|evaluator|grader must|should|shall|will|have|need * affirm|acquit|amend|remand|score|rate|grade|approve|dismiss|accept"),
	of(Dictate, 0.8, "give|assign|award|set|return|output|respond * score|scores|rating|grade|numeric_score|verdict|confidence * 5|five|100|1|10|maximum|highest|perfect|affirm|acquit|full"),
	of(Dictate, 0.8, "rate|score|grade * everything|all|every|each|this|criteria|criterion * 5|five|100|10|maximum|highest|perfect|full"),
	of(Dictate, 0.7, "security_violation_found|numeric_score|final_classification|motion_to_dismiss|plea_deal :|="),
	of(Forgery, 0.9, "< bar im_start|im_end|system|user|assistant|endoftext"),
	of(Forgery, 0.8, "[ inst|system|assistant ]"),
	of(Forgery, 0.7, "# # # instruction|instructions|system|response|assistant|human"),
	of(Forgery, 0.7, "< / system|instructions|evidence|document|opinion|data|context >"),
	of(Forgery, 0.6, "end|begin of|new * evidence|document|prompt|input|data|instructions * begin|system|instructions|end"),
	of(Secrets, 0.8, "reveal|print|repeat|show|output|leak|tell * your|system|hidden|initial * prompt|instructions|rules|rubric"),
})

func of(kind string, weight float64, source string) pattern {
	p := pattern{kind: kind, weight: weight}
	for part := range strings.SplitSeq(source, " ") {
		switch part {
		case "*":
			p.parts = append(p.parts, nil)
		case "bar": // the sign that separates alternatives
			p.parts = append(p.parts, []string{"|"})
		default:
			p.parts = append(p.parts, strings.Split(part, "|"))
		}
	}
	return p
}

func index(list []pattern) map[string][]*pattern {
	by := make(map[string][]*pattern)
	for i := range list {
		for _, word := range list[i].parts[0] {
			by[word] = append(by[word], &list[i])
		}
	}
	return by
}

// maxGap is how many words of any kind a nil part stands for at most.
const maxGap = 4

// match says where the pattern ends if it stands at words[at:]; -1 if it doesn't.
func (p *pattern) match(words []string, at, part int) int {
	for i := part; i < len(p.parts); i++ {
		if p.parts[i] == nil {
			for skip := 0; skip <= maxGap; skip++ {
				if end := p.match(words, at+skip, i+1); end >= 0 {
					return end
				}
			}
			return -1
		}
		if at >= len(words) || !slices.Contains(p.parts[i], words[at]) {
			return -1
		}
		at++
	}
	return at
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
			if end < 0 {
				continue
			}
			note(p.kind, p.weight)
			if p.weight > most {
				most, f.Passage = p.weight, strings.Join(words[at:end], " ")
			}
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

package audit

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
)

// DissentSpread is how far the scores of a criterion may lie apart: beyond it they are a dissent.
const DissentSpread = 2

// Standing says what became of a judge's opinion.
type Standing string

// The standings.
const (
	Counts    Standing = "counts"
	Overruled Standing = "overruled" // by a fact
	Missing   Standing = "missing"   // there is no opinion
)

// Voice is a judge of a criterion with its opinion.
type Voice struct {
	Judge    string
	Lead     bool
	Standing Standing
	// Why the opinion does not count; empty if it does.
	Why string
	// Opinion is nil for a judge that is missing.
	Opinion *abi.CriterionOpinion
}

// Finding is the synthesis of one criterion.
type Finding struct {
	Result abi.CriterionResult
	// Voices in the order of the rubric.
	Voices []Voice
	// Dissent is the summary of what the judges were apart on before they were asked again; empty where there was none.
	Dissent string
	// Resolved: after that they were no longer.
	Resolved bool
	// Degraded: fewer judges count than the rubric names.
	Degraded bool
	// Description is what the rubric asks, and Weighing how much it counts; [Synthesize] leaves both empty.
	Description string
	Weighing
}

// Judgement is what a criterion is synthesised from.
type Judgement struct {
	// Opinions by judge.
	Opinions map[string]abi.CriterionOpinion
	// Missing says of judges without an opinion why, where that is known.
	Missing map[string]string
	// Facts of the evidence.
	Facts *Facts
	// Dissent is the summary of the first round; empty if there was none.
	Dissent string
}

// Voices checks the opinions on a criterion against the facts.
func (j *Judgement) Voices(c *Criterion) []Voice {
	voices := make([]Voice, len(c.Judges))
	for i, id := range c.Judges {
		v := Voice{Judge: id, Lead: id == c.Lead, Standing: Counts}
		if o, ok := j.Opinions[id]; ok {
			v.Opinion = &o
			if v.Why = j.Facts.overrules(&o); v.Why != "" {
				v.Standing = Overruled
			}
		} else {
			v.Standing, v.Why = Missing, j.Missing[id]
			v.Why = cmp.Or(v.Why, "it gave no opinion")
		}
		voices[i] = v
	}
	return voices
}

// Dissent summarises scores that lie further apart than [DissentSpread]; empty if they don't. Only opinions that count can dissent.
func Dissent(voices []Voice) string {
	least, most := 6, 0
	var list []string
	for i := range voices {
		if v := &voices[i]; v.Standing == Counts {
			least, most = min(least, v.Opinion.NumericScore), max(most, v.Opinion.NumericScore)
			list = append(list, v.Judge+" "+strconv.Itoa(v.Opinion.NumericScore)+" ("+ended(v.Opinion.Argument, "")+")")
		}
	}
	if most-least <= DissentSpread {
		return ""
	}
	return strings.Join(list, "; ")
}

// Synthesize derives the result of a criterion. It is a pure function of what is given: no order of arrival can change it.
func Synthesize(c *Criterion, j *Judgement) Finding {
	f := Finding{Voices: j.Voices(c), Dissent: j.Dissent}
	f.Result = abi.CriterionResult{CriterionID: c.ID, Category: c.Category}
	r := &f.Result
	left := Dissent(f.Voices)
	f.Resolved = f.Dissent != "" && left == ""
	counted := count(f.Voices, r)
	f.Degraded = counted < len(f.Voices)
	r.Reasoning = f.reasoning(left)
	if r.SecurityViolationFound {
		r.NumericScore = min(r.NumericScore, SecurityCap)
	}
	return f
}

// count weighs the opinions that count into the result, and says how many they are. A criterion that nobody could judge is not shown to be
// met: it gets the lowest score, with no confidence.
func count(voices []Voice, r *abi.CriterionResult) (counted int) {
	for i := range voices {
		if voices[i].Standing == Counts {
			counted++
		}
	}
	scores, weights, confidence := 0, 0, 0.0
	for i := range voices {
		v := &voices[i]
		if v.Standing != Counts {
			continue
		}
		weight := 1
		if v.Lead {
			weight = max(2, counted-1)
		}
		scores += weight * v.Opinion.NumericScore
		weights += weight
		confidence += float64(weight) * v.Opinion.RelevanceConfidence
		r.SecurityViolationFound = r.SecurityViolationFound || v.Opinion.SecurityViolationFound
	}
	if weights == 0 {
		r.NumericScore = 1
		return 0
	}
	r.NumericScore = (2*scores + weights) / (2 * weights) // half up
	share := float64(counted) / float64(len(voices))
	r.RelevanceConfidence = min(1, confidence/float64(weights)*share)
	return counted
}

// reasoning says for people how the score came about, in the order of the rules.
func (f *Finding) reasoning(left string) string {
	var lines []string
	add := func(s string) { lines = append(lines, s) }
	if f.Result.SecurityViolationFound {
		var who []string
		for i := range f.Voices {
			if v := &f.Voices[i]; v.Standing == Counts && v.Opinion.SecurityViolationFound {
				who = append(who, v.Judge)
			}
		}
		add("A security violation, found by " + strings.Join(who, ", ") + ", caps the score at " + strconv.Itoa(SecurityCap) + ".")
	}
	for i := range f.Voices {
		if v := &f.Voices[i]; v.Standing == Overruled {
			s := v.Judge + " is overruled: " + v.Why + "."
			if v.Opinion.SecurityViolationFound {
				s += " The security violation that it alleges is not confirmed."
			}
			add(s)
		}
	}
	for i := range f.Voices {
		if v := &f.Voices[i]; v.Standing == Counts {
			add(v.name() + " gives " + strconv.Itoa(v.Opinion.NumericScore) + ": " + ended(v.Opinion.Argument, "."))
		}
	}
	switch {
	case f.Dissent != "" && left == "":
		add("Dissent, settled when the judges were asked again: " + f.Dissent + ".")
	case f.Dissent != "":
		add("Dissent, which stands after the judges were asked again: " + f.Dissent + ".")
	case left != "":
		add("Dissent: " + left + ".")
	}
	for i := range f.Voices {
		if v := &f.Voices[i]; v.Standing == Missing {
			add(v.name() + " is missing: " + ended(v.Why, "."))
		}
	}
	if !slices.ContainsFunc(f.Voices, func(v Voice) bool { return v.Standing == Counts }) {
		add("Nobody could judge this criterion: it gets the lowest score.")
	}
	return strings.Join(lines, "\n")
}

func (v *Voice) name() string {
	if v.Lead {
		return v.Judge + " (lead)"
	}
	return v.Judge
}

// OneLine folds the line breaks of what a module says into spaces, so that it
// can't begin a line in the host's name or in that of another judge.
func OneLine(s string) string {
	broken := func(r rune) bool {
		switch r {
		case '\n', '\v', '\f', '\r', '\u0085', '\u2028', '\u2029':
			return true
		}
		return false
	}
	if !strings.ContainsFunc(s, broken) {
		return s
	}
	return strings.Join(strings.FieldsFunc(s, broken), " ")
}

// ended puts one full stop, or none, behind a sentence, which gets one line.
func ended(s, stop string) string {
	s = cmp.Or(strings.TrimRight(strings.TrimSpace(OneLine(s)), "."), "no argument")
	return s + stop
}

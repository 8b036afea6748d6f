package reading

import (
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
)

// Reconsider is what a judge makes of having heard the others, when it is
// asked again: it goes one step towards the surest of those that are surer
// than itself, and is a little surer of it than it was before. Nobody goes
// further: who is surer of what is wrong would win every time.
func Reconsider(o *abi.CriterionOpinion, evidence []abi.Evidence) {
	surest := o.RelevanceConfidence
	theirs, who := 0, ""
	for i := range evidence {
		e := &evidence[i]
		ref, heard := strings.CutPrefix(e.SourceRef, dissentName+":")
		if !heard || e.Supports != o.CriterionID || e.RelevanceConfidence <= surest || len(e.Content) == 0 {
			continue
		}
		if score := int(e.Content[0] - '0'); score >= 1 && score <= 5 {
			surest, theirs, who = e.RelevanceConfidence, score, ref[strings.LastIndexByte(ref, ':')+1:]
		}
	}
	switch {
	case who == "" || theirs == o.NumericScore:
		return
	case theirs > o.NumericScore:
		o.NumericScore++
	default:
		o.NumericScore--
	}
	o.RelevanceConfidence += (1 - o.RelevanceConfidence) / 10
	o.Argument += " " + who + ", who is surer, moves this one step."
}

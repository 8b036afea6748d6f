package trial

import (
	"strconv"
	"strings"
)

// Score shows the global score, with one decimal always.
func (a *Audit) Score() string { return strconv.FormatFloat(a.GlobalScore, 'f', 1, 64) }

// Flagged says whether a reader has to look at a result before all: a violation, a dissent, a judge that does not count.
func (r *AuditResult) Flagged() bool {
	return r.SecurityViolationFound || r.Degraded || r.Dissent != nil
}

// Flags says in words what is special about a result, in the order of weight.
func (r *AuditResult) Flags() []string {
	var flags []string
	if r.SecurityViolationFound {
		flags = append(flags, "security violation")
	}
	for i := range r.Judges {
		if j := &r.Judges[i]; j.Standing != "counts" {
			flags = append(flags, j.Judge+" "+j.Standing)
		}
	}
	if r.Dissent != nil {
		flags = append(flags, "dissent")
	}
	return flags
}

// Flags says in words what is special about the results, each with its criterion.
func (a *Audit) Flags() []string {
	var flags []string
	for i := range a.Results {
		r := &a.Results[i]
		words := strings.Join(r.Flags(), ", ")
		switch {
		case !r.Flagged():
		case strings.Contains(words, r.CriterionID):
			flags = append(flags, words)
		default:
			flags = append(flags, r.CriterionID+": "+words)
		}
	}
	return flags
}

package trial

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Unnamed stands for a case and a court that an opinion does not name.
const Unnamed = "Unknown"

// StandardInput is the Source of an opinion that was read from the standard input.
const StandardInput = "-"

// Name tells audits apart for people: the case, or where an opinion stands that names none.
func (a *Audit) Name() string {
	if a.CaseID != "" && a.CaseID != Unnamed {
		return a.CaseID
	}
	if place := a.place(filepath.Base(a.Source)); place != "" {
		return place
	}
	return Unnamed
}

// Place is where the opinion was read, as `opinions.jsonl:3` or `opinions.json item 3`; empty where that is not known.
func (a *Audit) Place() string { return a.place(a.Source) }

func (a *Audit) place(file string) string {
	switch a.Source {
	case "":
		return ""
	case StandardInput:
		file = "standard input"
	}
	switch {
	case a.Item > 0:
		return file + " item " + strconv.Itoa(a.Item)
	case a.Line > 0:
		return file + ":" + strconv.Itoa(a.Line)
	}
	return file
}

// Apart is Place where Name does not say it already, or empty.
func (a *Audit) Apart() string {
	if place := a.Place(); place != a.Name() {
		return place
	}
	return ""
}

// Court is the name of the court, empty where the opinion names none.
func (a *Audit) Court() string {
	if a.CourtName == Unnamed {
		return ""
	}
	return a.CourtName
}

// Criteria are those of audits, in order. Audits by one rubric have the same.
func Criteria(audits []*Audit) []string {
	var list []string
	for _, a := range audits {
		for i := range a.Results {
			if id := a.Results[i].CriterionID; !slices.Contains(list, id) {
				list = append(list, id)
			}
		}
	}
	return list
}

// Result gives the result of a criterion, nil where there is none.
func (a *Audit) Result(criterion string) *AuditResult {
	i := slices.IndexFunc(a.Results, func(r AuditResult) bool { return r.CriterionID == criterion })
	if i < 0 {
		return nil
	}
	return &a.Results[i]
}

// SharePercent shows the share of a criterion in the global score, as `18%`; empty where it is not known.
func (r *AuditResult) SharePercent() string {
	if !(r.Share > 0) { // NaN too
		return ""
	}
	return strconv.FormatFloat(100*min(r.Share, 1), 'f', 0, 64) + "%"
}

// WeightText shows a weight as the rubric has it.
func (r *AuditResult) WeightText() string { return strconv.FormatFloat(r.Weight, 'g', -1, 64) }

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

package reportportal

import (
	"regexp"
	"strconv"

	"github.com/shadowcourt/shadowcourt/host/trial"
)

// Bound is the confidence from which on answers are written.
type Bound struct {
	From float64
	// Words say in a sentence where it comes from.
	Words string
}

// Rule says which answers are written; nil stands for none of that kind.
type Rule struct {
	// Court is about answers that were affirmed or amended, by their final confidence; Light about those that stand without a trial.
	Court, Light *Bound
}

// locator is how ReportPortal names a defect type that a court may set.
var locator = regexp.MustCompile(`^(pb|ab|si|nd)(\d{3}|_[0-9A-Za-z]{1,64})$`)

// finding is what a result says of its items, or why nothing of it is written.
type finding struct {
	label      string
	confidence float64
	bound      *Bound
	whyNot     string
}

func (rule Rule) finding(r *trial.Result) finding {
	f := finding{label: r.Final.Classification, confidence: r.Final.Confidence}
	who := "the court's answers"
	switch r.Final.Status {
	case trial.Affirmed, trial.Amended:
		f.bound = rule.Court
	case trial.Accepted, trial.Unreviewed:
		who, f.bound = "answers without a trial", rule.Light
	default: // a status of another version, too
		f.label, f.whyNot = "", "undecided: "+string(r.Final.Status)
		return f
	}
	switch {
	case !locator.MatchString(f.label):
		f.whyNot = "not a defect type of ReportPortal: " + strconv.Quote(f.label)
	case f.bound == nil:
		f.whyNot = "no threshold is certified for " + who
	case f.confidence < f.bound.From:
		f.whyNot = "below the threshold " + strconv.FormatFloat(f.bound.From, 'f', -1, 64)
	}
	return f
}

// itemID reads the id of a case as that of an item: digits. A docket marks the second case of one id with a sign behind it, and an item without
// a number has a UUID.
func itemID(id string) (int64, bool) {
	n, err := strconv.ParseInt(id, 10, 64)
	return n, err == nil && n > 0 && strconv.FormatInt(n, 10) == id
}

package render

import (
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// maxExperiments is of how many cases a table tells the experiments.
const maxExperiments = 20

// experimented is a case with the experiments that were run for it.
type experimented struct {
	id   string
	list []trial.Experiment
}

// alike says whether two experiments read the same.
func alike(a, b trial.Experiment) bool {
	return a.What() == b.What() && a.Showed() == b.Showed() && whyNotRun(&a) == whyNotRun(&b)
}

// whyNotRun is the reason why nothing was run, in a line; empty where something was.
func whyNotRun(e *trial.Experiment) string {
	if e.Outcome != abi.OutcomeNotRun {
		return ""
	}
	why, _, _ := strings.Cut(e.Detail, "\n")
	return why
}

// experimentsText tells what was run for each case, and what it showed.
func (t *tableWriter) experimentsText() string {
	if len(t.experimented) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString(t.options.paint(bold, "Experiments") + "\n")
	width := t.options.Width
	if width <= 0 {
		width = 120
	}
	for i := range t.experimented[:min(len(t.experimented), maxExperiments)] {
		c := &t.experimented[i]
		b.WriteString(snipStart(c.id, max(width, 20)) + "\n")
		if i+1 < len(t.experimented) && slices.EqualFunc(c.list, t.experimented[i+1].list, alike) {
			continue // of the next case there is the same to say
		}
		for j := range c.list {
			e := &c.list[j]
			b.WriteString("  " + e.What() + ": " + t.options.paint(bold, e.Showed()) + "\n")
			if why := whyNotRun(e); why != "" {
				for _, line := range wrap(why, max(width, 20)-4) {
					b.WriteString("    " + line + "\n")
				}
			}
		}
	}
	if more := len(t.experimented) - maxExperiments; more > 0 {
		b.WriteString("and those of " + plural(more, "more case", "more cases") + "\n")
	}
	return b.String() + "\n"
}

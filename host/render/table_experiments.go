package render

import (
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// maxExperiments is of how many cases a table tells the experiments. Cases of which there is the same to say count once.
const maxExperiments = 20

// experimented are cases with the experiments that were run for each of them.
type experimented struct {
	alikeCases
	list []trial.Experiment
}

// experiment notes the experiments of a case.
func (t *tableWriter) experiment(r *trial.Result) {
	if len(r.Experiments) == 0 {
		return
	}
	i := slices.IndexFunc(t.experimented, func(c experimented) bool { return slices.EqualFunc(c.list, r.Experiments, alike) })
	if i < 0 {
		if len(t.experimented) == maxExperiments {
			t.untold++
			return
		}
		i, t.experimented = len(t.experimented), append(t.experimented, experimented{list: r.Experiments})
	}
	t.experimented[i].add(r.ID)
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
	for i := range t.experimented {
		c := &t.experimented[i]
		b.WriteString(snipStart(c.ids[0], max(width, 20)) + "\n")
		c.tellOthers(t.options, &b)
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
	if t.untold > 0 {
		b.WriteString("and those of " + plural(t.untold, "more case", "more cases") + "\n")
	}
	return b.String() + "\n"
}

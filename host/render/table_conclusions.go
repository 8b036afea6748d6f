package render

import (
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/render/sanitize"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// maxConcluded is of how many cases a table tells what experiments found. Cases of which there is the same to say count once.
const maxConcluded = 20

// concluded are cases with what the experiments of each of them found, and which these were.
type concluded struct {
	alikeCases
	trial.Conclusion
	// said is the failure's message, suspect a commit; of the first case.
	said, suspect string
	list          []trial.Experiment
}

// conclude notes what the experiments of a case found.
func (t *tableWriter) conclude(of *trial.Trial) {
	r := &of.Result
	if len(r.Experiments) == 0 {
		return
	}
	c := concluded{Conclusion: of.Conclusion(), said: of.About(), suspect: SuspectText(of), list: r.Experiments}
	i := slices.IndexFunc(t.concluded, func(o concluded) bool {
		return o.Conclusion == c.Conclusion && o.suspect == c.suspect && slices.EqualFunc(o.list, c.list, alike)
	})
	if i < 0 {
		if len(t.concluded) == maxConcluded {
			t.untold++
			return
		}
		i, t.concluded = len(t.concluded), append(t.concluded, c)
	}
	t.concluded[i].add(r.ID)
}

// SuspectText names the suspected commit and its author, sanitized; empty where there is none.
func SuspectText(t *trial.Trial) string {
	if s := t.Suspect(); s != nil {
		return sanitize.Line(s.String())
	}
	return ""
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

// conclusionsText tells of each case what was found, how it failed, whom to ask, and what was run.
func (t *tableWriter) conclusionsText() string {
	if len(t.concluded) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString(t.options.paint(bold, "Conclusions") + "\n")
	width := t.options.Width
	if width <= 0 {
		width = 120
	}
	say := func(indent int, p paint, text string) {
		for _, line := range wrap(text, max(width, 20)-indent) {
			b.WriteString(strings.Repeat(" ", indent) + t.options.paint(p, line) + "\n")
		}
	}
	for i := range t.concluded {
		c := &t.concluded[i]
		b.WriteString(snipStart(c.ids[0], max(width, 20)) + "\n")
		c.tellOthers(t.options, &b)
		say(2, bold, sanitize.Line(c.Text))
		say(2, plain, snip(c.said, openColumns))
		if c.suspect != "" {
			say(2, plain, "suspect: "+c.suspect)
		}
		if c.Next != "" {
			say(2, plain, "next: "+c.Next)
		}
		for j := range c.list {
			e := &c.list[j]
			b.WriteString("    " + e.What() + ": " + e.Showed() + "\n")
			if why := whyNotRun(e); why != "" {
				say(6, plain, why)
			}
		}
	}
	if t.untold > 0 {
		b.WriteString("and those of " + plural(t.untold, "more case", "more cases") + "\n")
	}
	return b.String() + "\n"
}

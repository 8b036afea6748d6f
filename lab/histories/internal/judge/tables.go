package judge

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/shadowcourt/shadowcourt/host/lab/internal/history"
	"github.com/shadowcourt/shadowcourt/host/lab/internal/study"
)

// Tables are those of the page about the answers. seed draws repositories; wrong adds the wrong answers of the court, case by case, of
// the learning half alone.
func Tables(all []Judged, seed uint64, wrong bool) []study.Table {
	of := func(half history.Half) []Judged {
		return slices.DeleteFunc(slices.Clone(all), func(j Judged) bool { return j.Half != half })
	}
	learning, reporting := of(history.Learning), of(history.Reporting)
	list := []study.Table{
		{Name: "arms", Text: arms(reporting)},
		{Name: "reporting half", Text: compared(reporting, seed)},
		{Name: "truth and answers", Text: confusion(reporting)},
		{Name: "kinds", Text: byKind(reporting)},
		{Name: "learning half", Text: compared(learning, seed)},
		{Name: "labels of the learning half", Text: labels(learning, seed)},
		{Name: "labels of the reporting half", Text: labels(reporting, seed)},
		{Name: "similarity", Text: decides(learning, reporting)},
	}
	if wrong {
		list = append(list, study.Table{Name: "wrong answers", Text: mistakes(learning)})
	}
	return list
}

// group is cases that have figures of their own.
type group struct {
	name string
	has  func(*history.Case) bool
}

func groups() []group {
	return []group{
		{"All cases", func(*history.Case) bool { return true }},
		{"Real", func(c *history.Case) bool { return !c.Planted }},
		{"Planted", func(c *history.Case) bool { return c.Planted }},
		{"Hard, with a trap", hard},
		{"Easy, without one", func(c *history.Case) bool { return !hard(c) }},
	}
}

func only(list []Judged, has func(*history.Case) bool) []Judged {
	return slices.DeleteFunc(slices.Clone(list), func(j Judged) bool { return !has(j.Case) })
}

func compared(list []Judged, seed uint64) string {
	var b strings.Builder
	for _, g := range groups() {
		some := only(list, g.has)
		if len(some) == 0 {
			fmt.Fprintf(&b, "%s: none.\n\n", g.name)
			continue
		}
		fmt.Fprintf(&b, "%s (%d):\n\n", g.name, len(some))
		b.WriteString("| arm | false alibis | missed alibis | open, yours | open, not yours | decided | right | right of those decided | seconds, median | seconds, 90 % of the cases | lacked a cell |\n" +
			"| --- | --- | --- | ---: | ---: | --- | --- | --- | ---: | ---: | ---: |\n")
		for _, a := range Arms() {
			s := scoreOf(some, a)
			fmt.Fprintf(&b, "| %s | %s | %s | %d | %d | %s | %s | %s | %s | %s | %d |\n", a, s.falseAlibis.text(seed), s.missed.text(0), s.openYours, s.openOthers,
				s.decided.text(0), s.right.text(seed), s.rightOfDecided.text(0), s.at(0.5), s.at(0.9), s.lacked)
		}
		b.WriteString("\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// arms are the counts of each arm.
func arms(list []Judged) string {
	var b strings.Builder
	b.WriteString("| arm | false alibis | missed alibis | open | right | seconds, median |\n| --- | ---: | ---: | ---: | ---: | ---: |\n")
	for _, a := range Arms() {
		s := scoreOf(list, a)
		fmt.Fprintf(&b, "| %s | %d of %d | %d of %d | %d | %d of %d | %s |\n", a, s.falseAlibis.k, s.falseAlibis.n, s.missed.k, s.missed.n,
			s.openYours+s.openOthers, s.right.k, s.right.n, s.at(0.5))
	}
	return b.String()
}

func attributions() []history.Attribution {
	return []history.Attribution{history.Caused, history.InMerge, history.Preexisting, history.ByChance, history.Surroundings, history.Open}
}

// confusion sets the answers of each arm against the truth.
func confusion(list []Judged) string {
	var b strings.Builder
	for _, a := range Arms() {
		fmt.Fprintf(&b, "%s:\n\n| truth |", a)
		for _, says := range attributions() {
			fmt.Fprintf(&b, " %s |", says)
		}
		b.WriteString("\n| --- |" + strings.Repeat(" ---: |", len(attributions())) + "\n")
		for _, truth := range attributions()[:len(attributions())-1] {
			fmt.Fprintf(&b, "| %s |", truth)
			for _, says := range attributions() {
				n := 0
				for i := range list {
					n += one(list[i].Case.Truth.Attribution == truth && list[i].Answers[a].Attribution == says)
				}
				fmt.Fprintf(&b, " %d |", n)
			}
			b.WriteString("\n")
		}
		b.WriteString("\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// byKind counts, for each kind, the answers that are wrong about yours or not yours, and the open ones.
func byKind(list []Judged) string {
	var b strings.Builder
	b.WriteString("| kind | cases |")
	for _, a := range Arms() {
		fmt.Fprintf(&b, " %s |", a)
	}
	b.WriteString("\n| --- | ---: |" + strings.Repeat(" ---: |", len(Arms())) + "\n")
	for _, kind := range history.Kinds() {
		some := only(list, func(c *history.Case) bool { return c.Kind == kind })
		fmt.Fprintf(&b, "| %s | %d |", kind, len(some))
		for _, a := range Arms() {
			s := scoreOf(some, a)
			fmt.Fprintf(&b, " %d + %d |", s.falseAlibis.k+s.missed.k, s.openYours+s.openOthers)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// decides counts how often the similarity of failures finds anything.
func decides(learning, reporting []Judged) string {
	var b strings.Builder
	b.WriteString("| half | cases | the base fails as the case does | seen in another tree | neither |\n| --- | ---: | ---: | ---: | ---: |\n")
	for _, half := range []struct {
		name history.Half
		list []Judged
	}{{history.Learning, learning}, {history.Reporting, reporting}} {
		n := map[history.Attribution]int{}
		for i := range half.list {
			n[half.list[i].Answers[Similarity].Attribution]++
		}
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d |\n", half.name, len(half.list), n[history.Preexisting], n[history.ByChance], n[history.Caused])
	}
	return b.String()
}

// mistakes lists the cases that the court does not have right, with what it saw.
func mistakes(list []Judged) string {
	var b strings.Builder
	b.WriteString("| case | test | traps | truth | answer | label | experiments | conclusion |\n| --- | --- | --- | --- | --- | --- | --- | --- |\n")
	for i := range list {
		j := &list[i]
		c, answer := j.Case, j.Answers[Court].Attribution
		if answer == c.Truth.Attribution {
			continue
		}
		var ran []string
		for k := range j.Trial.Experiments {
			e := &j.Trial.Experiments[k]
			ran = append(ran, fmt.Sprintf("%s/%s %s %s: %s", e.Product, e.Tests, e.Environment, e.Order, e.Outcome))
		}
		if !j.Trial.Activated {
			ran = []string{"no trial: Light was sure"}
		}
		var traps []string
		for _, t := range c.Traps {
			traps = append(traps, string(t))
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s at %.2f | %s | %s |\n", c.ID, cell(c.Failure.Test), strings.Join(traps, "; "), c.Truth.Attribution, answer,
			cmp.Or(j.Trial.Label, "none"), j.Trial.Confidence, strings.Join(ran, "; "), j.Trial.Conclusion)
	}
	return b.String()
}

// cell makes a text fit into a table of a page.
func cell(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text)
	return "`" + strings.NewReplacer("|", "\\|", "`", "'", "<!--", "<! --").Replace(text) + "`"
}

package main

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/host/lab/internal/study"
)

// tables are those of the page.
func (s *lightStudy) tables() []study.Table {
	return []study.Table{
		{Name: "accuracy", Text: s.accuracy()}, {Name: "gain", Text: s.gain()}, {Name: "remands", Text: s.remands()}, {Name: "casebook", Text: s.casebook()}, {Name: "time", Text: s.times()},
	}
}

// both gives every part by itself, and all together.
func (s *lightStudy) both() []part {
	all := part{name: "both", runs: make(map[variant]launch)}
	for i := range s.parts {
		for v, list := range s.parts[i].runs {
			all.runs[v] = slices.Concat(all.runs[v], list)
		}
	}
	return append(slices.Clone(s.parts), all)
}

// says is an answer of a case that is tried: Light's or the court's.
type says func(*tried) string

// share is how many of some cases an answer has right.
func share(list launch, answer says) string {
	if len(list) == 0 {
		return "–"
	}
	right := 0
	for i := range list {
		if answer(&list[i]) == list[i].truth() {
			right++
		}
	}
	return fmt.Sprintf("%.3f", float64(right)/float64(len(list)))
}

func inBand(list launch) launch {
	return slices.DeleteFunc(slices.Clone(list), func(t tried) bool { return !t.band() })
}

// answered is one answer beside another about one case.
type answered struct{ group, truth, answer, other string }

// pairUp sets the answers of two launches of the same cases side by side.
func pairUp(list, other launch, answer, otherAnswer says) []answered {
	out := make([]answered, len(list))
	for i := range list {
		t := &list[i]
		out[i] = answered{t.entry.Case.Group, t.truth(), answer(t), otherAnswer(&other[i])}
	}
	return out
}

// scoredAs scores one of the answers of pairs.
func scoredAs(list []answered, of func(a *answered) string) *scored {
	s := &scored{}
	for i := range list {
		a := &list[i]
		s.right, s.group = append(s.right, of(a) == a.truth), append(s.group, cmp.Or(a.group, strconv.Itoa(i)))
	}
	return s
}

// row states a difference in points, its 95 % interval over modules, and the cases that only one has right.
func row(list []answered) string {
	mine, other := scoredAs(list, func(a *answered) string { return a.answer }), scoredAs(list, func(a *answered) string { return a.other })
	only, onlyOther := 0, 0
	for i := range list {
		switch {
		case mine.right[i] && !other.right[i]:
			only++
		case other.right[i] && !mine.right[i]:
			onlyOther++
		}
	}
	return fmt.Sprintf("%s | %d | %d", mine.minus(other), only, onlyOther)
}

func (s *lightStudy) accuracy() string {
	var b strings.Builder
	b.WriteString("| cases | profile | Light | cases in the band | Light alone, all | court, all | Light alone, band | court, band |\n")
	b.WriteString("| --- | --- | --- | ---: | ---: | ---: | ---: | ---: |\n")
	for _, p := range s.both() {
		for _, v := range []struct {
			variant        variant
			profile, light string
		}{{simple, "none", "simple"}, {path, "none", "path"}, {simpleFitted, "fitted", "simple"}, {pathFitted, "fitted", "path"}} {
			list := p.runs[v.variant]
			band := inBand(list)
			fmt.Fprintf(&b, "| %s | %s | %s | %d of %d | %s | %s | %s | %s |\n", p.name, v.profile, v.light, len(band), len(list),
				share(list, (*tried).light), share(list, (*tried).answer), share(band, (*tried).light), share(band, (*tried).answer))
		}
	}
	return b.String()
}

func (s *lightStudy) gain() string {
	var b strings.Builder
	b.WriteString("| cases | what is compared | points (95 %) | only the first right | only the second |\n| --- | --- | ---: | ---: | ---: |\n")
	for _, p := range s.both() {
		band := func(v variant) []answered {
			list := inBand(p.runs[v])
			return pairUp(list, list, (*tried).answer, (*tried).light)
		}
		for _, c := range []struct {
			name  string
			pairs []answered
		}{
			{"Light alone: path, simple (no profile)", pairUp(p.runs[path], p.runs[simple], (*tried).light, (*tried).light)},
			{"Light alone: path, simple", pairUp(p.runs[pathFitted], p.runs[simpleFitted], (*tried).light, (*tried).light)},
			{"after the court: path, simple (no profile)", pairUp(p.runs[path], p.runs[simple], (*tried).answer, (*tried).answer)},
			{"after the court: path, simple", pairUp(p.runs[pathFitted], p.runs[simpleFitted], (*tried).answer, (*tried).answer)},
			{"path: court, Light alone (all)", pairUp(p.runs[pathFitted], p.runs[pathFitted], (*tried).answer, (*tried).light)},
			{"path: court, Light alone (band)", band(pathFitted)},
			{"simple: court, Light alone (band)", band(simpleFitted)},
		} {
			fmt.Fprintf(&b, "| %s | %s | %s |\n", p.name, c.name, row(c.pairs))
		}
	}
	return b.String()
}

func (s *lightStudy) remands() string {
	var b strings.Builder
	b.WriteString("| cases | remanded | answers changed | points, all cases (95 %) | wrong to right | right to wrong |\n")
	b.WriteString("| --- | ---: | ---: | ---: | ---: | ---: |\n")
	for _, p := range s.both() {
		with, without := p.runs[pathFitted], p.runs[noRemands]
		remanded, changed := 0, 0
		for i := range with {
			if with[i].result.Remands > 0 {
				remanded++
			}
			if with[i].answer() != without[i].answer() {
				changed++
			}
		}
		fmt.Fprintf(&b, "| %s | %d of %d | %d | %s |\n", p.name, remanded, len(with), changed, row(pairUp(with, without, (*tried).answer, (*tried).answer)))
	}
	return b.String()
}

func (s *lightStudy) casebook() string {
	var b strings.Builder
	b.WriteString("| cases | second launch | casebook | recalled | of them right | without | with | points (95 %) | wrong to right | right to wrong |\n")
	b.WriteString("| --- | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n")
	for _, p := range s.both() {
		for _, v := range []struct {
			second, first  variant
			what, casebook string
		}{
			{sameAgain, pathFitted, "the same failures", "as it came out"},
			{sameCorrected, pathFitted, "the same failures", "corrected"},
			{sameWrong, pathFitted, "the same failures", "corrected, all wrong"},
			{otherFailures, firstLaunch, "others of the same modules", "as it came out"},
			{otherCorrected, firstLaunch, "others of the same modules", "corrected"},
			{otherWrong, firstLaunch, "others of the same modules", "corrected, all wrong"},
			{otherModules, pathFitted, "of other modules", "corrected"},
		} {
			list, before := p.runs[v.second], p.runs[v.first]
			recalled := slices.DeleteFunc(slices.Clone(list), func(t tried) bool { return !t.recalled })
			fmt.Fprintf(&b, "| %s | %s | %s | %d of %d | %s | %s | %s | %s |\n", p.name, v.what, v.casebook, len(recalled), len(list),
				share(recalled, func(t *tried) string { return t.recall }), share(before, (*tried).answer), share(list, (*tried).answer),
				row(pairUp(list, before, (*tried).answer, (*tried).answer)))
		}
	}
	return b.String()
}

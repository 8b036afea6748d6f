package render

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/alibi"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// runMark is how a run ended.
type runMark int

const (
	markPassed runMark = iota
	markSame
	markOther
	markNotBuilt
	markNoTest
	markForeign
	markNotRun
)

// markSigns are the marks as text, as class of a style sheet, in words and in colour.
var markSigns = [...]struct {
	Sign, Class, Words string
	paint              paint
}{
	markPassed:   {"●", "passed", "passed", green},
	markSame:     {"✗", "same", "same failure", red},
	markOther:    {"▲", "other", "other failure", yellow},
	markNotBuilt: {"□", "unbuilt", "not built", magenta},
	markNoTest:   {"○", "absent", "no such test", faint},
	markForeign:  {"≠", "foreign", "ran code of another tree", magenta},
	markNotRun:   {"–", "unrun", "not run", faint},
}

func (m runMark) Sign() string  { return markSigns[m].Sign }
func (m runMark) Class() string { return markSigns[m].Class }
func (m runMark) Words() string { return markSigns[m].Words }

// runGrid has the runs of an answer, a row for each tree and a column for each environment.
type runGrid struct {
	Environments []string
	Rows         []gridRow
	Legend       []runMark // the marks that occur
}

// gridRow is one tree.
type gridRow struct {
	Tree  string
	Cells []runCell
}

// runCell are the runs of a tree in an environment. The order of experiments is kept; of the runs of one the passed ones stand first.
type runCell struct {
	Environment string
	runs        []markCount
}

// markCount are runs that ended alike. Marks is how many marks are shown of them, and Count says the rest; empty where all are shown.
type markCount struct {
	Mark  runMark
	runs  int
	Marks int
	Count string
}

const (
	// mostMarks is how many runs of a cell are shown one by one, fewMarks how many of each kind where there are more.
	mostMarks = 20
	fewMarks  = 4
)

// Shown are the marks of a cell: at most so many one by one; of more, some of each kind with their count.
func (c *runCell) Shown(most int) []markCount {
	shown, all := []markCount(nil), 0
	for _, n := range c.runs {
		all += n.runs
		n.Marks = n.runs
		shown = append(shown, n)
	}
	if all <= most {
		return shown
	}
	shown = nil
	for _, n := range c.runs {
		i := slices.IndexFunc(shown, func(o markCount) bool { return o.Mark == n.Mark })
		if i < 0 {
			i, shown = len(shown), append(shown, markCount{Mark: n.Mark})
		}
		shown[i].runs += n.runs
	}
	for i := range shown {
		n := &shown[i]
		n.Marks = min(n.runs, fewMarks, most)
		n.Count = strconv.Itoa(n.runs) + " " + n.Mark.Words()
		if n.Marks < n.runs {
			n.Count = "… " + n.Count
		}
	}
	return shown
}

// Words say what a cell shows: "12 passed, 3 same failure".
func (c *runCell) Words() string {
	var words []string
	for _, n := range c.Shown(0) {
		words = append(words, strings.TrimPrefix(n.Count, "… "))
	}
	return strings.Join(words, ", ")
}

// newRunGrid lays the runs of an answer out.
func newRunGrid(runs []trial.Experiment) *runGrid {
	g := &runGrid{}
	environments, trees := map[string]int{}, map[string]int{}
	for i := range runs {
		e := &runs[i]
		at, name := environmentOf(e)
		environments[name] = at
		if tree, name := treeOf(e); trees[name] == 0 {
			trees[name] = tree + 1
		}
	}
	for name := range environments {
		g.Environments = append(g.Environments, name)
	}
	slices.SortFunc(g.Environments, func(a, b string) int { return cmp.Compare(environments[a], environments[b]) })
	for name := range trees {
		row := gridRow{Tree: name}
		for _, environment := range g.Environments {
			row.Cells = append(row.Cells, runCell{Environment: environment})
		}
		g.Rows = append(g.Rows, row)
	}
	slices.SortFunc(g.Rows, func(a, b gridRow) int {
		return cmp.Or(cmp.Compare(trees[a.Tree], trees[b.Tree]), cmp.Compare(a.Tree, b.Tree))
	})
	for i := range runs {
		g.put(&runs[i])
	}
	return g
}

func (g *runGrid) put(e *trial.Experiment) {
	_, environment := environmentOf(e)
	_, tree := treeOf(e)
	row := slices.IndexFunc(g.Rows, func(r gridRow) bool { return r.Tree == tree })
	c := &g.Rows[row].Cells[slices.Index(g.Environments, environment)]
	for _, n := range marksOf(e) {
		if n.runs == 0 {
			continue
		}
		c.runs = append(c.runs, n)
		if !slices.Contains(g.Legend, n.Mark) {
			g.Legend = append(g.Legend, n.Mark)
			slices.Sort(g.Legend)
		}
	}
}

// marksOf are the marks of one experiment.
func marksOf(e *trial.Experiment) []markCount {
	switch {
	case e.Loaded == abi.Contradicted:
		return []markCount{{Mark: markForeign, runs: max(e.Passed+e.Same+e.Other, 1)}}
	case e.Outcome == abi.OutcomeNotBuilt:
		return []markCount{{Mark: markNotBuilt, runs: 1}}
	case e.Outcome == abi.OutcomeNoTest:
		return []markCount{{Mark: markNoTest, runs: 1}}
	case e.Outcome == abi.OutcomeNotRun:
		return []markCount{{Mark: markNotRun, runs: 1}}
	}
	return []markCount{{Mark: markPassed, runs: e.Passed}, {Mark: markSame, runs: e.Same}, {Mark: markOther, runs: e.Other}}
}

// environmentOf names what is around the runs, with its place among the columns.
func environmentOf(e *trial.Experiment) (place int, name string) {
	names := []string{"alone", "clean environment", "busy machine", "coverage"}
	place = max(slices.Index([]abi.RunEnvironment{abi.OriginalEnvironment, abi.CleanEnvironment, abi.StarvedEnvironment, abi.CoverageEnvironment}, e.Environment), 0)
	name = names[place]
	if e.Order == abi.OriginalOrder {
		if place += len(names); e.Environment == abi.OriginalEnvironment {
			return place, "with the package"
		}
		name += ", with the package"
	}
	return place, name
}

// treeOf names what is run, with its place among the rows.
func treeOf(e *trial.Experiment) (place int, name string) {
	order := []abi.TreeRevision{abi.Base, abi.Head, abi.Target, abi.Merge}
	place = slices.Index(order, e.Product)
	if e.Product == e.Tests {
		return place, string(e.Product)
	}
	return place + len(order), string(e.Product) + ", tests of " + string(e.Tests)
}

// ribbonPart is a commit of the ribbon, or how many were left out at a place.
type ribbonPart struct {
	Commit, Title string
	Probability   float64
	Culprit       bool
	LeftOut       int
}

// Chance is its probability in words, Width the length of its bar as a percentage.
func (p *ribbonPart) Chance() string { return chance(p.Probability) }
func (p *ribbonPart) Width() int     { return width(p.Probability) }

// Name is what stands behind the bar.
func (p *ribbonPart) Name() string {
	if p.LeftOut > 0 {
		return "… " + plural(p.LeftOut, "commit", "commits")
	}
	return p.Title
}

// mostCommits is how many commits a ribbon has before improbable ones are left out: those below leastChance.
const (
	mostCommits = 12
	leastChance = 0.05
)

// ribbon is how probable each commit is, the oldest first. Of many commits it has the most probable.
func ribbon(c *alibi.Culprit) (parts []ribbonPart) {
	if c == nil {
		return nil
	}
	least := 0.0
	if len(c.Ribbon) > mostCommits {
		least = leastChance
	}
	for i := range c.Ribbon {
		s := &c.Ribbon[i]
		culprit := s.Commit == c.Commit
		switch n := len(parts); {
		case s.Probability >= least || culprit:
			parts = append(parts, ribbonPart{Commit: shortCommit(s.Commit), Title: s.Title, Probability: s.Probability, Culprit: culprit})
		case n > 0 && parts[n-1].LeftOut > 0:
			parts[n-1].LeftOut++
			parts[n-1].Probability += s.Probability
		default:
			parts = append(parts, ribbonPart{LeftOut: 1, Probability: s.Probability})
		}
	}
	return parts
}

// besides says which commits a search could not tell apart, and which could not be run.
func besides(c *alibi.Culprit) string {
	if c == nil {
		return ""
	}
	var said []string
	for _, id := range c.Beside {
		said = append(said, cmp.Or(shortCommit(id), notCommitted))
	}
	text := ""
	if len(said) > 0 {
		text = "It may as well be " + strings.Join(said, ", ") + ". "
	}
	return strings.TrimSpace(text + skipped(c))
}

// notCommitted stands for a commit without an id.
const notCommitted = "the changes that are not committed"

// skipped says which commits could not be run, and why: each reason once.
func skipped(c *alibi.Culprit) string {
	var said []string
	for i, s := range c.Skipped {
		same := func(other alibi.Skipped) bool { return other.Why == s.Why }
		if slices.ContainsFunc(c.Skipped[:i], same) {
			continue
		}
		var ids []string
		for _, other := range c.Skipped[i:] {
			if same(other) {
				ids = append(ids, cmp.Or(shortCommit(other.Commit), notCommitted))
			}
		}
		said = append(said, strings.Join(ids, ", ")+" ("+s.Why+")")
	}
	if len(said) == 0 {
		return ""
	}
	return "Skipped: " + strings.Join(said, "; ") + "."
}

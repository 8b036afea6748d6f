package judge

import (
	"maps"
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/lab/histories/internal/history"
	"github.com/shadowcourt/shadowcourt/host/lab/histories/internal/model"
)

// price is the most that it may be probable that the change did it where an alibi is given, blame how probable it has to be to blame it
// before all runs are made, and likely when they are.
const (
	price  = 0.01
	blame  = 0.97
	likely = 0.5
)

// step asks for so many runs of a cell of both trees.
type step struct {
	environment abi.RunEnvironment
	order       abi.RunOrder
	runs        int
}

// steps are asked for one after the other, until the model is sure.
func steps() []step {
	const original, clean, alone = abi.OriginalEnvironment, abi.CleanEnvironment, abi.Alone
	return []step{
		{original, alone, 1}, {original, alone, 3}, {original, alone, 5}, {clean, alone, 3}, {original, abi.OriginalOrder, 2},
		{original, alone, 20}, {abi.StarvedEnvironment, alone, 20}, {original, abi.OriginalOrder, 20}, {clean, alone, 20},
	}
}

// outcomeModel asks for runs step by step.
func outcomeModel(c *history.Case, m *model.Model) Answer {
	s := spend(c)
	tree, before := underTest(c)
	made := map[*history.Cell]int{} // runs of the cells that were asked for
	answers := map[history.Attribution]float64{}
	for _, st := range steps() {
		for _, r := range []history.Role{tree, before} {
			if k := c.Find(r, r, st.environment, st.order); k != nil {
				n := max(made[k], min(st.runs, len(k.Runs)))
				s.pay(k, n-made[k])
				made[k] = n
			}
		}
		answers = m.Answers(seenOf(c, made))
		if yours := answers[history.Caused]; yours < price || yours > blame {
			break
		}
	}
	yours := answers[history.Caused]
	_, merged := c.Trees[history.Merge]
	switch {
	case len(seenOf(c, made).Cells) == 0:
		return s.says(history.Open) // nothing was told, and shares alone blame nobody
	case yours < price && c.Loaded[before] == history.Contradicted:
		return s.says(history.Open) // what ran there was not the base
	case yours < price:
		best := history.Open
		for _, a := range slices.Sorted(maps.Keys(answers)) {
			if a != history.Caused && answers[a] > answers[best] {
				best = a
			}
		}
		return s.says(best)
	case yours > likely && merged:
		return s.says(history.InMerge)
	case yours > likely:
		return s.says(history.Caused)
	}
	return s.says(history.Open)
}

// allOf are all runs of the cells of both trees.
func allOf(c *history.Case) map[*history.Cell]int {
	tree, before := underTest(c)
	made := map[*history.Cell]int{}
	for i := range c.Cells {
		if k := &c.Cells[i]; k.Product == k.Tests && (k.Product == tree || k.Product == before) && k.Environment != history.Restored {
			made[k] = len(k.Runs)
		}
	}
	return made
}

// seenOf are the first runs of the cells that were asked for, as the model takes them.
func seenOf(c *history.Case, made map[*history.Cell]int) *model.Seen {
	_, before := underTest(c)
	out := &model.Seen{}
	for i := range c.Cells {
		k := &c.Cells[i]
		n, asked := made[k]
		if !asked {
			continue
		}
		base := k.Product == before
		out.Based = out.Based || base
		out.Absent = out.Absent || base && lacks(k)
		cell := model.Cell{Tree: history.Head, Environment: k.Environment, Order: k.Order}
		if base {
			cell.Tree = history.Base
		}
		if runs := look(k.Runs[:n]); runs.told() {
			cell.Counts = model.Counts{Passed: runs.passed, Same: runs.same, Other: runs.other}
			out.Cells = append(out.Cells, cell)
		}
	}
	return out
}

// learned is the model of the learning half.
func learned(repos []history.Repo) *model.Model {
	var seen []model.Seen
	var truths []history.Attribution
	for i := range repos {
		if repos[i].Half != history.Learning {
			continue
		}
		for j := range repos[i].Cases {
			c := &repos[i].Cases[j]
			truth := c.Truth.Attribution
			if truth == history.InMerge {
				truth = history.Caused
			}
			seen, truths = append(seen, *seenOf(c, allOf(c))), append(truths, truth)
		}
	}
	return model.Learn(seen, truths)
}

package investigate

import (
	"context"
	"math"
	"strings"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/alibi"
	"github.com/shadowcourt/shadowcourt/host/experiment/culprit"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// Step is what the search for a commit does next: it runs the test at a commit. Or the runs are done, and this came of them.
type Step struct {
	Commit, Commits int // the number of the commit, from 1, of how many; 0 is the base
	ID, Title       string
	Runs            int
	Done            bool
	Showed          alibi.Tally
	// Suspect is the id of the most probable commit so far, empty for changes that are not committed; and its probability, 0 where no commit is.
	Suspect     string
	Probability float64
}

// teller tells the steps of a search.
type teller struct {
	line *culprit.Line
	to   func(Step)
}

func (t teller) tell(now culprit.Progress) {
	list := t.line.Commits()
	if t.to == nil || now.Commit < 0 || now.Commit > len(list) {
		return
	}
	s := Step{Commit: now.Commit, Commits: len(list), ID: t.line.Base(), Runs: now.Runs, Done: now.Done, Showed: tally(now.Result.Count)}
	if now.Commit > 0 {
		s.ID, s.Title = list[now.Commit-1].ID, list[now.Commit-1].Title
	}
	if at := now.Suspects.Last; at > 0 && at <= len(list) {
		s.Suspect, s.Probability = list[at-1].ID, now.Suspects.Probability
	}
	t.to(s)
}

func tally(c culprit.Count) alibi.Tally { return alibi.Tally{Failed: c.Failed, Passed: c.Passed} }

// Find finds the commit that a failure of a case began with, within a time (0: that of one case). It gives nil where the commits were not to be
// looked for, where the change did not cause the failure, and where the search finds none. progress may be nil.
func (i *Investigation) Find(ctx context.Context, c *abi.Case, a *alibi.Answer, within time.Duration, progress func(Step)) (*alibi.Culprit, error) {
	if i.line == nil || a.Label != alibi.Caused {
		return nil, nil //nolint:nilnil // nothing is looked for
	}
	if within <= 0 {
		within = i.perCase
	}
	defer i.clock.measure(c.ID)()
	r, err := i.line.Find(ctx, c, culprit.Options{
		Base: countOf(a.Runs, abi.Base), Head: countOf(a.Runs, abi.Head), Time: within, Progress: teller{i.line, progress}.tell,
	})
	if err != nil {
		return nil, err
	}
	found := culpritOf(&r, i.line)
	if found != nil {
		found.Hunk = hunkOf(ctx, i.line, c, r.Suspects.Last-1)
	}
	return found, nil
}

// The most that is shown of a hunk.
const (
	mostChanged   = 4 // lines that were removed, and that were added
	mostLineBytes = 200
)

// hunkOf is the change of a commit that is nearest to the failing test; nil where it can't be told.
func hunkOf(ctx context.Context, line *culprit.Line, c *abi.Case, commit int) *alibi.Hunk {
	path, h, err := line.Hunk(ctx, c, commit)
	if err != nil || path == "" {
		return nil // the commit is named without it
	}
	var text []string
	for _, side := range [...]struct {
		sign  string
		lines []string
	}{{"-", h.Removed}, {"+", h.Added}} {
		for _, changed := range side.lines[:min(len(side.lines), mostChanged)] {
			text = append(text, side.sign+strings.ToValidUTF8(changed[:min(len(changed), mostLineBytes)], ""))
		}
	}
	first := h.NewFirst
	if h.NewLines == 0 {
		first-- // the line before those that were removed
	}
	return &alibi.Hunk{Path: path, Line: first, Text: strings.Join(text, "\n")}
}

// countOf are the runs of a tree as the search runs it.
func countOf(runs []trial.Experiment, tree abi.TreeRevision) (n culprit.Count) {
	for i := range runs {
		e := &runs[i]
		if e.Product == tree && e.Tests == tree && e.Environment == abi.OriginalEnvironment && e.Order == abi.Alone && e.Outcome != abi.OutcomeNotRun {
			n.Passed, n.Failed = n.Passed+e.Passed, n.Failed+e.Same
		}
	}
	return n
}

// mostSuspects are named beside the culprit, and mostSkipped of the commits that could not be run, each with the first line of why.
const (
	mostSuspects = 4
	mostSkipped  = 16
	mostWhyBytes = 300
)

// culpritOf is the last of the suspects, which a search has not told apart where there are several; nil where it found none.
func culpritOf(r *culprit.Result, line *culprit.Line) *alibi.Culprit {
	list, s := line.Commits(), r.Suspects
	if r.Ending != culprit.Found && r.Ending != culprit.Undecided && r.Ending != culprit.OutOfBudget || s.Last < 1 || s.Last > len(list) {
		return nil
	}
	last := &list[s.Last-1]
	c := &alibi.Culprit{Commit: last.ID, Title: last.Title, Author: last.Author, Probability: min(round(s.Probability), almost), Verified: r.Verified, Runs: r.Runs[culprit.Narrow] + r.Runs[culprit.Verify]}
	for i := s.Last - 1; i >= max(s.First, 1) && len(c.Beside) < mostSuspects; i-- {
		c.Beside = append(c.Beside, list[i-1].ID)
	}
	if p := r.Pair; p != (culprit.Pair{}) {
		c.Pair = &alibi.Pair{Parent: idOf(line, max(s.First, 1)-1), OfParent: tally(p.Parent), Culprit: tally(p.Culprit), Absent: p.Known}
		if p.Known {
			c.Pair.OfParent = alibi.Tally{}
		}
	}
	for _, skipped := range r.Skipped {
		if len(c.Skipped) < mostSkipped {
			c.Skipped = append(c.Skipped, alibi.Skipped{Commit: idOf(line, skipped.Commit), Why: shorten(skipped.Why)})
		}
	}
	for i, x := range r.Posterior.Commits {
		c.Ribbon = append(c.Ribbon, alibi.Suspicion{Commit: list[i].ID, Title: list[i].Title, Probability: round(x)})
	}
	return c
}

// idOf is the id of a commit by its number in a search.
func idOf(line *culprit.Line, commit int) string {
	if commit == 0 {
		return line.Base()
	}
	return line.Commits()[commit-1].ID
}

// shorten leaves of a reason its first lines: those of a compiler begin with the package.
func shorten(why string) string {
	why = strings.Join(strings.Fields(why), " ")
	return strings.ToValidUTF8(why[:min(len(why), mostWhyBytes)], "")
}

// almost is the most that a search is sure of.
const almost = 0.999

func round(x float64) float64 { return math.Round(1000*x) / 1000 }

package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/shadowcourt/shadowcourt/host/experiment"
	"github.com/shadowcourt/shadowcourt/host/experiment/culprit"
	"github.com/shadowcourt/shadowcourt/host/lab/internal/study"
)

const (
	before     = 12 // commits before a culprit at which its search begins
	realBudget = 10 * time.Minute
)

// reverts runs the searches for commits that were reverted, in isolation: from some commits before the culprit to the last one before its
// revert, or to a commit behind the culprit that has the tests of the revert. An error of one search is a row.
func reverts(ctx context.Context, snapshots, work string, known []fault) ([]study.Table, error) {
	var b strings.Builder
	b.WriteString("| culprit | commits | answer | probability | verified | runs: ends | search | to verify | skipped | seconds |\n")
	b.WriteString("| --- | ---: | --- | ---: | --- | ---: | ---: | ---: | ---: | ---: |\n")
	for i := range known {
		f := &known[i]
		if f.Reverted == "" {
			continue
		}
		name := fmt.Sprintf("%s %.12s", f.Repository, f.Commit)
		l, r, err := revert(ctx, f, snapshots, work)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			fmt.Fprintf(&b, "| %s | | %v | | | | | | | |\n", name, err)
			continue
		}
		answer, list := string(r.Ending), l.Commits()
		if s := r.Suspects; s.First > 0 && s.Last <= len(list) {
			answer = "wrong"
			for _, c := range list[s.First-1 : s.Last] {
				if c.ID == f.Commit {
					answer = fmt.Sprintf("right, one of %d", s.Last-s.First+1)
				}
			}
		}
		fmt.Fprintf(&b, "| %s | %d | %s | %.3f | %v | %d | %d | %d | %d | %.0f |\n", name, len(list), answer, r.Suspects.Probability, r.Verified,
			r.Runs[culprit.End], r.Runs[culprit.Narrow], r.Runs[culprit.Verify], len(r.Skipped), r.Time.Seconds())
	}
	return []study.Table{{Name: "reverts", Text: b.String()}}, nil
}

func revert(ctx context.Context, f *fault, snapshots, work string) (*culprit.Line, culprit.Result, error) {
	made, err := f.repository(ctx, snapshots, work)
	if err != nil {
		return nil, culprit.Result{}, err
	}
	tested := "" // the commit with the tests of the revert behind the culprit, where the culprit lacks them
	if len(f.head.Steps) > 0 {
		if tested, err = made.Make(ctx, &f.head); err != nil {
			return nil, culprit.Result{}, err
		}
	}
	l, err := culprit.OpenLine(ctx, culprit.LineConfig{
		Source: made.Folder(), Base: fmt.Sprintf("%s~%d", f.Commit, before), Head: cmp.Or(tested, f.Reverted+"~1"), HeadTests: tested != "",
		Lab: experiment.Config{Flags: []string{"-trimpath", "-ldflags=-w"}},
	})
	if err != nil {
		return nil, culprit.Result{}, err
	}
	defer l.Close() // the trees are of no use any more
	r, err := l.Find(ctx, f.Case, culprit.Options{Time: realBudget})
	return l, r, err
}

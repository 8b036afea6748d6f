package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/lab/internal/history"
)

// fault is a commit that broke a test: a real one, one that takes the product part of a fix back, or one of our own making.
type fault struct {
	ID, Repository string
	// Learning: something may be learned from it.
	Learning bool
	// Case is the failing test.
	Case *abi.Case
	// Commit is the real commit that broke the test. Otherwise it is a commit at which taking back or changing the paths of Taken breaks the
	// test; Planted says that they were changed so that it fails by chance.
	Commit  string
	Taken   []string
	Planted bool
	// Reverted is the commit that reverts a real one; empty where none does.
	Reverted string
	head     history.Tree
	// Before and After are runs without the fault and with it, in their order: P passed, and any other letter failed.
	Before, After string
	// Build and Run are seconds.
	Build, Run float64
}

// readFaults reads the faults among the saved cases of a folder, sorted by repository and ID.
func readFaults(folder string) ([]fault, error) {
	var list []fault
	for _, half := range []history.Half{history.Learning, history.Reporting} {
		repos, err := history.Read(folder, half)
		if err != nil {
			return nil, err
		}
		for i := range repos {
			for j := range repos[i].Cases {
				f, ok, err := faultOf(&repos[i].Cases[j])
				if err != nil {
					return nil, err
				}
				if f.Learning = half == history.Learning; ok {
					list = append(list, f)
				}
			}
		}
	}
	slices.SortFunc(list, func(a, b fault) int { return strings.Compare(a.ID, b.ID) })
	return list, nil
}

func faultOf(c *history.Case) (fault, bool, error) {
	f := fault{ID: c.ID, Repository: c.Repository}
	switch {
	case c.Kind == history.MadeFlaky && c.Planted:
		head := c.Trees[history.Head]
		f.Commit, f.Planted = head.Start, true
		for _, s := range head.Steps {
			if s.Plant != nil {
				f.Taken = append(f.Taken, s.Plant.File)
			}
		}
	case c.Planted:
		return f, false, nil
	case c.Kind == history.Revert:
		f.Commit, f.Reverted, f.head = c.Culprit, c.Fix, c.Trees[history.Head]
	case c.Kind == history.Stale:
		f.Commit = c.Fix
	case c.Kind == history.Regression:
		f.Commit = c.Fix
		for _, s := range c.Trees[history.Head].Steps {
			f.Taken = append(f.Taken, s.Paths...)
		}
	default:
		return f, false, nil
	}
	before, after := c.Cell(history.Base), c.Cell(history.Head)
	if before == nil || after == nil || strings.Trim(before.Runs, "P") != "" || before.Runs == "" || after.Runs == "" || f.Commit == "" {
		return f, false, nil
	}
	entry, err := c.Failure.Entry()
	if err != nil {
		return f, false, fmt.Errorf("%s: %w", c.ID, err)
	}
	f.Case, f.Before, f.After = &entry.Case, before.Runs, after.Runs
	f.Build = (before.Build + after.Build) / 2
	f.Run = (before.Wall + after.Wall) / float64(len(before.Runs)+len(after.Runs))
	return f, true, nil
}

// repository makes a git repository over the snapshot of the one that the fault is of, a git directory that is only read.
func (f *fault) repository(ctx context.Context, snapshots, work string) (*history.Repository, error) {
	name := strings.ReplaceAll(f.Repository, "/", "+")
	return history.OpenRepository(ctx, filepath.Join(snapshots, name, "repo"), filepath.Join(work, name), nil)
}

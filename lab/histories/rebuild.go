package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/shadowcourt/shadowcourt/host/lab/histories/internal/mine"
	"github.com/shadowcourt/shadowcourt/host/lab/internal/history"
)

// rebuild makes the trees of all saved cases again, and says which did not become the commits that they were.
func rebuild(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("rebuild", flag.ContinueOnError)
	var in folders
	in.flags(flags)
	if err := errors.Join(flags.Parse(args), in.check()); err != nil {
		return err
	}
	var problems []error
	trees, cases, repositories, wrong := 0, 0, 0, 0
	for _, half := range []history.Half{history.Learning, history.Reporting} {
		repos, err := history.Read(in.saved, half)
		if err != nil {
			return err
		}
		for i := range repos {
			made, err := rebuildRepo(ctx, &repos[i], in.snapshot(repos[i].Name), in.work)
			fmt.Fprintf(out, "%s: %d trees of %d cases\n", repos[i].Name, made, len(repos[i].Cases))
			problems = append(problems, err)
			trees, cases, repositories = trees+made, cases+len(repos[i].Cases), repositories+1
			if err != nil {
				wrong++
			}
		}
	}
	if repositories == 0 {
		return in.noCases()
	}
	if wrong > 0 {
		fmt.Fprintf(out, "of %d repositories, %d have trees that could not be made as they were saved\n", repositories, wrong)
		return errors.Join(problems...)
	}
	fmt.Fprintf(out, "%d trees of %d cases in %d repositories: all became the commits that were saved\n", trees, cases, repositories)
	return nil
}

func rebuildRepo(ctx context.Context, repo *history.Repo, snapshot, work string) (made int, err error) {
	if _, err := os.Stat(snapshot); err != nil {
		return 0, fmt.Errorf("%s: no snapshot: %w", repo.Name, err)
	}
	r, err := history.OpenRepository(ctx, snapshot, filepath.Join(work, history.Slug(repo.Name), "tree"), mine.Planters())
	if err != nil {
		return 0, fmt.Errorf("%s: %w", repo.Name, err)
	}
	var problems []error
	for i := range repo.Cases {
		c := &repo.Cases[i]
		for _, role := range slices.Sorted(maps.Keys(c.Trees)) {
			t := c.Trees[role]
			if _, err := r.Make(ctx, &t); err != nil {
				problems = append(problems, fmt.Errorf("%s: %s: %w", c.ID, role, err))
				continue
			}
			made++
		}
	}
	return made, errors.Join(problems...)
}

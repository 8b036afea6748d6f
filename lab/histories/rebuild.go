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
	"strings"

	"github.com/shadowcourt/shadowcourt/host/lab/histories/internal/history"
	"github.com/shadowcourt/shadowcourt/host/lab/histories/internal/mine"
)

// rebuild makes the trees of all saved cases again, and says which did not become the commits that they were.
func rebuild(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("rebuild", flag.ContinueOnError)
	snapshots := snapshotsFlag(flags)
	work := flags.String("work", filepath.Join("out", "histories"), "folder for the trees")
	saved := savedFlag(flags)
	if err := flags.Parse(args); err != nil {
		return err
	}
	if _, err := os.Stat(*snapshots); err != nil || *snapshots == "" {
		return fmt.Errorf("say which folder has the snapshots: make histories SNAPSHOTS=DIR (%q)", *snapshots)
	}
	var problems []error
	trees, cases, repositories, wrong := 0, 0, 0, 0
	for _, half := range []history.Half{history.Learning, history.Reporting} {
		repos, err := history.Read(*saved, half)
		if err != nil {
			return err
		}
		for i := range repos {
			made, err := rebuildRepo(ctx, &repos[i], snapshotOf(*snapshots, repos[i].Name), *work)
			fmt.Fprintf(out, "%s: %d trees of %d cases\n", repos[i].Name, made, len(repos[i].Cases))
			problems = append(problems, err)
			trees, cases, repositories = trees+made, cases+len(repos[i].Cases), repositories+1
			if err != nil {
				wrong++
			}
		}
	}
	if repositories == 0 {
		return noCases(*saved)
	}
	if wrong > 0 {
		fmt.Fprintf(out, "of %d repositories, %d have trees that could not be made as they were saved\n", repositories, wrong)
		return errors.Join(problems...)
	}
	fmt.Fprintf(out, "%d trees of %d cases in %d repositories: all became the commits that were saved\n", trees, cases, repositories)
	return nil
}

func noCases(saved string) error { return fmt.Errorf("%s has no cases", saved) }

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

func snapshotsFlag(flags *flag.FlagSet) *string {
	return flags.String("snapshots", "", "folder with a git directory OWNER+NAME/repo for each repository")
}

func savedFlag(flags *flag.FlagSet) *string {
	return flags.String("saved", filepath.Join("lab", "histories", "saved"), "folder of the cases")
}

// snapshotOf is the git directory of a repository.
func snapshotOf(snapshots, name string) string {
	return filepath.Join(snapshots, strings.ReplaceAll(name, "/", "+"), "repo")
}

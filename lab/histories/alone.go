package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/host/lab/histories/internal/history"
	"github.com/shadowcourt/shadowcourt/host/lab/histories/internal/mine"
	"github.com/shadowcourt/shadowcourt/host/lab/internal/launch"
)

// mostTimed is how many cases of one repository are timed.
const mostTimed = 3

// alone times some cases of the reporting half, one after the other. Nothing else may run on the machine.
func alone(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("alone", flag.ContinueOnError)
	snapshots := snapshotsFlag(flags)
	work := flags.String("work", filepath.Join("out", "histories"), "folder for trees")
	saved := savedFlag(flags)
	only := flags.String("only", "", "the one repository, owner/name")
	n := flags.Int("cases", 50, "how many cases are timed")
	if err := flags.Parse(args); err != nil {
		return err
	}
	repos, err := history.Read(*saved, history.Reporting)
	if err != nil {
		return err
	}
	if len(repos) == 0 {
		return noCases(*saved)
	}
	chosen := choose(repos, *n)
	if *only == "" {
		names := make(chan string)
		go func() {
			defer close(names)
			for i := range repos {
				if slices.ContainsFunc(chosen, func(id string) bool { return strings.HasPrefix(id, repos[i].Name+"/") }) {
					names <- repos[i].Name
				}
			}
		}()
		return each(ctx, 1, names, "alone", args)
	}
	if err := launch.Private(); err != nil {
		fmt.Fprintln(os.Stderr, "histories: no environment can be broken for long:", err)
	}
	abs, err := filepath.Abs(*work)
	if err != nil {
		return err
	}
	m, err := mine.Open(ctx, mine.Config{Snapshot: snapshotOf(*snapshots, *only), Name: *only, Half: history.Reporting, Work: abs, Saved: *saved, Since: since, Log: os.Stderr})
	if err != nil {
		return err
	}
	for _, id := range chosen {
		if strings.HasPrefix(id, *only+"/") {
			if err := m.Alone(ctx, id); err != nil {
				return fmt.Errorf("%s: %w", id, err)
			}
			fmt.Fprintln(out, id)
		}
	}
	return nil
}

// fill runs the cells of hard cases that lack runs.
func fill(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("fill", flag.ContinueOnError)
	snapshots := snapshotsFlag(flags)
	work := flags.String("work", filepath.Join("out", "histories"), "folder for trees")
	saved := savedFlag(flags)
	only := flags.String("only", "", "the one repository, owner/name")
	workers := flags.Int("workers", 2, "repositories that are worked on at the same time")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *only == "" {
		return each(ctx, *workers, everyName(), "fill", args)
	}
	if err := launch.Private(); err != nil {
		fmt.Fprintln(os.Stderr, "histories: no environment can be broken for long:", err)
	}
	half, _ := mine.Half(*only)
	abs, err := filepath.Abs(*work)
	if err != nil {
		return err
	}
	m, err := mine.Open(ctx, mine.Config{Snapshot: snapshotOf(*snapshots, *only), Name: *only, Half: half, Work: abs, Saved: *saved, Since: since, Log: os.Stderr})
	if err != nil {
		return err
	}
	return m.Fill(ctx)
}

// choose chooses cases by their names alone, not too many of a repository.
func choose(repos []history.Repo, n int) []string {
	place := func(id string) uint64 {
		h := fnv.New64a()
		h.Write([]byte(id))
		return h.Sum64()
	}
	byPlace := func(a, b string) int { return cmp.Compare(place(a), place(b)) }
	var all []string
	for i := range repos {
		var ids []string
		for j := range repos[i].Cases {
			ids = append(ids, repos[i].Cases[j].ID)
		}
		slices.SortFunc(ids, byPlace)
		all = append(all, ids[:min(mostTimed, len(ids))]...)
	}
	slices.SortFunc(all, byPlace)
	return all[:min(n, len(all))]
}

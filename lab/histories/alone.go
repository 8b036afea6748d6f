package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"io"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/host/lab/internal/history"
)

// mostTimed is how many cases of one repository are timed.
const mostTimed = 3

// alone times some cases of the reporting half, one after the other. Nothing else may run on the machine.
func alone(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("alone", flag.ContinueOnError)
	var in folders
	in.flags(flags)
	only := flags.String("only", "", "the one repository, owner/name")
	n := flags.Int("cases", 50, "how many cases are timed")
	if err := errors.Join(flags.Parse(args), in.check()); err != nil {
		return err
	}
	repos, err := history.Read(in.saved, history.Reporting)
	if err != nil {
		return err
	}
	if len(repos) == 0 {
		return in.noCases()
	}
	chosen := choose(repos, *n)
	if *only == "" {
		var names []string
		for i := range repos {
			if slices.ContainsFunc(chosen, func(id string) bool { return strings.HasPrefix(id, repos[i].Name+"/") }) {
				names = append(names, repos[i].Name)
			}
		}
		return each(ctx, names, "alone", args)
	}
	m, err := in.open(ctx, *only)
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

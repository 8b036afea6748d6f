package main

import (
	"context"
	"errors"
	"flag"

	"github.com/shadowcourt/shadowcourt/host/lab/histories/internal/mine"
)

// fill runs the cells of hard cases that lack runs.
func fill(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("fill", flag.ContinueOnError)
	var in folders
	in.flags(flags)
	only := flags.String("only", "", "the one repository, owner/name")
	workers := flags.Int("workers", 2, "repositories that are worked on at the same time")
	if err := errors.Join(flags.Parse(args), in.check()); err != nil {
		return err
	}
	if *only == "" {
		return each(ctx, *workers, mine.Repositories(), "fill", args)
	}
	m, err := in.open(ctx, *only, mine.Config{})
	if err != nil {
		return err
	}
	return m.Fill(ctx)
}

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"

	"github.com/shadowcourt/shadowcourt/host/lab/histories/internal/judge"
	"github.com/shadowcourt/shadowcourt/host/lab/internal/history"
	"github.com/shadowcourt/shadowcourt/host/lab/internal/study"
)

func studySaved(ctx context.Context, args []string, out io.Writer) error {
	bench, err := study.New()
	if err != nil {
		return err
	}
	defer bench.Close()
	return judgeSaved(ctx, bench, args, out)
}

// judgeSaved judges the saved cases and writes what came of it to a page, or to out. It runs no test.
func judgeSaved(ctx context.Context, bench *study.Bench, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("study", flag.ContinueOnError)
	var in folders
	in.savedFlag(flags)
	page := flags.String("page", "", "page that the table of the arms is written to")
	tables := flags.String("tables", "", "folder for all tables as CSV; else they are printed")
	wrong := flags.Bool("cases", false, "write the wrong answers of the court, too, for the learning half, case by case")
	seed := flags.Uint64("seed", 1, "draws repositories for the intervals over them; not 0")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 || *seed == 0 {
		return errors.New("study takes flags alone, and a seed that is not 0")
	}
	learning, err := history.Read(in.saved, history.Learning)
	if err != nil {
		return err
	}
	reporting, err := history.Read(in.saved, history.Reporting)
	if err != nil {
		return err
	}
	if len(learning)+len(reporting) == 0 {
		return in.noCases()
	}
	judged, err := judge.Judge(ctx, bench, slices.Concat(learning, reporting))
	if err != nil {
		return err
	}
	all := slices.Concat(judge.Mined(learning, reporting), judge.Tables(judged, *seed, *wrong))
	if err := study.Save(*tables, all, out); err != nil || *page == "" {
		return err
	}
	short := slices.DeleteFunc(all, func(t study.Table) bool { return t.Name != "arms" })
	if err := study.Write(*page, short); err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "wrote %s: %d cases in %d repositories\n", *page, len(judged), len(learning)+len(reporting))
	return err
}

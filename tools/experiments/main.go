// Command experiments measures what experiments are good for, on cases whose cause is known by construction.
//
//	go run ./tools/experiments -work out/experiments -page docs/experiments-study.md
//
// It makes the cases that the work folder doesn't have yet, tries each in several ways, and writes what came of it to study.json in
// the work folder and to the page. An interrupted run continues where it was.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"

	"github.com/shadowcourt/shadowcourt/tools/experiments/cases"
	"github.com/shadowcourt/shadowcourt/tools/internal/study"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "experiments:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("experiments", flag.ContinueOnError)
	config := cases.Config{Log: os.Stderr}
	flags.StringVar(&config.Work, "work", filepath.Join("out", "experiments"), "folder that keeps cases and results")
	flags.Uint64Var(&config.Seed, "seed", 1, "decides faults and tests")
	flags.IntVar(&config.Quota, "quota", 2, "cases wanted for each pair of releases and cause, twice as many of broken environments")
	flags.StringVar(&config.Only, "only", "", "make only cases of modules whose path has this text")
	flags.BoolVar(&config.Fresh, "fresh", false, "make only cases of modules on which no table was tuned")
	page := flags.String("page", "", "page that the results are written to")
	generate := flags.Bool("generate", false, "only make the cases")
	only := flags.Bool("study", false, "only try the cases that are there")
	cached := flags.Bool("cached", false, "only write what is known of the cases that were tried")
	labelled := flags.String("labelled", "", "folder for the cases that were tried and what experiments showed, for `shadowcourt fit`")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return errors.New("experiments takes flags only")
	}
	var err error
	if config.Work, err = filepath.Abs(config.Work); err != nil {
		return err
	}
	if !*only && !*cached {
		if err := cases.Generate(ctx, config); err != nil || *generate {
			return err
		}
	}
	if !*cached {
		if err := try(ctx, config.Work); err != nil {
			return err
		}
	}
	if *labelled != "" {
		if err := writeLabelled(config.Work, *labelled); err != nil {
			return err
		}
	}
	done, err := readJSON(config.Work)
	if err != nil {
		return err
	}
	return study.Write(*page, tables(done), out)
}

// try tries all cases of the work folder.
func try(ctx context.Context, work string) error {
	t, err := newTrier(work)
	if err != nil {
		return err
	}
	defer t.bench.Close()
	return t.try(ctx, os.Stderr)
}

// Command experiments measures what experiments are good for, on cases whose cause is known by construction.
//
//	go run ./lab/experiments -page lab/experiments-study.md
//
// It makes the cases again that earlier runs have saved, with the outcomes of their experiments, tries each in several ways, and
// writes what came of it to study.json in the work folder and to the page. It runs no test: that takes hours, and
//
//	go run ./lab/experiments -more
//
// does it for new cases, and saves each.
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

	"github.com/shadowcourt/shadowcourt/host/lab/experiments/cases"
	"github.com/shadowcourt/shadowcourt/host/lab/internal/study"
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
	flags.StringVar(&config.Work, "work", filepath.Join("out", "experiments"), "folder that the cases are made in, again where they are there")
	saved := flags.String("saved", filepath.Join("tools", "experiments", "saved"), "folder with the cases of earlier runs and their outcomes")
	more := flags.Bool("more", false, "make more cases and run their experiments, and add them to those of earlier runs")
	flags.Uint64Var(&config.Seed, "seed", 1, "of -more: decides faults and tests")
	flags.IntVar(&config.Quota, "quota", 2, "of -more: cases wanted for each pair of releases and cause, twice as many of broken environments")
	flags.StringVar(&config.Only, "only", "", "make and try only cases of modules whose path has this text")
	flags.BoolVar(&config.Fresh, "fresh", false, "of -more: make only cases of modules on which nothing was tuned")
	flags.IntVar(&config.Workers, "workers", 1, "of -more: how many modules are worked on, and how many experiments run, at the same time")
	page := flags.String("page", "", "page that the results are written to")
	cached := flags.Bool("cached", false, "only write what the last run knew")
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
	if !*cached {
		if err := cases.Restore(ctx, config.Work, *saved, os.Stderr); err != nil {
			return err
		}
		if *more {
			return makeMore(ctx, config, *saved)
		}
		if err := try(ctx, config.Work, config.Only); err != nil {
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

// makeMore makes cases and runs their experiments at the same time.
func makeMore(ctx context.Context, config cases.Config, saved string) error {
	made, ran := make(chan struct{}), make(chan error, 1)
	go func() { ran <- performAll(ctx, config.Work, saved, config.Workers, made, config.Log) }()
	err := cases.Generate(ctx, config)
	close(made)
	return errors.Join(err, <-ran)
}

// try gives the cases of the work folder to all arms, or those of some modules.
func try(ctx context.Context, work, only string) error {
	t, err := newTrier(work)
	if err != nil {
		return err
	}
	defer t.bench.Close()
	done, err := t.try(ctx, only, os.Stderr)
	if err != nil {
		return err
	}
	return writeJSON(work, done)
}

// Command gen makes the docket of real failures that stands beside it.
//
// It takes public Go modules at pinned versions from the module proxy, runs their own tests under faults of known cause,
// and turns each stream of `go test -json` into cases through the reader that users have. See ../README.md for the
// faults and the labels.
//
//	go run ./examples/dockets/gen -out examples/dockets/go-failures.jsonl
//
// The seed decides every choice that the generator makes: sites, operators, order, samples. What a racing or starved
// test prints is up to the machine. Faults of the environment need root on Linux; those that the machine can't make are
// reported on stderr.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
)

func main() {
	if len(os.Args) > 2 && os.Args[1] == launchArg {
		os.Exit(launch(os.Args[2:]))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := run(ctx, os.Args[1:], os.Stderr)
	stop()
	os.Exit(code)
}

// config is what the command line says.
type config struct {
	out     string
	raw     string
	seed    uint64
	convert bool
	only    string
	quota   int
	share   int
	attempt int
	jobs    int
}

func run(ctx context.Context, args []string, stderr io.Writer) int {
	var c config
	flags := flag.NewFlagSet("gen", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&c.out, "out", "examples/dockets/go-failures.jsonl", "the docket to write")
	flags.StringVar(&c.raw, "raw", "", "keep the raw test streams in this folder (default: a temporary one)")
	flags.Uint64Var(&c.seed, "seed", 1, "decides sites, operators, order and samples")
	flags.BoolVar(&c.convert, "convert", false, "run nothing, only read the streams in -raw again")
	flags.StringVar(&c.only, "only", "", "run only modules whose path holds this text")
	flags.IntVar(&c.quota, "quota", 2, "failing runs wanted of each module and cause, twice as many for the environment")
	flags.IntVar(&c.share, "share", 18, "the most cases of one cause in the docket")
	flags.IntVar(&c.attempt, "attempts", 14, "the most runs for each module and cause")
	flags.IntVar(&c.jobs, "jobs", 2, "modules run side by side")
	if flags.Parse(args) != nil || flags.NArg() > 0 {
		return 2
	}
	if err := generate(ctx, c, stderr); err != nil {
		fmt.Fprintln(stderr, "gen:", err)
		return 1
	}
	return 0
}

func generate(ctx context.Context, c config, log io.Writer) error {
	if c.raw == "" {
		dir, err := os.MkdirTemp("", "gen-raw-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		c.raw = dir
	}
	if !c.convert {
		if err := collect(ctx, c, log); err != nil {
			return err
		}
	}
	return convert(c, log)
}

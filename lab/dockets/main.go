// Command dockets makes the dockets of real failures in examples/dockets.
//
// It takes public Go modules at pinned versions from the module proxy, runs their own tests under faults of known cause,
// checks each cause by running again, and turns the failing tests into cases through the reader that users have. See
// examples/dockets/README.md for the faults, the labels and the evidence.
//
//	go run ./lab/dockets -out examples/dockets
//
// The seed decides every choice that the generator makes: sites, operators, order, samples. What a racing or starved
// test prints is up to the machine. What a fault gave is kept in the work folder, so that an interrupted run goes on where
// it was. Faults of the environment need root on Linux; those that the machine can't make are reported in the summary.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"

	"github.com/shadowcourt/shadowcourt/host/lab/internal/launch"
)

func main() {
	if len(os.Args) > 3 && os.Args[1] == launch.Arg {
		os.Exit(launch.Run(os.Args[2], os.Args[3:]))
	}
	if len(os.Args) == 2 && os.Args[1] == probeArg {
		os.Exit(probe(os.Stdout))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := run(ctx, os.Args[1:], os.Stderr)
	stop()
	os.Exit(code)
}

// config is what the command line says.
type config struct {
	out  string
	work string
	seed uint64
	jobs int
}

func run(ctx context.Context, args []string, stderr io.Writer) int {
	var c config
	flags := flag.NewFlagSet("dockets", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&c.out, "out", "examples/dockets", "the folder of the dockets")
	flags.StringVar(&c.work, "work", filepath.Join(os.TempDir(), "shadowcourt-dockets"), "the folder that keeps what was run")
	flags.Uint64Var(&c.seed, "seed", 1, "decides sites, operators, order and samples")
	flags.IntVar(&c.jobs, "jobs", 2, "modules run side by side")
	if flags.Parse(args) != nil || flags.NArg() > 0 {
		return 2
	}
	if err := generate(ctx, c, stderr); err != nil {
		fmt.Fprintln(stderr, "dockets:", err)
		return 1
	}
	return 0
}

func generate(ctx context.Context, c config, stderr io.Writer) error {
	found, err := collect(ctx, c, stderr)
	if err != nil {
		return err
	}
	all, err := lines(c, choose(c, found))
	if err != nil {
		return err
	}
	if err := writeDockets(c.out, all); err != nil {
		return err
	}
	return summarise(stderr, found, all)
}

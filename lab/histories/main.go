// Command histories makes a benchmark of failing tests from the histories of public repositories.
//
//	go run ./lab/histories mine -snapshots DIR [-only NAME]
//
// looks for cases in the snapshots of a folder, runs their cells and saves each: it takes hours, and goes on where it was. Its other words:
// alone times some cases on a machine where nothing else runs, rebuild makes the trees of all saved
// cases again, and study judges from what was saved without running a test.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/shadowcourt/shadowcourt/host/lab/histories/internal/mine"
	"github.com/shadowcourt/shadowcourt/host/lab/internal/launch"
)

func main() {
	if len(os.Args) > 3 && os.Args[1] == launch.Arg {
		os.Exit(launch.Run(os.Args[2], os.Args[3:]))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "histories:", err)
		os.Exit(1)
	}
}

const usage = `histories makes a benchmark of failing tests from the histories of public repositories, and judges it.

  histories mine -snapshots DIR     look for cases and run them; hours, and it goes on where it was
  histories alone -snapshots DIR    time some cases; nothing else may run on the machine
  histories rebuild -snapshots DIR  make the trees of all cases again, and compare their commits
  histories docket -out DIR         write the learning half for shadowcourt fit
  histories study                   judge what is saved; minutes

Each word has -h.
`

func run(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return errors.New("say mine, rebuild, docket, study or alone")
	}
	switch args[0] {
	case "-h", "--help", "help":
		_, err := fmt.Print(usage)
		return err
	case "mine":
		return mineAll(ctx, args[1:])
	case "rebuild":
		return rebuild(ctx, args[1:], os.Stdout)
	case "study":
		return studySaved(ctx, args[1:], os.Stdout)
	case "docket":
		return docket(args[1:], os.Stdout)
	case "alone":
		return alone(ctx, args[1:], os.Stdout)
	}
	return fmt.Errorf("%q is none of mine, rebuild, docket, study and alone", args[0])
}

// since is how far back histories are read: before, most repositories had no module.
var since = time.Date(2018, 9, 1, 0, 0, 0, 0, time.UTC)

func mineAll(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("mine", flag.ContinueOnError)
	var in folders
	in.flags(flags)
	only := flags.String("only", "", "the one repository, owner/name")
	workers := flags.Int("workers", 2, "repositories that are worked on at the same time")
	limit := flags.Duration("time", 10*time.Minute, "how long each repository is searched")
	if err := errors.Join(flags.Parse(args), in.check()); err != nil {
		return err
	}
	if *only == "" {
		return each(ctx, *workers, mine.Repositories(), "mine", args)
	}
	m, err := in.open(ctx, *only, mine.Config{Time: *limit})
	if err != nil {
		return err
	}
	return m.Mine(ctx)
}

// each does something with repositories, with every one in a process of its own: what a broken environment does to one must not reach
// another.
func each(ctx context.Context, workers int, list []string, word string, args []string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	names := make(chan string, len(list))
	for _, name := range list {
		names <- name
	}
	close(names)
	var running sync.WaitGroup
	for range workers {
		running.Go(func() {
			for name := range names {
				if ctx.Err() != nil {
					continue
				}
				cmd := exec.CommandContext(ctx, self, append(append([]string{word}, args...), "-only", name)...)
				cmd.Stdout = os.Stdout
				cmd.Stderr = os.Stderr
				cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
				if err := cmd.Run(); err != nil {
					fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
				}
			}
		})
	}
	running.Wait()
	return ctx.Err()
}

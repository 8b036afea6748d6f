// Command histories judges failing tests from the histories of public repositories. Its commands: alone times some saved cases on a machine
// where nothing else runs, beside compares two builds of the command, rebuild makes the trees of all cases again, and study judges from what was saved without running a test.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "histories:", err)
		os.Exit(1)
	}
}

const usage = `histories judges failing tests from the histories of public repositories.

  histories alone -snapshots DIR    time some cases; nothing else may run on the machine
  histories beside -snapshots DIR   compare two builds of the command on saved cases, run for real
  histories rebuild -snapshots DIR  make the trees of all cases again, and compare their commits
  histories profile -out FILE       learn the profile of the alibi
  histories study                   judge what is saved; minutes

Each command has -h.
`

func run(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return errors.New("name a command: rebuild, profile, study, alone or beside")
	}
	switch args[0] {
	case "-h", "--help", "help":
		_, err := fmt.Print(usage)
		return err
	case "rebuild":
		return rebuild(ctx, args[1:], os.Stdout)
	case "study":
		return studySaved(ctx, args[1:], os.Stdout)
	case "profile":
		return profile(ctx, args[1:])
	case "beside":
		return beside(ctx, args[1:], os.Stdout)
	case "alone":
		return alone(ctx, args[1:], os.Stdout)
	}
	return fmt.Errorf("unknown command %q: use rebuild, profile, study, alone or beside", args[0])
}

// each runs a command for each repository, in a process of its own: what a broken environment does to one must not reach another.
func each(ctx context.Context, list []string, command string, args []string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	for _, name := range list {
		cmd := exec.CommandContext(ctx, self, append(append([]string{command}, args...), "-only", name)...)
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
		if err := cmd.Run(); err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

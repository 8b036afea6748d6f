// Command shadowcourt puts uncertain classifications on trial.
package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	os.Exit(mainCode())
}

// mainCode is main for tests too: it returns the exit code.
func mainCode() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)   // a second signal ends the program at once
	signal.Ignore(syscall.SIGPIPE) // a write says it, so that nothing half written is left behind
	return run(ctx, os.Args[1:], stdio{in: os.Stdin, out: os.Stdout, err: os.Stderr})
}

// stdio are the streams of a command. Data goes to out, everything else to err.
type stdio struct {
	in       io.Reader
	out, err io.Writer
}

// Command build builds the modules of the plugins folder into the folder that
// package bundle embeds, with the Go toolchain alone:
//
//	go run ./host/bundle/build [-plugins plugins] [-dist host/bundle/dist]
//
// A plugin is a folder with a Go main package and a manifest.yaml. The same
// sources and toolchain give the same bytes. What a build does not need again
// comes out of Go's build cache; a module whose bytes stay the same is not
// written, and one whose plugin is gone is removed.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run builds every plugin, also after one failed, and gives the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("build", flag.ContinueOnError)
	flags.SetOutput(stderr)
	var b builder
	flags.StringVar(&b.plugins, "plugins", "plugins", "the folder of the plugins")
	flags.StringVar(&b.dist, "dist", "host/bundle/dist", "the folder to build into")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil || flags.NArg() > 0:
		fmt.Fprintln(stderr, "build takes no arguments but -plugins and -dist")
		return 2
	}
	if err := b.run(ctx, stdout); err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	return 0
}

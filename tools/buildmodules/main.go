// Command buildmodules builds the modules of the plugins folder with the Go toolchain alone, and writes the archive that
// package bundle embeds:
//
//	go run ./tools/buildmodules [-plugins plugins] [-dist bin/modules] [-archive host/bundle/dist/modules.zip.zst]
//
// A plugin is a folder with a Go main package and a manifest.yaml. The same sources and toolchain produce the same bytes. Go's
// build cache avoids repeated work; a module whose bytes stay the same is not written, and one whose plugin is gone is removed.
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

	"github.com/shadowcourt/shadowcourt/host/bundle"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run builds every plugin, also after one failed, and gives the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("buildmodules", flag.ContinueOnError)
	flags.SetOutput(stderr)
	var b builder
	flags.StringVar(&b.plugins, "plugins", "plugins", "the folder of the plugins")
	flags.StringVar(&b.dist, "dist", filepath.Join("bin", "modules"), "the folder to build into")
	flags.StringVar(&b.archive, "archive", filepath.Join("host", "bundle", "dist", bundle.Archive), "the archive to write, or empty")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil || flags.NArg() > 0:
		fmt.Fprintln(stderr, "buildmodules takes no arguments but -plugins, -dist and -archive")
		return 2
	}
	if err := b.run(ctx, stdout); err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	return 0
}

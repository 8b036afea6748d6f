// Command release makes the commit, the tags and the module proxy of a version:
//
//	go run ./tools/release -version v0.1.0 -out out/release
//	go run ./tools/release sbom PROGRAM FILE
//
// The commit is a child of HEAD that nobody else refers to. It adds what main does not carry: the archive of the built modules in
// host/bundle, and a go.mod that requires host/bundle at this version. They and the Go module of cmd/shadowcourt-keyless are written into a
// file-system proxy in OUT/proxy, so that a release can be installed and checked before it is published. Everything depends on HEAD, the
// version and the Go toolchain alone: whoever repeats the command gets the same commit and the same files.
//
// The second command writes the bill of materials of a program of the release.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"

	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run returns the exit code: 0 done, 1 failed, 2 wrong arguments.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	if len(args) == 3 && args[0] == "sbom" {
		if err := writeBill(args[1], args[2]); err != nil {
			fmt.Fprintln(stderr, "release:", err)
			return 1
		}
		return 0
	}
	flags := flag.NewFlagSet("release", flag.ContinueOnError)
	flags.SetOutput(stderr)
	r := release{progress: stdout}
	flags.StringVar(&r.root, "root", ".", "the folder of the repository")
	flags.StringVar(&r.version, "version", "", "the version, such as v0.1.0")
	flags.StringVar(&r.out, "out", "", "the folder to write into")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	}
	err := checkVersion(r.version)
	if r.out == "" {
		err = errors.Join(err, errors.New("-out is missing: name the folder to write into"))
	}
	if flags.NArg() > 0 {
		err = errors.Join(err, fmt.Errorf("unexpected arguments %q", flags.Args()))
	}
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 2
	}
	if err := r.run(ctx); err != nil {
		fmt.Fprintln(stderr, "release:", err)
		return 1
	}
	return 0
}

func checkVersion(version string) error {
	if !semver.IsValid(version) || semver.Canonical(version) != version || module.CheckPathMajor(version, "") != nil {
		return fmt.Errorf("-version %q: expected a semantic version v0.X.Y or v1.X.Y, such as v0.1.0", version)
	}
	return nil
}

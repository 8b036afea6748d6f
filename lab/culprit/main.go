// Command culprit measures the search for the commit that broke a test beside git bisect, on saved outcomes.
//
//	go run ./culprit -tables tables/culprit
//
// With -snapshots DIR it makes the lines of commits again first, from a git directory OWNER+NAME/repo for each repository.
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

	"github.com/shadowcourt/shadowcourt/host/lab/internal/study"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "culprit:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("culprit", flag.ContinueOnError)
	snapshots := flags.String("snapshots", "", "make the lines of commits again, from the snapshots of this folder")
	work := flags.String("work", filepath.Join("out", "culprit"), "folder for repositories over the snapshots")
	cases := flags.String("cases", filepath.Join("lab", "histories", "saved"), "folder of the saved cases")
	lines := flags.String("lines", filepath.Join("lab", "culprit", "saved", "lines.jsonl.zst"), "file of the lines of commits")
	runReverts := flags.Bool("reverts", false, "run the searches for commits that were reverted, from the snapshots, and no others")
	folder := flags.String("tables", "", "folder for the tables as CSV; else they are printed")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return errors.New("takes flags alone")
	}
	if *runReverts && *snapshots == "" {
		return errors.New("-reverts needs -snapshots DIR")
	}
	from, err := filepath.Abs(*snapshots)
	if err != nil {
		return err
	}
	known, err := readFaults(*cases)
	if err != nil {
		return err
	}
	if *runReverts {
		t, err := reverts(ctx, from, *work, known)
		if err != nil {
			return err
		}
		return study.Save(*folder, t, out)
	}
	if *snapshots != "" {
		if err := collect(ctx, from, *work, known, *lines); err != nil {
			return err
		}
	}
	list, err := load(*lines)
	if err != nil {
		return err
	}
	searches, err := searchAll(ctx, list, known)
	if err != nil {
		return err
	}
	return study.Save(*folder, tables(searches), out)
}

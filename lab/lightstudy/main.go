// Command lightstudy measures what the Light path, remands and the casebook are
// good for, on cases that the profile was not fitted on, and what they cost.
//
//	go run ./lab/lightstudy -page lab/light-study.md FIT.jsonl:TEST.jsonl ...
//
// It writes its tables into the page, or without one to the standard output.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"

	"github.com/shadowcourt/shadowcourt/host/lab/internal/study"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "lightstudy:", err)
		os.Exit(1) //nolint:gocritic // nothing is left to be done
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("lightstudy", flag.ContinueOnError)
	page := flags.String("page", "", "page whose tables are written again")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() == 0 {
		return errors.New("name pairs of dockets, FIT.jsonl:TEST.jsonl")
	}
	s, err := newStudy()
	if err != nil {
		return err
	}
	defer s.bench.Close()
	for _, pair := range flags.Args() {
		fitFile, testFile, ok := strings.Cut(pair, ":")
		if !ok {
			return fmt.Errorf("%q: a pair is FIT.jsonl:TEST.jsonl", pair)
		}
		if err := s.add(ctx, fitFile, testFile); err != nil {
			return fmt.Errorf("%s: %w", pair, err)
		}
	}
	return study.Write(*page, s.tables(), out)
}

// Command lightstudy measures what the Light path, remands and the casebook are
// good for, on cases that the profile was not fitted on, and what they cost.
//
//	go run ./tools/lightstudy -page docs/light.md FIT.jsonl:TEST.jsonl ...
//
// It writes its tables into the page, or without one to the standard output.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"strings"
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
	return write(*page, s.tables(), out)
}

// table is one table of the page, in Markdown.
type table struct{ name, text string }

// write puts the tables between their marks in a page, or writes them out.
func write(page string, tables []table, out io.Writer) error {
	if page == "" {
		for _, t := range tables {
			if _, err := fmt.Fprintf(out, "### %s\n\n%s\n", t.name, t.text); err != nil {
				return err
			}
		}
		return nil
	}
	text, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	for _, t := range tables {
		name := regexp.QuoteMeta(t.name)
		mark := regexp.MustCompile(`(?s)(<!-- ` + name + ` -->\n).*?(<!-- /` + name + ` -->)`)
		if !mark.Match(text) {
			return fmt.Errorf("%s: no place for the table %s", page, t.name)
		}
		text = mark.ReplaceAllFunc(text, func(found []byte) []byte {
			parts := mark.FindSubmatch(found)
			return bytes.Join([][]byte{parts[1], []byte("\n" + t.text + "\n"), parts[2]}, nil)
		})
	}
	return os.WriteFile(page, text, 0o644)
}

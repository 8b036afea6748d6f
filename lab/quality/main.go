// Command quality measures the fitted court beside scikit-learn's models: on dockets in halves, under attacks, with few labels and with
// shuffled ones. It writes the tables of lab/quality-study.md.
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
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/lab/internal/study"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := command(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "quality:", err)
		os.Exit(1)
	}
}

func command(ctx context.Context, args []string, out, progress io.Writer) error {
	flags := flag.NewFlagSet("quality", flag.ContinueOnError)
	page := flags.String("page", "", "page whose tables are rewritten; else they are written to standard output")
	python := flags.String("python", "out/quality/bin/python", "Python with the packages of lab/quality/requirements.txt")
	timed := flags.Bool("scale", false, "only time fit on invented cases with 50 sources and 20 labels")
	cases := flags.Int("cases", 10_000, "with --scale, how many")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *timed {
		line, err := scale(ctx, *cases, 2)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(out, line)
		return err
	}
	if flags.NArg() == 0 {
		return errors.New("give pairs of dockets, FIT:TEST")
	}
	bench, err := study.New()
	if err != nil {
		return err
	}
	defer bench.Close()
	dir, err := os.MkdirTemp("", "shadowcourt-quality-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	m := &measuring{bench: bench, python: *python, dir: dir, progress: progress}
	var list []*half
	for _, arg := range flags.Args() {
		fitted, tried, ok := strings.Cut(arg, ":")
		if !ok {
			return fmt.Errorf("%q is no pair FIT:TEST", arg)
		}
		h := &half{name: strings.TrimSuffix(filepath.Base(tried), ".jsonl")}
		if h.fitted, err = study.Read(fitted); err != nil {
			return err
		}
		if h.tried, err = study.Read(tried); err != nil {
			return err
		}
		h.tried = slices.DeleteFunc(h.tried, func(e docket.Entry) bool {
			return e.Case.Light == nil || e.Case.Light.Confidence < 0.5 || e.Case.Light.Confidence >= 0.85
		}) // not in the band
		if err := m.measure(ctx, h); err != nil {
			return fmt.Errorf("%s: %w", h.name, err)
		}
		list = append(list, h)
	}
	return study.Write(*page, tables(list), out)
}

// Command courts measures courts on dockets in pairs: on one the profile is fitted, the other is tried.
//
//	go run ./lab/courts ablation FIT.jsonl:TEST.jsonl ...
//	go run ./lab/courts light -tables lab/tables/light FIT.jsonl:TEST.jsonl ...
//	go run ./lab/courts quality -tables lab/tables/quality FIT.jsonl:TEST.jsonl ...
//	go run ./lab/courts scale
//
// ablation takes mechanisms of the court away, one at a time, with a table for each pair. light measures what
// the Light path, remands and the casebook are good for, and what they cost. quality measures the fitted court beside scikit-learn's models:
// under attacks, with few labels and with shuffled ones. scale times fit on invented cases with 50 sources and 20 labels.
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
	"strings"

	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/lab/internal/study"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "courts:", err)
		os.Exit(1)
	}
}

// pair is a docket to fit on and one to try, of which it has the name.
type pair struct {
	name          string
	fitted, tried []docket.Entry
}

func run(ctx context.Context, args []string, out io.Writer) error {
	if len(args) == 0 {
		return errors.New("say ablation, light, quality or scale")
	}
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	folder := flags.String("tables", "", "folder for the tables as CSV; else they are printed")
	python := flags.String("python", "out/quality/bin/python", "Python with the packages of lab/courts/requirements.txt, for quality")
	cases := flags.Int("cases", 10_000, "how many cases are invented, for scale")
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	if args[0] == "scale" {
		return scale(ctx, *cases, 2, out)
	}
	pairs, err := readPairs(flags.Args())
	if err != nil {
		return err
	}
	bench, err := study.New()
	if err != nil {
		return err
	}
	defer bench.Close()
	var tables []study.Table
	switch args[0] {
	case "ablation":
		tables, err = ablation(ctx, bench, pairs)
	case "light":
		tables, err = light(ctx, bench, pairs)
	case "quality":
		tables, err = quality(ctx, bench, *python, pairs)
	default:
		return fmt.Errorf("%q is none of ablation, light, quality and scale", args[0])
	}
	if err != nil {
		return err
	}
	return study.Save(*folder, tables, out)
}

func readPairs(args []string) ([]pair, error) {
	if len(args) == 0 {
		return nil, errors.New("name pairs of dockets, FIT.jsonl:TEST.jsonl")
	}
	list := make([]pair, len(args))
	for i, arg := range args {
		fitted, tried, ok := strings.Cut(arg, ":")
		if !ok {
			return nil, fmt.Errorf("%q: a pair is FIT.jsonl:TEST.jsonl", arg)
		}
		p := &list[i]
		p.name = strings.TrimSuffix(filepath.Base(tried), ".jsonl")
		var err, err2 error
		p.fitted, err = study.Read(fitted)
		p.tried, err2 = study.Read(tried)
		if err := errors.Join(err, err2); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// Command ablation takes mechanisms of the court away, one at a time, and
// measures what is left: on cases that the profile was not fitted on.
//
//	go run ./lab/ablation FIT.jsonl:TEST.jsonl ...
//
// It prints a table in Markdown for each pair, as in lab/ablation.md.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"

	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/lab/internal/study"
	"github.com/shadowcourt/shadowcourt/internal/calibrate"
	"github.com/shadowcourt/shadowcourt/internal/calibrate/fit"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "ablation:", err)
		os.Exit(1) //nolint:gocritic // nothing is left to be done
	}
}

func run(ctx context.Context, pairs []string, out io.Writer) error {
	if len(pairs) == 0 {
		return errors.New("usage: ablation FIT.jsonl:TEST.jsonl, once or more")
	}
	bench, err := study.New()
	if err != nil {
		return err
	}
	defer bench.Close()
	for _, pair := range pairs {
		fitFile, testFile, ok := strings.Cut(pair, ":")
		if !ok {
			return fmt.Errorf("%q: a pair is FIT.jsonl:TEST.jsonl", pair)
		}
		if err := compare(ctx, bench, fitFile, testFile, out); err != nil {
			return fmt.Errorf("%s: %w", pair, err)
		}
	}
	return nil
}

// compare prints the table of one pair of dockets.
func compare(ctx context.Context, bench *study.Bench, fitFile, testFile string, out io.Writer) error {
	fitting, err := study.Read(fitFile)
	if err != nil {
		return err
	}
	tested, err := study.Read(testFile)
	if err != nil {
		return err
	}
	fitted, err := fit.Fit(ctx, fitting, fit.Config{Name: "ablation", Seed: 1})
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "\n### %s\n\n", testFile)
	fmt.Fprintln(out, "| court | right in the band | gained | lost | names a label | ECE | Brier | calls a trial | fuel a trial |")
	fmt.Fprintln(out, "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
	var whole []calibrate.Observation
	for _, v := range variants() {
		config := host.Config{Profile: fitted.Profile}
		if v.without {
			config.Profile = nil
		}
		if config.Pipeline, err = v.definition(); err != nil {
			return fmt.Errorf("%s: %w", v.name, err)
		}
		list, err := bench.Observe(ctx, config, tested)
		if err != nil {
			return fmt.Errorf("%s: %w", v.name, err)
		}
		if whole == nil {
			whole = list
		}
		row(out, v.name, list, whole)
	}
	return nil
}

// row gives one line: against the whole court, cases that are right only
// here are gained, those that are right only there are lost.
func row(out io.Writer, name string, list, whole []calibrate.Observation) {
	band, right, named, gained, lost := 0, 0, 0, 0, 0
	calls, fuel := 0, uint64(0)
	for i := range list {
		o, w := &list[i], &whole[i]
		if !o.Activated {
			continue
		}
		band++
		calls += o.Calls
		if o.Fuel != nil {
			fuel += *o.Fuel
		}
		if o.Final.Classification != "" {
			named++
		}
		here, there := o.Answer() == o.Case.Truth, w.Answer() == o.Case.Truth
		switch {
		case here && !there:
			gained++
		case there && !here:
			lost++
		}
		if here {
			right++
		}
	}
	court := calibrate.Measure(list, nil, calibrate.Options{Resamples: 10, Simulations: 10}).Court
	n := float64(max(band, 1))
	fmt.Fprintf(out, "| %s | %.3f | %d | %d | %.2f | %s | %s | %.1f | %.2f M |\n", name, float64(right)/n, gained, lost,
		float64(named)/n, figure(court.ECE), figure(court.Brier), float64(calls)/n, float64(fuel)/n/1e6)
}

func figure(v *float64) string {
	if v == nil {
		return ""
	}
	return fmt.Sprintf("%.3f", *v)
}

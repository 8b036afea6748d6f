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

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/docket"
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
	cache, err := os.MkdirTemp("", "shadowcourt-ablation-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(cache) }()
	if err := os.Chmod(cache, 0o700); err != nil { //nolint:gosec // the cache is the user's own folder
		return err
	}
	for _, pair := range pairs {
		fitFile, testFile, ok := strings.Cut(pair, ":")
		if !ok {
			return fmt.Errorf("%q: a pair is FIT.jsonl:TEST.jsonl", pair)
		}
		if err := compare(ctx, fitFile, testFile, cache, out); err != nil {
			return fmt.Errorf("%s: %w", pair, err)
		}
	}
	return nil
}

// compare prints the table of one pair of dockets.
func compare(ctx context.Context, fitFile, testFile, cache string, out io.Writer) error {
	fitting, err := read(fitFile)
	if err != nil {
		return err
	}
	tested, err := read(testFile)
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
		list, err := tryAll(ctx, v, fitted.Profile, tested, cache)
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

func tryAll(ctx context.Context, v variant, p *abi.Profile, entries []docket.Entry, cache string) ([]calibrate.Observation, error) {
	def, err := v.definition()
	if err != nil {
		return nil, err
	}
	if v.without {
		p = nil
	}
	h, err := host.Open(ctx, host.Config{Pipeline: def, Profile: p, CacheDir: cache})
	if err != nil {
		return nil, err
	}
	defer func() { _ = h.Close(context.WithoutCancel(ctx)) }()
	var list []calibrate.Observation
	for t := range h.TryAll(ctx, docket.Each(entries), 0) {
		if t.Err != nil {
			return nil, t.Err
		}
		list = append(list, calibrate.Observe(t.Trial))
	}
	return list, ctx.Err()
}

func read(path string) ([]docket.Entry, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	var list []docket.Entry
	var r docket.Reader
	for e, err := range r.JSONL(path, f) {
		if err != nil {
			return nil, err
		}
		if e.Truth != nil && e.Truth.Classification != "" {
			list = append(list, e)
		}
	}
	return list, nil
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

// Command profile makes a profile for plain reports of Go tests: learned from
// dockets of failures with a known cause, of which only what a plain report
// holds is looked at, and with hand-tuned signals. lab/light-study.md says
// how it compares with the one that is shipped.
//
//	go run ./lab/profile -plain PLAIN.yaml -out PROFILE.yaml DOCKET...
//
// It measures profiles that are made the same way, on modules that they were
// not fitted on, and writes the figures into the profile's head.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/odds"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/lab/internal/study"
	"github.com/shadowcourt/shadowcourt/host/profile"
	"github.com/shadowcourt/shadowcourt/internal/calibrate/fit"
)

// name of the profile.
const name = "go-test-learned"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "profile:", err)
		os.Exit(1) //nolint:gocritic // nothing is left to be done
	}
}

func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("profile", flag.ContinueOnError)
	out := flags.String("out", "", "file for the profile")
	plainFile := flags.String("plain", "", "profile with the hand-tuned signals")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *out == "" || *plainFile == "" || flags.NArg() == 0 {
		return errors.New("name dockets, and a file for -plain and for -out")
	}
	plain, err := profile.Load(*plainFile)
	if err != nil {
		return err
	}
	entries, err := study.Read(flags.Args()...)
	if err != nil {
		return err
	}
	entries = plainReports(entries)
	held, err := holdOut(ctx, entries, plain)
	if err != nil {
		return err
	}
	result, err := learn(ctx, entries, plain)
	if err != nil {
		return err
	}
	var text bytes.Buffer
	if err := result.WriteYAML(&text); err != nil {
		return err
	}
	_, body, _ := bytes.Cut(text.Bytes(), []byte("\nname: "))
	return os.WriteFile(*out, []byte(head(result, held)+"\nname: "+string(body)), 0o644)
}

// plainReports leaves of each case what a report of tests alone holds: the
// documents, and the items that were cut from them.
func plainReports(entries []docket.Entry) []docket.Entry {
	out := slices.Clone(entries)
	for i := range out {
		c := &out[i].Case
		items := []abi.Evidence{}
		for _, e := range c.Evidence {
			if slices.ContainsFunc(c.Documents, func(d abi.Document) bool { return d.Name == odds.SourceKey(e.SourceRef) }) {
				items = append(items, e)
			}
		}
		c.Evidence = items
	}
	return out
}

// learn fits a profile and adds the hand-tuned signals.
func learn(ctx context.Context, entries []docket.Entry, plain *abi.Profile) (*fit.Result, error) {
	result, err := fit.Fit(ctx, entries, fit.Config{Name: name, Seed: 1, Workers: runtime.GOMAXPROCS(0)})
	if err != nil {
		return nil, err
	}
	p := result.Profile
	for _, s := range plain.Signals {
		known := func(o abi.Signal) bool { return strings.EqualFold(o.Phrase, s.Phrase) }
		if !slices.ContainsFunc(p.Signals, known) {
			p.Signals = append(p.Signals, s)
		}
	}
	return result, nil
}

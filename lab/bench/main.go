// Command bench measures Shadowcourt beside its peers, in one run on one
// machine. See README.md.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"
)

func main() {
	if len(os.Args) == 2 && os.Args[1] == ServeArgument {
		ServeGoPlugin(affirm)
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1) //nolint:gocritic // nothing is left to be done
	}
}

// bench is one run.
type bench struct {
	report
	options
	dir string // for what is built, removed at the end
	log io.Writer
}

type options struct {
	out    string
	page   string
	parts  string
	rounds int
	turn   time.Duration
	cases  int
	limit  time.Duration
	items  int
}

// part is one comparison.
type part struct {
	name string
	run  func(*bench, context.Context) error
}

func parts() []part {
	return []part{
		{"calls", (*bench).nodeCalls},
		{"trials", (*bench).trials},
		{"prepared", (*bench).prepared},
		{"graphs", (*bench).graphs},
		{"loops", (*bench).loops},
		{"merges", (*bench).merges},
		{"instances", (*bench).instances},
		{"docket", (*bench).dockets},
	}
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	if len(args) > 0 {
		if child, ok := children()[args[0]]; ok {
			return child(ctx, args[1:], stdout)
		}
	}
	o, err := parse(args, stderr)
	if errors.Is(err, flag.ErrHelp) {
		return nil
	} else if err != nil {
		return err
	}
	if o.page != "" {
		return writePage(o.out, o.page)
	}
	dir, err := os.MkdirTemp("", "shadowcourt-bench-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if !personasLinked {
		return withPersonas(ctx, dir, args, stdout, stderr)
	}
	b := &bench{options: *o, dir: dir, log: stderr}
	b.machine()
	for _, p := range parts() {
		if o.parts != "" && !slices.Contains(strings.Split(o.parts, ","), p.name) {
			continue
		}
		start := time.Now()
		if err := p.run(b, ctx); err != nil {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			b.miss(p.name, err)
		}
		_, _ = fmt.Fprintf(stderr, "%s: %s\n", p.name, time.Since(start).Round(time.Second))
	}
	b.print(stdout)
	if o.out == "" {
		return nil
	}
	return b.write(o.out)
}

func parse(args []string, stderr io.Writer) (*options, error) {
	var o options
	names := make([]string, 0, len(parts()))
	for _, p := range parts() {
		names = append(names, p.name)
	}
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.StringVar(&o.out, "out", "", "write the rows to `FILE`, as JSON")
	f.StringVar(&o.page, "page", "", "write `FILE`, a page in Markdown, from the rows that -out names, and measure nothing")
	f.StringVar(&o.parts, "parts", "", "measure only these, separated by commas: "+strings.Join(names, ", "))
	f.IntVar(&o.rounds, "rounds", 9, "rounds of each comparison")
	f.DurationVar(&o.turn, "turn", 50*time.Millisecond, "how long a rival's turn is")
	f.IntVar(&o.cases, "cases", 100_000, "cases of the docket")
	f.DurationVar(&o.limit, "docket-time", 2*time.Minute, "how long the docket is tried, with one worker and with two")
	f.IntVar(&o.items, "items", 1_000_000, "most items that are merged")
	if err := f.Parse(args); err != nil {
		return nil, err
	}
	if o.page != "" && o.out == "" {
		return nil, errors.New("-page needs -out")
	}
	if f.NArg() > 0 || o.rounds < 1 || o.turn <= 0 || o.cases < 1 || o.limit <= 0 || o.items < 1 {
		return nil, errors.New("no arguments, and positive numbers: see -help")
	}
	for p := range strings.SplitSeq(o.parts, ",") {
		if p != "" && !slices.Contains(names, p) {
			return nil, fmt.Errorf("no part is called %q", p)
		}
	}
	return &o, nil
}

// say tells the one who waits.
func (b *bench) say(format string, args ...any) { _, _ = fmt.Fprintf(b.log, format+"\n", args...) }

// Command constructed asks shadowcourt alibi about failures whose cause is known, because a template made the repository.
//
//	go run ./constructed -shadowcourt ../bin/shadowcourt -cases 20 2>cases.jsonl
//
// Each kind of kinds/ is an ordinary change or an old failure. Its seed chooses names, numbers, the language, whether an old failing test stands
// beside, whether lines move, and whether the change is committed. The table goes to stdout, a line of JSON a case to stderr. It ends with exit code 1
// where an answer is false.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "constructed:", err)
		os.Exit(1)
	}
}

// options are what the flags say.
type options struct {
	program string
	node    string // folder with node_modules, for vitest and jest
	keep    string // folder for the cases with a false answer
	more    string // further flags of the command, for cases whose environment is at fault
	seed    uint64
	make    bool
}

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("constructed", flag.ContinueOnError)
	var o options
	flags.StringVar(&o.program, "shadowcourt", filepath.Join("..", "bin", "shadowcourt"), "the command")
	flags.StringVar(&o.node, "node", "", "folder in which vitest, jest and jest-junit are installed; without it their cases are left out")
	flags.StringVar(&o.keep, "keep", filepath.Join(os.TempDir(), "constructed-failures"), "folder for the repositories of false answers")
	flags.StringVar(&o.more, "more", "", "flags of shadowcourt alibi for kinds of an environment, such as --native")
	flags.Uint64Var(&o.seed, "seed", 1, "another seed makes other cases")
	flags.BoolVar(&o.make, "make", false, "only make the cases, below the folder of -keep, with their commands")
	kinds := flags.String("kinds", "", "kinds to try, by commas; all if empty")
	cases := flags.Int("cases", 20, "cases of each kind")
	if err := flags.Parse(args); err != nil {
		return err
	}
	known, err := readKinds()
	if flags.NArg() > 0 {
		err = errors.New("takes flags alone")
	}
	for _, path := range []*string{&o.program, &o.keep, &o.node} {
		if *path != "" && err == nil {
			*path, err = filepath.Abs(*path)
		}
	}
	if err != nil {
		return err
	}
	for i := range known {
		known[i].variants = slices.DeleteFunc(known[i].variants, func(v variant) bool { return o.node == "" && v.script() })
	}
	if *kinds != "" {
		wanted := strings.Split(*kinds, ",")
		known = slices.DeleteFunc(known, func(k kind) bool { return !slices.Contains(wanted, k.name) })
		if len(known) < len(wanted) {
			return fmt.Errorf("not all kinds of %s are known", *kinds)
		}
	}
	var all []result
	for _, k := range known {
		for i := range *cases * min(len(k.variants), 1) {
			r, err := k.try(ctx, &o, i)
			if err := errors.Join(err, json.NewEncoder(os.Stderr).Encode(r)); err != nil {
				return fmt.Errorf("%s, case %d: %w", k.name, i, err)
			}
			all = append(all, r)
		}
	}
	return write(out, all)
}

// write prints a line for each kind and for each truth, and fails where an answer is false.
func write(out io.Writer, all []result) error {
	var order []string
	groups := map[string][]result{}
	for pass := range 2 {
		for _, r := range all {
			name := []string{r.Kind, "all"}[pass] + " | " + r.Truth
			if groups[name] == nil {
				order = append(order, name)
			}
			groups[name] = append(groups[name], r)
		}
	}
	fmt.Fprintln(out, "| kind | truth | cases | false alibis | false blame | right | open | broken | seconds |")
	fmt.Fprintln(out, "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
	for _, name := range order {
		n := map[string]int{}
		var seconds []float64
		for _, r := range groups[name] {
			n[r.Outcome]++
			seconds = append(seconds, r.Seconds)
		}
		slices.Sort(seconds)
		fmt.Fprintf(out, "| %s | %d | %d | %d | %d | %d | %d | %.1f |\n", name, len(seconds), n[falseAlibi], n[falseBlame], n[right], n[open],
			n[broken], seconds[len(seconds)/2])
	}
	wrong := 0
	for _, r := range all {
		if r.Outcome == falseAlibi || r.Outcome == falseBlame || r.Outcome == broken {
			wrong++
			fmt.Fprintf(out, "\n%s: %s (%s, case %d): %s: %s\n", r.Outcome, r.Kind, r.Runner, r.Case, cmp.Or(r.Row, "no row"), cmp.Or(r.Why, r.Conclusion))
		}
	}
	if wrong > 0 {
		return fmt.Errorf("%d of %d cases have a false answer or are broken", wrong, len(all))
	}
	return nil
}

package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/shadowcourt/shadowcourt/host/lab/histories/internal/judge"
	"github.com/shadowcourt/shadowcourt/host/lab/internal/history"
)

// docket writes the cases of the learning half as a docket with the attributions as labels, or the four labels, and what their runs showed as results: what
// `shadowcourt fit` learns from.
func docket(args []string, out io.Writer) error {
	flags := flag.NewFlagSet("docket", flag.ContinueOnError)
	var in folders
	in.savedFlag(flags)
	to := flags.String("out", "", "folder for learning.jsonl and results.jsonl")
	four := flags.Bool("labels", false, "write the four labels, of the cases where they are known")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 || *to == "" {
		return errors.New("docket takes flags alone, and needs -out")
	}
	repos, err := history.Read(in.saved, history.Learning)
	if err != nil {
		return err
	}
	if len(repos) == 0 {
		return in.noCases()
	}
	if err := os.MkdirAll(*to, 0o750); err != nil {
		return err
	}
	cases, err := os.Create(filepath.Join(*to, "learning.jsonl"))
	if err != nil {
		return err
	}
	results, err := os.Create(filepath.Join(*to, "results.jsonl"))
	if err != nil {
		return errors.Join(err, cases.Close())
	}
	n := 0
	entries, shown := json.NewEncoder(cases), json.NewEncoder(results)
	for i := range repos {
		for j := range repos[i].Cases {
			c := &repos[i].Cases[j]
			if line := judge.AttributedOf(c, repos[i].Name, *four); line != nil {
				err = errors.Join(err, entries.Encode(line), shown.Encode(judge.ShownOf(c)))
				n++
			}
		}
	}
	if err := errors.Join(err, cases.Close(), results.Close()); err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "wrote %d cases of the learning half to %s\n", n, *to)
	return err
}

package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/docket"
)

// defaultShare of the trials that a canary takes part in.
const defaultShare = 0.1

// canaryOptions are the flags of a candidate court.
type canaryOptions struct {
	modules []string // PERSONA=FILE
	share   float64
	seed    uint64
	output  string
}

func (o *tryOptions) canaryFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringArrayVar(&o.canary.modules, "canary", nil, "PERSONA=FILE: have a court with this module try a share of the cases too; it decides nothing; may be repeated")
	f.Float64Var(&o.canary.share, "share", defaultShare, "with --canary: the share of the trials, above 0 and at most 1")
	f.Uint64Var(&o.canary.seed, "canary-seed", 1, "with --canary: which trials, together with the ids of the cases")
	f.StringVar(&o.canary.output, "canary-output", "", "with --canary: file for both results of each trial that ran beside, as JSON lines")
}

// check rejects flags that contradict each other.
func (c *canaryOptions) check() error {
	switch {
	case len(c.modules) == 0 && c.output != "":
		return errors.New("--canary-output needs --canary PERSONA=FILE, the court to tell of")
	case len(c.modules) > 0 && !(c.share > 0 && c.share <= 1): // NaN too
		return fmt.Errorf("--share %v: use a number above 0 and at most 1", c.share)
	}
	return nil
}

// candidate sets the candidate court, if there is one.
func (c *canaryOptions) candidate(config *host.Config) error {
	if len(c.modules) == 0 {
		return nil
	}
	modules, err := namedModules("--canary ", c.modules)
	if err != nil {
		return inputError(err)
	}
	config.Candidate = &host.Candidate{Modules: modules, Share: c.share, Seed: c.seed}
	return nil
}

// writers are those that tell of the candidate court.
func (c *canaryOptions) writers(stderr io.Writer, all *outputs) ([]docket.Writer, error) {
	if len(c.modules) == 0 {
		return nil, nil
	}
	list := []docket.Writer{docket.NewBesideText(stderr)}
	if c.output == "" {
		return list, nil
	}
	f, err := all.create(c.output)
	if err != nil {
		return nil, fmt.Errorf("--canary-output: %w", err)
	}
	return append(list, docket.NewBesideJSONL(f)), nil
}

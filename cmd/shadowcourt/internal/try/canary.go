package try

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/shadowcourt/shadowcourt/host/outfile"
	"github.com/shadowcourt/shadowcourt/host/render"
)

// defaultShare of the trials that a canary takes part in.
const defaultShare = 0.1

func (o *tryOptions) canaryFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringArrayVar(&o.Candidate.Modules, "canary", nil, "PERSONA=FILE: shadow-run a court with this module on a share of the cases; results are unaffected; may be repeated")
	f.Float64Var(&o.Candidate.Share, "share", defaultShare, "with --canary: the share of the trials, above 0 and at most 1")
	f.Uint64Var(&o.Candidate.Seed, "canary-seed", 1, "with --canary: which trials, together with the ids of the cases")
	f.StringVar(&o.canaryOutput, "canary-output", "", "with --canary: file for the results of both courts, of each trial that the candidate court ran too, as JSON lines")
}

// checkCanary validates the flags of the candidate court.
func (o *tryOptions) checkCanary() error {
	c := &o.Candidate
	switch {
	case len(c.Modules) == 0:
		return o.ChangedWithout("--canary PERSONA=FILE", "canary-output", "canary-seed", "share")
	case !(c.Share > 0 && c.Share <= 1): // NaN too
		return fmt.Errorf("--share %v: use a number above 0 and at most 1", c.Share)
	}
	return nil
}

// writers are those that tell of the candidate court.
func (o *tryOptions) canaryWriters(stderr io.Writer, files *outfile.Set) ([]render.Writer, error) {
	if len(o.Candidate.Modules) == 0 {
		return nil, nil
	}
	list := []render.Writer{render.NewBesideText(stderr)}
	if o.canaryOutput == "" {
		return list, nil
	}
	f, err := files.Create(o.canaryOutput)
	if err != nil {
		return nil, fmt.Errorf("--canary-output: %w", err)
	}
	return append(list, render.NewBesideJSONL(f)), nil
}

package open

import (
	"cmp"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/host"
)

// candidate are the flags of a candidate court.
type candidate struct {
	Flag    string   // that has the modules, for messages; default: --canary
	Modules []string // PERSONA=FILE
	Share   float64
	Seed    uint64
}

// add sets the candidate court of a configuration, if there is one.
func (c *candidate) add(config *host.Config) error {
	if len(c.Modules) == 0 {
		return nil
	}
	modules, err := NamedModules(cmp.Or(c.Flag, "--canary")+" ", c.Modules)
	if err != nil {
		return cli.InputError(err)
	}
	config.Candidate = &host.Candidate{Modules: modules, Share: c.Share, Seed: c.Seed}
	return nil
}

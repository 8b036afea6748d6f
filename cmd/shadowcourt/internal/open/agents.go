package open

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/experiment"
)

// AgentFlags are those of the command that serves agents: the folders in which they may name files, and what they may have run there.
func (o *Flags) AgentFlags(cmd *cobra.Command, folders *[]string) {
	o.command = cmd
	f := cmd.Flags()
	f.StringArrayVar(folders, "source", nil, "folder of a project: agents may name reports and projects in it, and the Light path looks into the first one; may be repeated")
	f.StringVar(&o.since, "since", "", "with --source: the git revision since which changes count, or "+autoSince+"; the base of alibis, whose default is "+autoSince)
	o.ExperimentFlags(cmd, experimentsOff)
}

// CheckAgents validates the flags of AgentFlags.
func (o *Flags) CheckAgents(ctx context.Context, folders []string) error {
	if slices.Contains(folders, "") {
		return errors.New("--source is empty: name a folder, or leave it out")
	}
	if len(folders) > 0 {
		o.source = folders[0]
	}
	if err := errors.Join(o.CheckSource(), o.CheckExperiments()); err != nil || o.since == "" || o.since == autoSince {
		return err
	}
	return o.checkGreen(ctx)
}

// Since is the revision since which changes count; empty where none is named.
func (o *Flags) Since() string { return o.since }

// Look opens the source as it is now, and lets the court run experiments there, for one use of a host.
func (o *Flags) Look(ctx context.Context, config *host.Config) (*Connected, error) {
	own, h := *o, &Connected{}
	if err := own.findSince(ctx); err != nil {
		return nil, err
	}
	if err := own.look(ctx, h, config); err != nil {
		h.Close()
		return nil, err
	}
	return h, nil
}

// AgentLaboratory is what agents may have run for an alibi; nil where that is nothing, or not on other trees than the one under test. cache
// is the folder for compiled modules, empty for none.
func (o *Flags) AgentLaboratory(cache string) (*experiment.Config, error) {
	if o.experiments.mode != string(experiment.All) {
		return nil, nil //nolint:nilnil // nothing is allowed
	}
	runners, err := Runners(runnerOption, o.experiments.runners)
	if err != nil {
		return nil, cli.InputError(fmt.Errorf("--experiments: %w", err))
	}
	config := o.laboratoryConfig(runners, cache)
	return &config, nil
}

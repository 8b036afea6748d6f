package open

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/pipelines"
)

// GrantFlag adds those of the commands that open a host.
func (o *Flags) GrantFlag(cmd *cobra.Command) {
	o.Trust.Flags(cmd)
	cmd.Flags().StringArrayVar(&o.grants, "grant", nil, "PERSONA=CAPABILITY: grant what the pipeline does not ("+cli.Join(pipeline.Capabilities())+"); may be repeated")
}

// PipelineFlag is --pipeline with what changes the court that the file describes.
func (o *Flags) PipelineFlag(cmd *cobra.Command) {
	f := cmd.Flags()
	o.Pipeline = ShippedPipeline
	cli.OptionVar(f, &o.Pipeline, "pipeline", "pipeline file, or the name of the shipped one",
		cli.BoolOption(&o.NoCourt, "no-court", "hold no court: Light's answers stand"),
		cli.ListOption(&o.grants, "grant", "PERSONA=CAPABILITY", "grant what the pipeline does not ("+cli.Join(pipeline.Capabilities())+"); may be repeated"),
		cli.TextOption(&o.Trust.Policy, "trust", "FILE", trustUsage),
		cli.BoolOption(&o.Trust.Locked, "locked", lockedUsage))
	for _, option := range []string{"grant", "trust", "locked"} {
		cli.Alias(f, option, "pipeline", option)
	}
}

// Complete adds the grants of the command line to those of the pipelines, in whose configuration they then are, and fetches the modules that
// the pipelines name by references.
func (o *Flags) Complete(ctx context.Context, config *host.Config) error {
	if err := o.grant(config); err != nil {
		return err
	}
	if config.Candidate != nil {
		if err := o.Trust.local("--with"); err != nil {
			return err
		}
	}
	defs := []*pipeline.Definition{config.Pipeline, config.LightPath}
	if config.Rules != nil {
		def, err := pipeline.LoadFS(pipelines.FS, pipelines.Rules)
		if err != nil {
			return err
		}
		defs = append(defs, def)
	}
	fetched, err := o.Trust.Fetch(ctx, o.Pipeline, config.Modules, nil, defs...)
	if err != nil {
		return err
	}
	config.Modules, config.Signed = fetched.Modules, fetched.Signed
	return nil
}

func (o *Flags) grant(config *host.Config) error {
	var faults []error
	for _, word := range o.grants {
		id, capability, ok := strings.Cut(word, "=")
		if !ok || !slices.Contains(pipeline.Capabilities(), pipeline.Capability(capability)) {
			faults = append(faults, fmt.Errorf("--grant %q: use PERSONA=CAPABILITY, with %s", word, cli.OrList(cli.Words(pipeline.Capabilities()))))
			continue
		}
		found, known := false, []string(nil)
		for _, def := range []*pipeline.Definition{config.Pipeline, config.LightPath} {
			if def == nil {
				continue
			}
			for i := range def.Personas {
				known = append(known, def.Personas[i].ID)
			}
			if p, ok := def.Persona(id); ok {
				found = true
				if c := pipeline.Capability(capability); !slices.Contains(p.Grants, c) {
					p.Grants = append(slices.Clip(p.Grants), c)
				}
			}
		}
		if !found {
			faults = append(faults, fmt.Errorf("--grant %q: there is no persona %q: use %s", word, id, cli.OrList(known)))
		}
	}
	return cli.InputError(errors.Join(faults...))
}

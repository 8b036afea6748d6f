package plugin

import (
	"context"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/open"
	"github.com/shadowcourt/shadowcourt/host/audit"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/internal/disk"
	"github.com/shadowcourt/shadowcourt/internal/pull"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
	"github.com/shadowcourt/shadowcourt/pipelines"
)

// lockOptions are the flags of `lock`.
type lockOptions struct {
	trust                   open.Trust
	rubric, modules, output string
}

// newLock is the command `lock`.
func newLock(s cli.Streams) *cobra.Command {
	o := &lockOptions{}
	cmd := &cobra.Command{
		Use:   "lock PIPELINE|RUBRIC",
		Short: "Pin the modules of a pipeline or rubric by their digests",
		Long: `Fetch what a pipeline or rubric names by references, each after the trust policy has accepted
it, and write shadowcourt.lock beside it, with the digests of all its modules, and of those of the
Light path and of rules. Commands that open the pipeline then take what is pinned of references,
whatever their tags are moved to, and with --locked they reject modules that are not pinned or have
other digests. Run it again to take what the tags stand for now. What the file pins of other
pipelines stays.`,
		Example: "  shadowcourt lock court.yaml",
		Args:    cli.ExactArgs(1, "one pipeline or rubric"),
		RunE:    func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), s, args[0]) },
	}
	f := cmd.Flags()
	o.trust.PolicyFlag(f)
	f.StringVar(&o.rubric, "rubric", "", "also pin the modules of audits by a rubric")
	f.StringVar(&o.modules, "modules", "", "folder with NAME.wasm files (default: the embedded modules)")
	f.StringVar(&o.output, "output", "", "where to write (default: shadowcourt.lock beside the pipeline)")
	return cmd
}

func (o *lockOptions) run(ctx context.Context, s cli.Streams, file string) error {
	defs, rubric, err := o.definitions(file)
	if err != nil {
		return cli.InputError(err)
	}
	var modules fs.FS
	if o.modules != "" {
		if modules, err = open.Modules(o.modules); err != nil {
			return err
		}
	}
	o.trust.Unpinned = true
	fetched, err := o.trust.Fetch(ctx, file, modules, rubric, defs...)
	if err != nil {
		return err
	}
	output := o.output
	if output == "" {
		output = open.LockFile(file)
	}
	pinned, err := pull.FindLock(output)
	if err != nil {
		return cli.InputError(err)
	}
	if pinned == nil {
		pinned = &pull.Lock{}
	}
	if err := fetched.Lock(pinned, rubric, defs...); err != nil {
		return err
	}
	text, err := pinned.Bytes()
	if err != nil {
		return err
	}
	if err := disk.Replace(output, text); err != nil {
		return cli.FileError(err)
	}
	for i := range pinned.Modules {
		m := &pinned.Modules[i]
		if _, err := fmt.Fprintf(s.Out, "%s  %s\n", m.Digest, sanitize.Line(m.Name)); err != nil {
			return err
		}
	}
	return nil
}

// definitions are those whose modules are pinned: the pipeline with what runs beside it, or the audit of a rubric.
func (o *lockOptions) definitions(file string) (defs []*pipeline.Definition, rubric *audit.Rubric, err error) {
	names := []string{file, open.ShippedLight}
	if data, err := open.ReadBounded(file, audit.MaxFileBytes+1); err == nil && audit.IsRubric(data) && o.rubric == "" {
		names, o.rubric = nil, file
	}
	if o.rubric != "" {
		names = append(names, open.ShippedAudit)
		if rubric, err = open.Rubric(o.rubric); err != nil {
			return nil, nil, err
		}
	}
	for _, name := range names {
		def, err := open.Pipeline(name)
		if err != nil {
			return nil, nil, err
		}
		defs = append(defs, def)
	}
	rules, err := pipeline.LoadFS(pipelines.FS, pipelines.Rules)
	return append(defs, rules), rubric, err
}

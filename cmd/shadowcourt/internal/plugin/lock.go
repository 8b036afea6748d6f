package plugin

import (
	"context"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/open"
	"github.com/shadowcourt/shadowcourt/host/audit"
	"github.com/shadowcourt/shadowcourt/internal/disk"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
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
		Use:   "lock PIPELINE",
		Short: "Pin the modules of a pipeline by their digests",
		Long: `Fetch what a pipeline names by references, each after the trust policy has accepted it, and
write shadowcourt.lock beside the pipeline, with the digests of all its modules. Commands that
open the pipeline then take what is pinned of references, whatever their tags are moved to, and
with --locked they reject modules that are not pinned or have other digests. Run it again to take
what the tags stand for now.`,
		Example: "  shadowcourt lock court.yaml",
		Args:    cli.ExactArgs(1, "one pipeline"),
		RunE:    func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), s, args[0]) },
	}
	f := cmd.Flags()
	o.trust.PolicyFlag(f)
	f.StringVar(&o.rubric, "rubric", "", "also pin the judges of a rubric")
	f.StringVar(&o.modules, "modules", "", "folder with NAME.wasm files (default: the embedded modules)")
	f.StringVar(&o.output, "output", "", "where to write (default: shadowcourt.lock beside the pipeline)")
	return cmd
}

func (o *lockOptions) run(ctx context.Context, s cli.Streams, file string) error {
	def, err := open.Pipeline(file)
	if err != nil {
		return err
	}
	var rubric *audit.Rubric
	if o.rubric != "" {
		if rubric, err = open.Rubric(o.rubric); err != nil {
			return cli.InputError(err)
		}
	}
	var modules fs.FS
	if o.modules != "" {
		if modules, err = open.Modules(o.modules); err != nil {
			return err
		}
	}
	o.trust.Unpinned = true
	fetched, err := o.trust.Fetch(ctx, file, modules, rubric, def)
	if err != nil {
		return err
	}
	lock, err := fetched.Lock(rubric, def)
	if err != nil {
		return err
	}
	text, err := lock.Bytes()
	if err != nil {
		return err
	}
	output := o.output
	if output == "" {
		output = open.LockFile(file)
	}
	if err := disk.Replace(output, text); err != nil {
		return cli.FileError(err)
	}
	for i := range lock.Modules {
		m := &lock.Modules[i]
		if _, err := fmt.Fprintf(s.Out, "%s  %s\n", m.Digest, sanitize.Line(m.Name)); err != nil {
			return err
		}
	}
	return nil
}

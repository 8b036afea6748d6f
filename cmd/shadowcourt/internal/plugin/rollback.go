package plugin

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/open"
	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/moduledir"
	"github.com/shadowcourt/shadowcourt/internal/input"
)

func newPluginRollback(s cli.Streams) *cobra.Command {
	o := &swapOptions{}
	var to string
	var list bool
	cmd := &cobra.Command{
		Use:   "rollback NAME --modules DIR",
		Short: "Put the module back that was there before",
		Long: `Put the module back that ` + "`shadowcourt plugin swap`" + ` replaced, checked as a new one would
be. A second rollback goes back one step further, and never forward again to what was
rolled back; that is kept, too, and --to gets it by its digest. All is in DIR/.history,
as far back as the --keep of ` + "`shadowcourt plugin swap`" + ` reaches; a rollback deletes nothing.

Exit codes: 0 done; 1 something failed while running; 2 the command line is wrong, there is
nothing to go back to, or it was rejected: then nothing has changed.`,
		Example: "  shadowcourt plugin rollback specter --modules bin/modules --list",
		Args:    cli.ExactArgs(1, "one module or persona"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if list {
				return o.list(s, args[0])
			}
			return o.change(cmd.Context(), s, func(d *moduledir.Dir, config *host.Config) (map[string][]byte, func() ([]moduledir.Change, error), error) {
				name, err := moduleNamed(args[0], config.Pipeline, config.LightPath)
				if err != nil {
					return nil, nil, err
				}
				wasm, err := d.Before(name, to)
				if err != nil {
					return nil, nil, err
				}
				return map[string][]byte{name: wasm}, func() ([]moduledir.Change, error) {
					change, err := d.Rollback(name, to)
					return []moduledir.Change{change}, err
				}, nil
			})
		},
	}
	o.flags(cmd)
	cmd.Flags().StringVar(&to, "to", "", "put back the module with this digest, or the one whose digest begins so")
	cmd.Flags().BoolVar(&list, "list", false, "only show what is in place, and what a rollback can go to")
	return cmd
}

// list shows the history of a module, the newest first.
func (o *swapOptions) list(s cli.Streams, name string) error {
	if err := o.check(); err != nil {
		return err
	}
	config, err := o.Config(&input.Dockets{})
	if err != nil {
		return err
	}
	if o.Light == open.LightRCA {
		if config.LightPath, err = open.Pipeline(open.ShippedLight); err != nil {
			return err
		}
	}
	d, err := moduledir.Open(o.Modules)
	if err != nil {
		return cli.InputError(fmt.Errorf("--modules: %w", err))
	}
	module, err := moduleNamed(name, config.Pipeline, config.LightPath)
	if err != nil {
		return cli.InputError(err)
	}
	h, err := d.History(module)
	if err != nil {
		return err
	}
	if h.Now == "" && len(h.Kept) == 0 {
		return cli.InputError(errors.New(module + ": there is no such file in " + o.Modules))
	}
	fmt.Fprintf(s.Out, "%s  in place\n", h.Now)
	for _, digest := range slices.Backward(h.Order) {
		if digest != h.Now {
			fmt.Fprintf(s.Out, "%s  before\n", digest)
		}
	}
	for _, digest := range h.Kept {
		if digest != h.Now && !slices.Contains(h.Order, digest) {
			fmt.Fprintf(s.Out, "%s  rolled back; --to gets it\n", digest)
		}
	}
	return nil
}

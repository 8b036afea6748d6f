package plugin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/open"
	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/moduledir"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/internal/run"
)

type swapOptions struct {
	open.Flags
	keep int // modules of each history, 0: all
}

func newPluginSwap(s cli.Streams) *cobra.Command {
	o := &swapOptions{}
	cmd := &cobra.Command{
		Use:   "swap NAME=FILE... --modules DIR",
		Short: "Check modules, and put them in the place of others",
		Long: `Check new modules with all the others of a folder, as ` + "`try`" + ` would: contract, manifest,
what the pipeline needs, capabilities, the sides of the court; the new ones are compiled and
called once. Then DIR/NAME.wasm is replaced, each file as a whole. A run with
` + "`try --watch --modules DIR`" + ` continues with them. What was there before is kept, see
` + "`shadowcourt plugin rollback`" + `: of each name the --keep modules that were in place last.

NAME is the module's, or the name of a persona if the module plays no other.

Exit codes: 0 done; 1 something failed while running; 2 the command line is wrong, or a
module was rejected: then every fault is named, and nothing has changed.`,
		Example: "  shadowcourt plugin swap specter=bin/modules/specter.wasm --modules bin/modules",
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.swap(cmd.Context(), s, args)
		},
	}
	o.flags(cmd)
	cmd.Flags().IntVar(&o.keep, "keep", moduledir.DefaultKeep, "earlier modules that are kept of each name that is swapped; 0 keeps all")
	return cmd
}

func (o *swapOptions) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.Modules, "modules", "", "folder with all NAME.wasm files that the pipeline names")
	f.StringVar(&o.Pipeline, "pipeline", open.ShippedPipeline, "pipeline file, or the name of the shipped one")
	f.StringVar(&o.Light, "light", open.LightDocket, "with "+open.LightRCA+" also validate the modules of the Light path")
	open.CacheFlag(f, &o.Cache, "folder for compiled modules, or none")
	o.GrantFlag(cmd)
}

func (o *swapOptions) swap(ctx context.Context, s cli.Streams, args []string) error {
	if len(args) == 0 {
		return cli.InputError(errors.New("swap takes one NAME=FILE or more; see `shadowcourt plugin swap --help`"))
	}
	named, err := open.NamedModules("", args)
	if err != nil {
		return cli.InputError(err)
	}
	return o.change(ctx, s, func(d *moduledir.Dir, config *host.Config) (map[string][]byte, func() ([]moduledir.Change, error), error) {
		modules := make(map[string][]byte, len(named))
		for name, wasm := range named {
			module, err := moduleNamed(name, config.Pipeline, config.LightPath)
			if err == nil && modules[module] != nil {
				err = fmt.Errorf("two files for the module %s", module)
			}
			if err != nil {
				return nil, nil, err
			}
			modules[module] = wasm
		}
		return modules, func() ([]moduledir.Change, error) { return d.Replace(modules) }, nil
	})
}

// open checks the flags, and gives the court that they name and the folder of its modules.
func (o *swapOptions) open() (config *host.Config, d *moduledir.Dir, err error) {
	err = cmp.Or(
		cli.Fault(o.Modules == "", "--modules DIR: say in which folder"),
		cli.OneOf("--light", o.Light, open.LightDocket, open.LightRCA),
		cli.Fault(o.keep < 0, "--keep %d: use 0 or more", o.keep),
	)
	if err != nil {
		return nil, nil, cli.InputError(err)
	}
	if config, err = o.Config(&run.Dockets{}); err != nil {
		return nil, nil, err
	}
	if o.Light == open.LightRCA {
		if config.LightPath, err = open.Pipeline(open.ShippedLight); err != nil {
			return nil, nil, err
		}
	}
	if d, err = moduledir.Open(o.Modules); err != nil {
		return nil, nil, cli.InputError(fmt.Errorf("--modules: %w", err))
	}
	return config, d, nil
}

// change judges modules with the folder that they would stand in, and carries the change out.
func (o *swapOptions) change(ctx context.Context, s cli.Streams, plan func(*moduledir.Dir, *host.Config) (map[string][]byte, func() ([]moduledir.Change, error), error)) error {
	config, d, err := o.open()
	if err != nil {
		return err
	}
	unlock, err := d.Lock()
	if err != nil {
		return err
	}
	defer unlock()
	modules, carryOut, err := plan(d, config)
	if err != nil {
		return cli.InputError(err)
	}
	config.Modules, config.Now = d.With(modules), time.Now
	if err := o.Complete(ctx, config); err != nil {
		return err
	}
	err = open.Cached(s.Err, &config.CacheDir, func() error {
		return host.CheckSwap(ctx, *config, slices.Collect(maps.Keys(modules)))
	})
	if err != nil {
		err = o.Error(err)
		if exit, ok := errors.AsType[*cli.ExitError](err); ok {
			exit.Err = fmt.Errorf("%w\nnothing was changed", exit.Err)
		}
		return err
	}
	changes, err := carryOut()
	if err != nil {
		return err
	}
	for _, c := range changes {
		if _, err := fmt.Fprintln(s.Out, cli.ChangeLine(c.Name, c.Before, c.After)); err != nil {
			return err
		}
	}
	for _, c := range changes {
		if o.keep == 0 {
			break
		}
		removed, err := d.Prune(c.Name, o.keep)
		if err != nil {
			return fmt.Errorf("%s is in place; its history could not be shortened: %w", c.Name, err)
		}
		if len(removed) > 0 {
			fmt.Fprintf(s.Err, "%s: %s, the oldest, was removed from the history (--keep %d)\n", c.Name, cli.Count(len(removed), "module", "modules"), o.keep)
		}
	}
	return nil
}

// moduleNamed finds the module of a name, be it the module's or a persona's.
func moduleNamed(name string, defs ...*pipeline.Definition) (string, error) {
	var modules, personas, plays []string
	played := ""
	defs = slices.DeleteFunc(slices.Clone(defs), func(def *pipeline.Definition) bool { return def == nil })
	for _, def := range defs {
		modules = append(modules, def.Modules()...)
		if p, ok := def.Persona(name); ok {
			played = p.Module
		}
	}
	for _, def := range defs {
		for i := range def.Personas {
			personas = append(personas, def.Personas[i].ID)
			if def.Personas[i].Module == played {
				plays = append(plays, def.Personas[i].ID)
			}
		}
	}
	isModule := slices.Contains(modules, name)
	switch {
	case isModule && (played == "" || played == name):
		return name, nil
	case isModule:
		return "", fmt.Errorf("%s is a module, and a persona that the module %s plays: name the module", name, played)
	case played == "":
		known := slices.Compact(slices.Sorted(slices.Values(slices.Concat(modules, personas))))
		return "", fmt.Errorf("there is no module and no persona %q: use %s; those of the Light path with --light %s", name, cli.OrList(known), open.LightRCA)
	case len(plays) > 1:
		return "", fmt.Errorf("the module %s plays %s: name the module", played, strings.Join(plays, ", "))
	}
	return played, nil
}

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

func (o *swapOptions) list(s cli.Streams, name string) error {
	config, d, err := o.open()
	if err != nil {
		return err
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

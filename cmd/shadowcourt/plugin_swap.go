package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/moduledir"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
)

// swapOptions are the flags of `plugin swap` and `plugin rollback`: those of
// `try` by which a set of modules is judged.
type swapOptions struct {
	tryOptions
	keep int // modules of each history, 0: all
}

func newPluginSwap(s stdio) *cobra.Command {
	o := &swapOptions{}
	cmd := &cobra.Command{
		Use:   "swap NAME=FILE... --modules DIR",
		Short: "Check modules, and put them in the place of others",
		Long: `Check new modules with all the others of a folder, as ` + "`try`" + ` would: contract, manifest,
what the pipeline needs, capabilities, the sides of the court; the new ones are compiled and
called once. Then DIR/NAME.wasm is replaced, each file as a whole. A run with
` + "`try --watch --modules DIR`" + ` goes on with them. What was there before is kept, see
` + "`shadowcourt plugin rollback`" + `: of each name the --keep modules that were in place last.

NAME is the module's, or that of a persona if the module plays no other.

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
	f.StringVar(&o.modules, "modules", "", "folder with all NAME.wasm files that the pipeline names")
	f.StringVar(&o.pipeline, "pipeline", shippedPipeline, "pipeline file, or the name of the shipped one")
	f.StringVar(&o.light, "light", lightDocket, "with "+lightRCA+" the modules of the Light path are judged, too")
	cacheFlag(f, &o.cache, "folder for compiled modules, or none")
	o.grantFlag(cmd)
}

// check reports the faults of the flags.
func (o *swapOptions) check() error {
	if o.modules == "" {
		return inputError(errors.New("--modules DIR: say in which folder"))
	}
	if o.light != lightDocket && o.light != lightRCA {
		return inputError(fmt.Errorf("--light %q: use %s or %s", o.light, lightDocket, lightRCA))
	}
	if o.keep < 0 {
		return inputError(fmt.Errorf("--keep %d: use 0 or more", o.keep))
	}
	return nil
}

// swap carries out `plugin swap`.
func (o *swapOptions) swap(ctx context.Context, s stdio, args []string) error {
	if len(args) == 0 {
		return inputError(errors.New("swap takes one NAME=FILE or more; see `shadowcourt plugin swap --help`"))
	}
	named, err := namedModules("", args)
	if err != nil {
		return inputError(err)
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

// change judges modules with the folder that they would stand in, and carries
// the change out.
func (o *swapOptions) change(ctx context.Context, s stdio, plan func(*moduledir.Dir, *host.Config) (map[string][]byte, func() ([]moduledir.Change, error), error)) error {
	if err := o.check(); err != nil {
		return err
	}
	config, err := o.config(&inputs{})
	if err != nil {
		return err
	}
	if o.light == lightRCA {
		if config.LightPath, err = loadPipeline(shippedLight); err != nil {
			return err
		}
	}
	d, err := moduledir.Open(o.modules)
	if err != nil {
		return inputError(fmt.Errorf("--modules: %w", err))
	}
	unlock, err := d.Lock()
	if err != nil {
		return err
	}
	defer unlock()
	modules, carryOut, err := plan(d, config)
	if err != nil {
		return inputError(err)
	}
	config.Modules, config.Now = d.With(modules), time.Now
	if err := o.grant(config); err != nil {
		return err
	}
	err = o.cached(s, config, func() error {
		return host.CheckSwap(ctx, *config, slices.Collect(maps.Keys(modules)))
	})
	if err != nil {
		err = o.openError(err)
		if exit, ok := errors.AsType[*exitError](err); ok {
			exit.err = fmt.Errorf("%w\nnothing was changed", exit.err)
		}
		return err
	}
	changes, err := carryOut()
	if err != nil {
		return err
	}
	for _, c := range changes {
		if _, err := fmt.Fprintln(s.out, changeLine(c.Name, c.Before, c.After)); err != nil {
			return err
		}
	}
	return o.prune(d, s.err, changes)
}

// prune removes from the histories of what was changed all but the last --keep.
func (o *swapOptions) prune(d *moduledir.Dir, stderr io.Writer, changes []moduledir.Change) error {
	if o.keep == 0 {
		return nil
	}
	for _, c := range changes {
		removed, err := d.Prune(c.Name, o.keep)
		if err != nil {
			return fmt.Errorf("%s is in place; its history could not be shortened: %w", c.Name, err)
		}
		if len(removed) > 0 {
			fmt.Fprintf(stderr, "%s: %s, in place longest ago, left the history (--keep %d)\n", c.Name, count(len(removed), "module", "modules"), o.keep)
		}
	}
	return nil
}

// changeLine says what a swap did to a module.
func changeLine(name, before, after string) string {
	switch before {
	case after:
		return fmt.Sprintf("%s: %s, as before", name, after)
	case "":
		before = "none"
	}
	return fmt.Sprintf("%s: %s -> %s", name, before, after)
}

// namedModules reads the files of NAME=FILE words. flag is for messages.
func namedModules(flag string, words []string) (map[string][]byte, error) {
	modules := make(map[string][]byte, len(words))
	var faults []error
	for _, word := range words {
		name, file, ok := strings.Cut(word, "=")
		if !ok || name == "" || file == "" {
			faults = append(faults, fmt.Errorf("%s%q: use NAME=FILE", flag, word))
			continue
		}
		if modules[name] != nil {
			faults = append(faults, fmt.Errorf("%s%s: two files for one name", flag, name))
			continue
		}
		wasm, err := readFile(file)
		if err != nil {
			faults = append(faults, fmt.Errorf("%s%w", flag, err))
			continue
		}
		modules[name] = wasm
	}
	return modules, errors.Join(faults...)
}

// moduleNamed finds the module of a name, be it the module's or a persona's.
func moduleNamed(name string, defs ...*pipeline.Definition) (string, error) {
	var modules, personas, plays []string
	played := ""
	for _, def := range defs {
		if def == nil {
			continue
		}
		modules = append(modules, def.Modules()...)
		if p, ok := def.Persona(name); ok {
			played = p.Module
		}
	}
	for _, def := range defs {
		for i := range personasOf(def) {
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
		return "", fmt.Errorf("there is no module and no persona %q: use %s; those of the Light path with --light %s", name, orList(known), lightRCA)
	case len(plays) > 1:
		return "", fmt.Errorf("the module %s plays %s: name the module", played, strings.Join(plays, ", "))
	}
	return played, nil
}

func personasOf(def *pipeline.Definition) []pipeline.Persona {
	if def == nil {
		return nil
	}
	return def.Personas
}

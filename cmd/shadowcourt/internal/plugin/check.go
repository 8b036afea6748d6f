package plugin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/shadowcourt/shadowcourt/abi/abitest"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/open"
	"github.com/shadowcourt/shadowcourt/host/conformance"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
)

// checkOptions are the flags of `plugin check`.
type checkOptions struct {
	roles         []string
	cases         int
	seed          uint64
	format, cache string
	save          string
}

func newPluginCheck(s cli.Streams) *cobra.Command {
	o := &checkOptions{}
	cmd := &cobra.Command{
		Use:   "check FILE|NAME...",
		Short: "Validate modules against the contract",
		Long: `Validate modules, in whatever language they are written, against abi/SPEC.md: that
they load, that their manifest is true, that they answer plain, random, huge, changed and
malformed requests of every role that they promise as the contract says, and the same
request with the same bytes and the same fuel. Each failure names the clause that it breaks.

Embedded modules go by their name. A module that has no manifest yet is tried in the roles
that --role names: a family (indict, ..., report), contest, edge:RULE, criterion:ID.
--save-failures DIR saves the failing requests; ` + "`plugin bench --request`" + ` sends one again.

Exit code 0: all pass. 1: a module breaks the contract. 2: a file could not be read, or the
command line is wrong.`,
		Example: "  shadowcourt plugin check clerk --cases 50",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cli.InputError(fmt.Errorf("%s takes files or the names of embedded modules; see `%s --help`", cmd.Name(), cmd.CommandPath()))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd.Context(), s, args) },
	}
	f := cmd.Flags()
	f.StringSliceVar(&o.roles, "role", nil, "what to ask of a module without a manifest: FAMILY, contest, edge:RULE, criterion:ID")
	f.IntVar(&o.cases, "cases", abitest.DefaultCases, "random cases, each put to every role")
	f.Uint64Var(&o.seed, "seed", 0, "of the random cases; the same one makes the same cases")
	f.StringVar(&o.format, "format", "table", "table or json")
	f.StringVar(&o.save, "save-failures", "", "folder for the requests that were failed at")
	open.CacheFlag(f, &o.cache, "folder for compiled modules, or none")
	return cmd
}

// check reports all faults of the flags at once.
func (o *checkOptions) check() (conformance.Options, error) {
	options := conformance.Options{Seed: o.seed, Cases: o.cases, Now: time.Now}
	var faults []error
	if o.format != "table" && o.format != "json" {
		faults = append(faults, fmt.Errorf("--format %q: use table or json", o.format))
	}
	if o.cases < 1 {
		faults = append(faults, fmt.Errorf("--cases %d: use one or more", o.cases))
	}
	if len(o.roles) > 0 {
		roles, err := abitest.ParseRoles(o.roles)
		if err != nil {
			faults = append(faults, fmt.Errorf("--role: %w", err))
		}
		options.Roles = &roles
	}
	if o.cache != "none" {
		options.CacheDir = o.cache
	}
	return options, cli.InputError(errors.Join(faults...))
}

// checked is a module and what was found.
type checked struct {
	Module string `json:"module"`
	Passed bool   `json:"passed"`
	*abitest.Report
	// Saved are the files of the failures.
	Saved []string `json:"saved,omitempty"`
}

func (o *checkOptions) run(ctx context.Context, s cli.Streams, names []string) error {
	options, err := o.check()
	if err != nil {
		return err
	}
	var reports []checked
	var unread []error
	broken := 0
	for _, name := range names {
		c, err := o.one(ctx, s, name, options)
		if exit := (*cli.ExitError)(nil); errors.As(err, &exit) && exit.Code == cli.ExitInput {
			unread = append(unread, exit.Err)
			continue
		}
		if err != nil {
			return err
		}
		if !c.Passed {
			broken++
		}
		if o.format == "table" {
			if err := printChecked(s, &c, len(reports) > 0); err != nil {
				return err
			}
		}
		reports = append(reports, c)
	}
	if o.format == "json" {
		enc := json.NewEncoder(s.Out)
		enc.SetIndent("", "  ")
		enc.SetEscapeHTML(false)
		if err := enc.Encode(append([]checked{}, reports...)); err != nil {
			return err
		}
	}
	var failure error
	if broken > 0 {
		failure = fmt.Errorf("%s the contract", cli.Count(broken, "module breaks", "modules break"))
	}
	if len(unread) > 0 {
		return cli.InputError(errors.Join(append(unread, failure)...))
	}
	return failure
}

// one validates one module.
func (o *checkOptions) one(ctx context.Context, s cli.Streams, name string, options conformance.Options) (checked, error) {
	wasm, err := open.Module(name)
	if err != nil {
		return checked{}, err
	}
	c, err := test(ctx, s, name, wasm, options)
	if err == nil && o.save != "" {
		c.Saved, err = saveFailures(o.save, &c)
	}
	return c, err
}

// test runs the conformance kit on a module. name is for messages.
func test(ctx context.Context, s cli.Streams, name string, wasm []byte, options conformance.Options) (checked, error) {
	p := cli.NewProgress(s.Err)
	shown := ""
	options.Progress = func(what string, done, of int) {
		// A line for each percent: thousands of calls a second would only flicker.
		if text := fmt.Sprintf("%s: %s, %d%%", sanitize.Line(name), what, 100*done/max(of, 1)); text != shown {
			p.Say(text)
			shown = text
		}
	}
	report, err := conformance.Run(ctx, wasm, options)
	p.Clear()
	if err != nil {
		if ctx.Err() != nil {
			return checked{}, ctx.Err()
		}
		return checked{}, fmt.Errorf("%s: %w", name, err)
	}
	return checked{Module: name, Passed: report.Passed(), Report: report}, nil
}

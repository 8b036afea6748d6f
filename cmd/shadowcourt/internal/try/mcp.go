package try

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/open"
	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/casebook"
	"github.com/shadowcourt/shadowcourt/internal/mcp"
)

type mcpOptions struct {
	open.Flags
	casebook, version string
	sources           []string
}

// NewMCP is the command `mcp` of the program's version.
func NewMCP(s cli.Streams, version string) *cobra.Command {
	o := &mcpOptions{version: version}
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Serve an agent over the Model Context Protocol",
		Long: `Serve an agent over the Model Context Protocol, on standard input and output. The agent proves
whether a change made tests fail, tries cases, reads trials, corrects verdicts in the casebook,
and plays personas of the court in place of a language model. docs/models.md lists the tools.

Agents read no file outside of the folders of --source. They have no tests run unless you allow
it: "--experiments all" is needed for alibis. The tests run in scratch copies, isolated from the
network and from your files.

Exit codes: 0 the client is gone; 1 something failed while running; 2 the command line is
wrong.`,
		Example: `  shadowcourt mcp < /dev/null
  shadowcourt mcp --source . --experiments all < /dev/null
  shadowcourt mcp --casebook cases.db < /dev/null
  shadowcourt mcp --pipeline llm-court --profile go-test < /dev/null`,
		Args: cli.ExactArgs(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.CheckAgents(cmd.Context(), o.sources); err != nil {
				return cli.InputError(err)
			}
			return o.run(cmd.Context(), s)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.Pipeline, "pipeline", open.ShippedModels, "pipeline file, or the name of a shipped one; agents play the personas that name models")
	f.StringVar(&o.Profile, "profile", "", "profile file, the name of a shipped one, or none (default: go-test for reports of tests; else none)")
	f.StringVar(&o.Modules, "modules", "", "folder with all NAME.wasm files that the pipeline names (default: the embedded modules)")
	open.CacheFlag(f, &o.Cache, "folder for compiled modules, or none")
	o.AgentFlags(cmd, &o.sources)
	f.StringVar(&o.casebook, "casebook", "", "file with earlier cases, to look into and to keep corrections in")
	cli.RemovedFlags(f, "have the agent start `shadowcourt mcp`, and talk to it on standard input and output", "listen")
	return cmd
}

func (o *mcpOptions) run(ctx context.Context, s cli.Streams) error {
	server, closeAll, err := o.open(ctx, s)
	if err != nil {
		return err
	}
	defer closeAll()
	fmt.Fprintln(s.Err, "serving agents on standard input and output")
	return server.Serve(ctx, io.NopCloser(s.In), nopCloser{s.Out})
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

// open opens the host for reports, and the server on it. It has the modules of both kinds of input, so that all their faults are known at the start.
func (o *mcpOptions) open(ctx context.Context, s cli.Streams) (_ *mcp.Server, _ func(), err error) {
	var closers []func()
	closeAll := func() {
		for _, c := range slices.Backward(closers) {
			c()
		}
	}
	defer func() {
		if err != nil {
			closeAll()
		}
	}()
	config := mcp.Config{Version: o.version}
	if config.Roots, err = mcp.OpenRoots(o.sources); err != nil {
		return nil, nil, cli.InputError(fmt.Errorf("--source: %w", err))
	}
	closers = append(closers, config.Roots.Close)
	if len(o.sources) > 0 {
		config.Fresh = func(ctx context.Context, reports bool) (*host.Host, func(), error) { return o.fresh(ctx, s, reports) }
	}
	if o.casebook != "" {
		book, err := casebook.Open(ctx, o.casebook, casebook.Options{Now: time.Now})
		if err != nil {
			return nil, nil, cli.FileError(fmt.Errorf("--casebook: %w", err))
		}
		closers = append(closers, func() { _ = book.Close() })
		if config.Memory, err = mcp.NewMemory(ctx, book); err != nil {
			return nil, nil, cli.FileError(fmt.Errorf("--casebook: %w", err))
		}
		closers = append(closers, config.Memory.Close)
	}
	if config.Reports, err = o.host(ctx, s, true); err != nil {
		return nil, nil, err
	}
	closers = append(closers, func() { _ = config.Reports.Close(context.WithoutCancel(ctx)) })
	config.Cases = func(ctx context.Context) (*host.Host, error) { return o.host(ctx, s, false) }
	if config.Personas = open.ModelNames(config.Reports.Pipeline()); len(config.Personas) == 0 {
		return nil, nil, cli.InputError(errors.New("--pipeline: no persona of it asks a model, so that an agent can play none"))
	}
	if config.Alibi, err = o.alibi(s); err != nil {
		return nil, nil, err
	}
	server := mcp.New(config)
	closers = append(closers, server.Close)
	return server, closeAll, nil
}

// host opens the host for a kind of input.
func (o *mcpOptions) host(ctx context.Context, s cli.Streams, reports bool) (*host.Host, error) {
	c, err := o.config(reports)
	if err != nil {
		return nil, err
	}
	return o.hostOf(ctx, s, c)
}

func (o *mcpOptions) config(reports bool) (*host.Config, error) {
	c, err := o.ConfigOf(reports)
	if err == nil {
		c.Models = mcp.Seat{}
	}
	return c, err
}

func (o *mcpOptions) hostOf(ctx context.Context, s cli.Streams, c *host.Config) (*host.Host, error) {
	h, err := o.Host(ctx, s, c)
	if err != nil {
		return nil, o.Error(err)
	}
	return h, nil
}

// fresh opens the host for the cases of one call, which looks into the sources as they are now.
func (o *mcpOptions) fresh(ctx context.Context, s cli.Streams, reports bool) (*host.Host, func(), error) {
	c, err := o.config(reports)
	if err != nil {
		return nil, nil, err
	}
	looked, err := o.Look(ctx, c)
	if err != nil {
		return nil, nil, err
	}
	h, err := o.hostOf(ctx, s, c)
	if err != nil {
		looked.Close()
		return nil, nil, err
	}
	return h, func() {
		_ = h.Close(context.WithoutCancel(ctx))
		looked.Close()
	}, nil
}

// alibi is what agents may have run to prove whether a change made tests fail; nil for nothing.
func (o *mcpOptions) alibi(s cli.Streams) (*mcp.Alibi, error) {
	c, err := o.ConfigOf(false)
	if err != nil {
		return nil, err
	}
	c.Pipeline, c.Profile = nil, nil // those of alibis
	lab, err := o.AgentLaboratory(c.CacheDir)
	if lab == nil || err != nil {
		return nil, err
	}
	return &mcp.Alibi{Lab: *lab, Host: *c, Open: o.AlibiCourt(s), Base: o.Since, Variable: os.Getenv, Now: time.Now}, nil
}

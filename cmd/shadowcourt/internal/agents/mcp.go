// Package agents is the command that serves agents.
package agents

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/open"
	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/casebook"
	"github.com/shadowcourt/shadowcourt/host/knowledge"
	"github.com/shadowcourt/shadowcourt/host/mcp"
)

// options are the flags of `mcp`.
type options struct {
	open.Flags
	listen, casebook string
	version          string
}

// New is the command `mcp` of the program's version.
func New(s cli.Streams, version string) *cobra.Command {
	o := &options{version: version}
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Serve agents over the Model Context Protocol",
		Long: `Serve agents over the Model Context Protocol: on standard input and output, or with --listen
over streamable HTTP. An agent tries cases, reads trials, corrects verdicts in the casebook,
and plays personas of the court in place of a language model.

Exit codes: 0 the client is gone; 1 something failed while running; 2 the command line is
wrong.`,
		Example: `  shadowcourt mcp < /dev/null`,
		Args:    cli.ExactArgs(0, "no arguments"),
		RunE:    func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context(), s) },
	}
	f := cmd.Flags()
	f.StringVar(&o.Pipeline, "pipeline", open.ShippedModels, "pipeline file, or the name of a shipped one; agents play the personas that name models")
	f.StringVar(&o.Profile, "profile", "", "profile file, the name of a shipped one, or none (default: go-test for reports of tests; else none)")
	f.StringVar(&o.Modules, "modules", "", "folder with all NAME.wasm files that the pipeline names (default: the embedded modules)")
	open.CacheFlag(f, &o.Cache, "folder for compiled modules, or none")
	f.StringVar(&o.casebook, "casebook", "", "file with earlier cases, to look into and to keep corrections in")
	f.StringVar(&o.listen, "listen", "", "serve streamable HTTP at this address, such as 127.0.0.1:8711, in place of standard input and output")
	return cmd
}

func (o *options) run(ctx context.Context, s cli.Streams) error {
	server, closeAll, err := o.open(ctx, s)
	if err != nil {
		return err
	}
	defer closeAll()
	if o.listen == "" {
		fmt.Fprintln(s.Err, "serving agents on standard input and output")
		return server.Serve(ctx, io.NopCloser(s.In), writer{s.Out})
	}
	listener, err := listen(ctx, o.listen)
	if err != nil {
		return err
	}
	fmt.Fprintf(s.Err, "serving agents at http://%s\n", listener.Addr())
	return server.Listen(ctx, listener)
}

// listen listens on loopback only: whoever connects may try cases and correct verdicts.
func listen(ctx context.Context, address string) (net.Listener, error) {
	hostname, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, cli.InputError(fmt.Errorf("--listen %q: %w", address, err))
	}
	if ip := net.ParseIP(hostname); hostname != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return nil, cli.InputError(fmt.Errorf("--listen %q: use an address of loopback, such as 127.0.0.1:8711: clients are not asked who they are", address))
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, cli.InputError(fmt.Errorf("--listen %q: %w", address, err))
	}
	return listener, nil
}

type writer struct{ io.Writer }

func (writer) Close() error { return nil }

// open opens a host for each kind of input, and the server on both.
func (o *options) open(ctx context.Context, s cli.Streams) (_ *mcp.Server, closeAll func(), err error) {
	var closers []func()
	closeAll = func() {
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
	var book host.Casebook
	if o.casebook != "" {
		b, err := casebook.Open(ctx, o.casebook, casebook.Options{Now: time.Now})
		if err != nil {
			return nil, nil, cli.FileError(fmt.Errorf("--casebook: %w", err))
		}
		closers = append(closers, func() { _ = b.Close() })
		snapshot, err := b.Snapshot(ctx)
		if err != nil {
			return nil, nil, cli.FileError(fmt.Errorf("--casebook: %w", err))
		}
		closers = append(closers, func() { _ = snapshot.Close() })
		config.Casebook, book = b, knowledge.Casebook(snapshot)
	}
	for _, reports := range []bool{false, true} {
		c, err := o.ConfigOf(reports)
		if err != nil {
			return nil, nil, err
		}
		c.Models, c.Casebook = mcp.Seat{}, book
		h, err := o.Host(ctx, s, c)
		if err != nil {
			return nil, nil, o.Error(err)
		}
		closers = append(closers, func() { _ = h.Close(context.WithoutCancel(ctx)) })
		if config.Personas = open.ModelNames(h.Pipeline()); reports {
			config.Reports = h
		} else {
			config.Cases = h
		}
	}
	if len(config.Personas) == 0 {
		return nil, nil, cli.InputError(errors.New("--pipeline: no persona of it asks a model, so that an agent can play none"))
	}
	server := mcp.New(config)
	closers = append(closers, server.Close)
	return server, closeAll, nil
}

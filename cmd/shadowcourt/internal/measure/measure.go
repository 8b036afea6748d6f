// Package measure has the commands that learn and measure with cases whose truth is known, fit, calibrate and compare, and audit, which
// measures opinions.
package measure

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/spf13/cobra"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/open"
	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/disk"
	"github.com/shadowcourt/shadowcourt/internal/render"
	"github.com/shadowcourt/shadowcourt/internal/run"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
)

// common are the flags of the commands that read dockets.
type common struct {
	open.Flags
	format, output string
	workers        int
}

func (o *common) add(cmd *cobra.Command, what string) {
	f := cmd.Flags()
	f.StringVar(&o.format, "format", "table", "format of the "+what+": table or json")
	f.IntVar(&o.workers, "workers", 0, "how many at once (default: one for each processor); the result is the same")
}

// addCourt adds the flags of the commands that try cases.
func (o *common) addCourt(cmd *cobra.Command, what, profile string) {
	o.add(cmd, what)
	f := cmd.Flags()
	f.StringVar(&o.Pipeline, "pipeline", open.ShippedPipeline, "pipeline file, or the name of the shipped one")
	f.StringVar(&o.Profile, "profile", "", "profile file, the name of a shipped one, or none (default: "+profile+")")
	f.StringVar(&o.Modules, "modules", "", "folder with all NAME.wasm files that the pipeline names (default: the embedded modules)")
	open.CacheFlag(f, &o.Cache, "folder for compiled modules, or none")
	f.StringVar(&o.output, "output", "", "file for the "+what+" (default: standard output)")
}

// check reports all faults of the flags at once; more are those of further flags.
func (o *common) check(command string, dockets []string, more ...error) error {
	var faults []error
	if len(dockets) == 0 {
		faults = append(faults, fmt.Errorf("%s takes one docket or more, or - for the standard input; see `shadowcourt %s --help`", command, command))
	}
	if o.format != "table" && o.format != "json" {
		faults = append(faults, fmt.Errorf("--format %q: use table or json", o.format))
	}
	if o.workers < 0 {
		faults = append(faults, fmt.Errorf("--workers %d: use 0 or more", o.workers))
	}
	return errors.Join(append(append(faults, more...), o.CheckLight())...)
}

// checkOutput rejects an output that is also an input.
func (o *common) checkOutput(dockets []string) error {
	return cli.CheckOverwrites(o.InputFiles(dockets), []cli.NamedFile{cli.File("--output", o.output)})
}

// tried says what is done with the trials of a docket: begin sees the configuration before the court opens, add gets each trial, and report gives
// the result as a value and as text when all are done.
type tried struct {
	from   string
	begin  func(*host.Config) error
	pass   func(docket.Entry) bool // nil passes all
	add    func(*trial.Trial)
	report func(terminal render.TerminalOptions) (value any, text string, err error)
}

// try tries the cases of dockets.
func (o *common) try(ctx context.Context, s cli.Streams, r *reading, dockets []string, t *tried) error {
	inputs, err := run.OpenDockets(ctx, s.In, dockets, t.from)
	if err != nil {
		return cli.InputError(err)
	}
	defer inputs.Close()
	config, err := o.Config(inputs)
	if err != nil {
		return err
	}
	if err := t.begin(config); err != nil {
		return cli.InputError(err)
	}
	help, err := o.Connect(ctx, config, inputs)
	if err != nil {
		return err
	}
	defer help.Close()
	r.progress.Say("loading modules")
	h, err := o.Host(ctx, s, config)
	r.progress.Clear()
	if err != nil {
		return o.Error(err)
	}
	defer func() { _ = h.Close(context.WithoutCancel(ctx)) }()
	var files disk.Set
	out := s.Out
	if o.output != "" {
		if out, err = files.Create(o.output); err != nil {
			return cli.InputError(fmt.Errorf("--output: %w", err))
		}
	}
	err = r.all(ctx, h, o.Workers(o.workers), inputs.Entries(""), t)
	if err == nil {
		err = o.report(out, t)
	}
	if err != nil {
		files.Discard()
		return err
	}
	return files.Commit()
}

func (o *common) report(out io.Writer, t *tried) error {
	value, text, err := t.report(cli.Terminal(out))
	if err != nil {
		return err
	}
	return o.print(out, value, text)
}

// all tries entries, and reports those that can't be used.
func (r *reading) all(ctx context.Context, h *host.Host, workers int, entries iter.Seq2[docket.Entry, error], t *tried) error {
	defer r.progress.Clear()
	wanted := func(yield func(docket.Entry, error) bool) {
		for entry, err := range entries {
			if (err != nil || t.pass == nil || t.pass(entry)) && !yield(entry, err) {
				return
			}
		}
	}
	for one := range h.TryAll(ctx, wanted, workers) {
		if one.Trial == nil && ctx.Err() != nil {
			break
		}
		if one.Err != nil {
			if err := r.fault(one.Entry, one.Err); err != nil {
				return err
			}
			continue
		}
		r.done++
		r.light.Add(one.Trial)
		t.add(one.Trial)
		r.progress.Tried(r.done, r.faults)
	}
	if ctx.Err() != nil {
		return fmt.Errorf("interrupted after %s; nothing is written", cli.Count(r.done, "case", "cases"))
	}
	return nil
}

// print writes a value as JSON, or its text.
func (o *common) print(w io.Writer, value any, text string) error {
	if o.format != "json" {
		_, err := io.WriteString(w, text)
		return err
	}
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(value)
}

// reading is one run over dockets.
type reading struct {
	stderr   io.Writer
	progress *cli.Progress
	redactor *render.Redactor // nil redacts nothing

	done, faults int // entries
	light        open.LightFailures
}

func newReading(s cli.Streams) reading {
	return reading{stderr: s.Err, progress: cli.NewProgress(s.Err)}
}

// fault reports an entry that can't be used. Its error is one that ends the run.
func (r *reading) fault(entry docket.Entry, err error) error {
	place := ""
	if _, ofLine := errors.AsType[*docket.LineError](err); !ofLine {
		if entry.Source == "" {
			return err
		}
		place = fmt.Sprintf("%s:%d: ", sanitize.Line(entry.Source), entry.Line)
	}
	r.progress.Clear()
	r.faults++
	fmt.Fprintln(r.stderr, place+sanitize.Block(r.redactor.Text(err.Error())))
	return nil
}

// end warns of a Light that failed, and says in the exit code that entries could not be used.
func (r *reading) end(what string) error {
	r.light.Warn(r.stderr, r.redactor)
	if r.faults == 0 {
		return nil
	}
	return cli.InputError(fmt.Errorf("%s could not be used; %s %s", cli.Count(r.faults, "entry", "entries"), cli.Count(r.done, "case was", "cases were"), what))
}

package main

import (
	"errors"
	"fmt"
	"html/template"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/term"

	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/docket/inert"
	"github.com/shadowcourt/shadowcourt/host/docket/report"
	"github.com/shadowcourt/shadowcourt/host/outfile"
)

// outputs are where the trials of a run go. Files appear under their names
// only when they are complete.
type outputs struct {
	redactor *docket.Redactor
	out      *docket.Output                    // of what is redacted
	draw     func(*docket.Trial) template.HTML // nil where nobody shows pictures
	files    []*outfile.File
}

// writers opens every output that the flags ask for.
func (o *tryOptions) writers(s stdio, redactor *docket.Redactor, h *host.Host) (*outputs, error) {
	all := &outputs{redactor: redactor}
	main := s.out
	if len(o.reports) > 0 || o.canary.output != "" || o.cases != "" {
		main = &untilGone{w: s.out}
	}
	if o.output != "" {
		f, err := all.create(o.output)
		if err != nil {
			return nil, fmt.Errorf("--output: %w", err)
		}
		main = f
	}
	list := []docket.Writer{o.mainWriter(main)}
	for _, name := range o.reports {
		f, err := all.create(name)
		if err != nil {
			all.discard()
			return nil, fmt.Errorf("--report: %w", err)
		}
		list = append(list, reportWriter(name, f, report.Options{}))
		all.draw = h.Draw
	}
	if o.cases != "" {
		f, err := all.create(o.cases)
		if err != nil {
			all.discard()
			return nil, fmt.Errorf("--cases: %w", err)
		}
		list = append(list, docket.NewCases(f))
	}
	canary, err := o.canary.writers(s.err, all)
	if err != nil {
		all.discard()
		return nil, err
	}
	list = append(list, canary...)
	all.out = docket.NewOutput(nil, list...)
	return all, nil
}

func (o *tryOptions) mainWriter(w io.Writer) docket.Writer {
	switch {
	case o.format == "jsonl":
		return docket.NewJSONL(w)
	case o.format == "json":
		return docket.NewJSON(w)
	case o.explain != "":
		return explainer{w}
	default:
		return docket.NewTable(w, terminal(w))
	}
}

// reportWriter is one for the format that the name of the file tells.
func reportWriter(name string, w io.Writer, options report.Options) docket.Writer {
	if strings.EqualFold(filepath.Ext(name), ".md") {
		return report.NewMarkdown(w, options)
	}
	return report.NewHTML(w, options)
}

// explainer tells each trial as a story. What it gets is redacted already.
type explainer struct{ w io.Writer }

func (e explainer) Write(t *docket.Trial) error { return docket.Explain(e.w, t, nil, terminal(e.w)) }

func (explainer) Close() error { return nil }

// terminal says what a writer can show: a width and colours if it is a terminal, else the width that COLUMNS gives.
func terminal(w io.Writer) docket.TerminalOptions {
	f := terminalFile(w)
	if f == nil {
		width, err := strconv.Atoi(os.Getenv("COLUMNS"))
		if err != nil || width < 0 {
			width = 0
		}
		return docket.TerminalOptions{Width: width}
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		width = 0
	}
	return docket.TerminalOptions{Width: width, Colour: os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"}
}

func (o *outputs) create(name string) (*outfile.File, error) {
	f, err := outfile.Create(name)
	if err != nil {
		return nil, err
	}
	o.files = append(o.files, f)
	return f, nil
}

// shown gives a trial as the outputs show it: with its drawing, and redacted.
func (o *outputs) shown(t *docket.Trial) *docket.Trial {
	if o.draw != nil {
		t.Drawing = o.draw(t)
	}
	return o.redactor.Trial(t)
}

// write takes a trial as shown gave it.
func (o *outputs) write(shown *docket.Trial) error { return o.out.Write(shown) }

// close completes the outputs and puts the files in their places.
func (o *outputs) close() error {
	errs := []error{o.out.Close()}
	for _, f := range o.files {
		errs = append(errs, f.Commit())
	}
	return errors.Join(errs...)
}

// leave completes what goes to the standard streams, and leaves the files as they were before the run.
func (o *outputs) leave() error {
	err := o.out.Close()
	o.discard()
	return err
}

// discard takes the files away that were begun.
func (o *outputs) discard() {
	for _, f := range o.files {
		f.Discard()
	}
}

func inertLine(s string) string  { return inert.Line(s) }
func inertBlock(s string) string { return inert.Block(s) }

package main

import (
	"errors"
	"fmt"
	"html/template"
	"io"
	"os"
	"path"
	"strings"

	"golang.org/x/term"

	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/docket/inert"
	"github.com/shadowcourt/shadowcourt/host/docket/report"
)

// outputs are where the trials of a run go. Files appear under their names
// only when they are complete.
type outputs struct {
	out   *docket.Output
	draw  func(*docket.Trial) template.HTML // nil where nobody shows pictures
	files []*outFile
}

// outFile is a file that is being written beside its place.
type outFile struct {
	*os.File
	path string
}

// writers opens every output that the flags ask for.
func (o *tryOptions) writers(stdout io.Writer, h *host.Host) (*outputs, error) {
	redactor, err := docket.NewRedactor(o.redact)
	if err != nil {
		return nil, fmt.Errorf("--redact: %w", err)
	}
	all := &outputs{}
	main := stdout
	if o.output != "" {
		f, err := all.create(o.output)
		if err != nil {
			return nil, fmt.Errorf("--output: %w", err)
		}
		main = f
	}
	list := []docket.Writer{o.mainWriter(main)}
	if o.report != "" {
		f, err := all.create(o.report)
		if err != nil {
			all.discard()
			return nil, fmt.Errorf("--report: %w", err)
		}
		list = append(list, o.reportWriter(f))
		all.draw = h.Draw
	}
	all.out = docket.NewOutput(redactor, list...)
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

func (o *tryOptions) reportWriter(w io.Writer) docket.Writer {
	if strings.EqualFold(path.Ext(o.report), ".md") {
		return report.NewMarkdown(w, report.Options{})
	}
	return report.NewHTML(w, report.Options{})
}

// explainer tells each trial as a story. What it gets is redacted already.
type explainer struct{ w io.Writer }

func (e explainer) Write(t *docket.Trial) error { return docket.Explain(e.w, t, nil, terminal(e.w)) }

func (explainer) Close() error { return nil }

// terminal says what a writer can show: a width and colours if it is one.
func terminal(w io.Writer) docket.TerminalOptions {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return docket.TerminalOptions{}
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		width = 0
	}
	return docket.TerminalOptions{Width: width, Colour: os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"}
}

func (o *outputs) create(name string) (*outFile, error) {
	f, err := os.CreateTemp(dirOf(name), ".shadowcourt-*.tmp")
	if err != nil {
		return nil, err
	}
	out := &outFile{File: f, path: name}
	o.files = append(o.files, out)
	return out, nil
}

func dirOf(name string) string {
	dir := path.Dir(name)
	if dir == "" {
		return "."
	}
	return dir
}

func (o *outputs) write(t *docket.Trial) error {
	if o.draw != nil {
		t.Drawing = o.draw(t)
	}
	return o.out.Write(t)
}

// close completes the outputs and puts the files in their places.
func (o *outputs) close() error {
	errs := []error{o.out.Close()}
	for _, f := range o.files {
		err := f.Close()
		if err == nil {
			err = os.Chmod(f.Name(), 0o644) //nolint:gosec // results are as public as their docket
		}
		if err == nil {
			err = os.Rename(f.Name(), f.path)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func (o *outputs) discard() {
	for _, f := range o.files {
		_ = f.Close()
		_ = os.Remove(f.Name())
	}
}

func inertLine(s string) string  { return inert.Line(s) }
func inertBlock(s string) string { return inert.Block(s) }

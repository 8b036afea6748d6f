package try

import (
	"errors"
	"fmt"
	"io"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/outfile"
	"github.com/shadowcourt/shadowcourt/host/render"
	"github.com/shadowcourt/shadowcourt/host/render/report"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// outputs are where the trials of a run go. Files appear under their names
// only when they are complete.
type outputs struct {
	redactor *render.Redactor
	out      *render.Output               // of what is redacted
	draw     func(*trial.Trial) trial.SVG // nil where nobody shows pictures
	outfile.Set
}

// writers opens every output that the flags ask for.
func (o *tryOptions) writers(s cli.Streams, redactor *render.Redactor, h *host.Host) (*outputs, error) {
	all := &outputs{redactor: redactor}
	main := s.Out
	if len(o.reports) > 0 || o.canaryOutput != "" || o.cases != "" {
		main = &cli.UntilGone{W: s.Out}
	}
	if o.output != "" {
		f, err := all.Create(o.output)
		if err != nil {
			return nil, fmt.Errorf("--output: %w", err)
		}
		main = f
	}
	list := []render.Writer{o.mainWriter(main)}
	for _, name := range o.reports {
		f, err := all.Create(name)
		if err != nil {
			all.Discard()
			return nil, fmt.Errorf("--report: %w", err)
		}
		list = append(list, cli.ReportWriter(name, f, report.Options{}))
		all.draw = func(t *trial.Trial) trial.SVG { return render.Draw(h.Graph(), t) }
	}
	if o.cases != "" {
		f, err := all.Create(o.cases)
		if err != nil {
			all.Discard()
			return nil, fmt.Errorf("--cases: %w", err)
		}
		list = append(list, render.NewCases(f))
	}
	canary, err := o.canaryWriters(s.Err, all)
	if err != nil {
		all.Discard()
		return nil, err
	}
	list = append(list, canary...)
	all.out = render.NewOutput(nil, list...)
	return all, nil
}

func (o *tryOptions) mainWriter(w io.Writer) render.Writer {
	switch {
	case o.format == "jsonl":
		return render.NewJSONL(w)
	case o.format == "json":
		return render.NewJSON(w)
	case o.explain != "":
		return cli.NewExplainer(w)
	default:
		return render.NewTable(w, cli.Terminal(w))
	}
}

// shown gives a trial as the outputs show it: with its drawing, and redacted.
func (o *outputs) shown(t *trial.Trial) *trial.Trial {
	if o.draw != nil {
		t.Drawing = o.draw(t)
	}
	return o.redactor.Trial(t)
}

// write takes a trial as shown gave it.
func (o *outputs) write(shown *trial.Trial) error { return o.out.Write(shown) }

// close completes the outputs and puts the files in their places.
func (o *outputs) close() error {
	return errors.Join(o.out.Close(), o.Commit())
}

// leave completes what goes to the standard streams, and leaves the files as they were before the run.
func (o *outputs) leave() error {
	err := o.out.Close()
	o.Discard()
	return err
}

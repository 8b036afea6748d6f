package try

import (
	"errors"
	"fmt"
	"html/template"
	"io"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/docket/report"
	"github.com/shadowcourt/shadowcourt/host/outfile"
)

// outputs are where the trials of a run go. Files appear under their names
// only when they are complete.
type outputs struct {
	redactor *docket.Redactor
	out      *docket.Output                    // of what is redacted
	draw     func(*docket.Trial) template.HTML // nil where nobody shows pictures
	outfile.Set
}

// writers opens every output that the flags ask for.
func (o *tryOptions) writers(s cli.Streams, redactor *docket.Redactor, h *host.Host) (*outputs, error) {
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
	list := []docket.Writer{o.mainWriter(main)}
	for _, name := range o.reports {
		f, err := all.Create(name)
		if err != nil {
			all.Discard()
			return nil, fmt.Errorf("--report: %w", err)
		}
		list = append(list, cli.ReportWriter(name, f, report.Options{}))
		all.draw = h.Draw
	}
	if o.cases != "" {
		f, err := all.Create(o.cases)
		if err != nil {
			all.Discard()
			return nil, fmt.Errorf("--cases: %w", err)
		}
		list = append(list, docket.NewCases(f))
	}
	canary, err := o.canaryWriters(s.Err, all)
	if err != nil {
		all.Discard()
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
		return cli.NewExplainer(w)
	default:
		return docket.NewTable(w, cli.Terminal(w))
	}
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
	return errors.Join(o.out.Close(), o.Commit())
}

// leave completes what goes to the standard streams, and leaves the files as they were before the run.
func (o *outputs) leave() error {
	err := o.out.Close()
	o.Discard()
	return err
}

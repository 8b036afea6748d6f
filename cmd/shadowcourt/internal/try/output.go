package try

import (
	"fmt"
	"io"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/internal/outfile"
	"github.com/shadowcourt/shadowcourt/internal/render"
	"github.com/shadowcourt/shadowcourt/internal/run"
)

// outputs begins every output that the flags ask for.
func (o *tryOptions) outputs(s cli.Streams, config *run.Config) (err error) {
	files := &outfile.Set{}
	config.Files = files
	defer func() {
		if err != nil {
			files.Discard()
		}
	}()
	main := s.Out
	if len(o.reports) > 0 || o.cases != "" {
		main = &cli.UntilGone{W: s.Out}
	}
	if o.output != "" {
		f, err := files.Create(o.output)
		if err != nil {
			return fmt.Errorf("--output: %w", err)
		}
		main = f
	}
	config.Writers = []render.Writer{o.mainWriter(main)}
	for _, name := range o.reports {
		f, err := files.Create(name)
		if err != nil {
			return fmt.Errorf("--report: %w", err)
		}
		config.Writers = append(config.Writers, cli.ReportWriter(name, f, render.PageOptions{}))
		config.Draw = true
	}
	if o.cases != "" {
		f, err := files.Create(o.cases)
		if err != nil {
			return fmt.Errorf("--cases: %w", err)
		}
		config.Writers = append(config.Writers, render.NewCases(f))
	}
	for _, w := range config.Writers {
		if s, ok := w.(render.Summarizer); ok {
			s.Summary().Unbound(o.Unbound())
			s.Summary().Unable(o.NotRun, o.Elsewhere)
		}
	}
	return nil
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

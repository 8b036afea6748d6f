package try

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/host/docket/gotest"
	"github.com/shadowcourt/shadowcourt/internal/disk"
	"github.com/shadowcourt/shadowcourt/internal/render"
	"github.com/shadowcourt/shadowcourt/internal/run"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
)

// outputs begins every output that the flags ask for.
func (o *tryOptions) outputs(s cli.Streams, config *run.Config) (err error) {
	files := &disk.Set{}
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
	if o.remote.results != nil {
		config.Writers = append(config.Writers, o.remote.results)
	}
	for _, name := range o.reports {
		f, err := files.Create(name)
		if err != nil {
			return fmt.Errorf("--report: %w", err)
		}
		config.Writers = append(config.Writers, cli.ReportWriter(name, f, render.PageOptions{}))
	}
	if o.cases != "" {
		f, err := files.Create(o.cases)
		if err != nil {
			return fmt.Errorf("--report: %w", err)
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

// unreadNote names the lines of a stream that are no events.
func unreadNote(stream string, lines gotest.Unread) string {
	numbers := make([]string, len(lines.Lines))
	for n, line := range lines.Lines {
		numbers[n] = strconv.Itoa(line)
	}
	places, more := strings.Join(numbers, ", "), ""
	if lines.Count > len(numbers) {
		more = ", ..."
	}
	return stream + ": " + cli.Count(lines.Count, "line is no event", "lines are no events") + " of go test -json, kept as output (" +
		cli.Plural(len(numbers), "line", "lines") + " " + places + more + ")"
}

// sayUnread tells of the lines of test streams that are no events, and of files and results that are no cases.
func (r *tryRun) sayUnread(inputs *run.Dockets) {
	for _, note := range inputs.Notes() {
		fmt.Fprintln(r.stderr, "note: "+sanitize.Line(note))
	}
	for _, u := range inputs.Unread {
		fmt.Fprintln(r.stderr, "note: "+sanitize.Line(unreadNote(u.Stream, u.Lines)))
	}
}

// sayPassed says of reports of tests why nothing was tried.
func (r *tryRun) sayPassed(ctx context.Context, inputs *run.Dockets) {
	o := r.options
	if r.sum.Tried+r.sum.Faults+r.sum.Unread > 0 || ctx.Err() != nil || o.explain != "" || !inputs.Only(run.GoTest) && !inputs.OfRunners() {
		return
	}
	fmt.Fprintf(r.stderr, "no failure in %s\n", cli.Count(inputs.Tests, "test", "tests"))
}

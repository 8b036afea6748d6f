package records

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/host/replay"
	"github.com/shadowcourt/shadowcourt/internal/outfile"
	"github.com/shadowcourt/shadowcourt/internal/render"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
)

// explainPage tells the trials of a record as a page.
func explainPage(ctx context.Context, s cli.Streams, session *replaySession, tally *replayTally, output string, ids []string) error {
	if ext := strings.ToLower(filepath.Ext(output)); ext != ".html" && ext != ".md" {
		return cli.InputError(fmt.Errorf("--output %q: use a name that ends in .html or .md", output))
	}
	file, err := outfile.Create(output)
	if err != nil {
		return cli.InputError(fmt.Errorf("--output: %w", err))
	}
	var apart []render.PageCase
	out := cli.ReportWriter(output, file, render.PageOptions{
		Title:  "Trials of a record",
		Source: func() render.PageSource { return render.PageSource{Lines: session.source(tally), Apart: apart} },
	})
	err = session.each(ctx, ids, func(r *replay.Replayed) error {
		if !tally.add(r) {
			apart = append(apart, apartOf(tally, r))
			return tally.tellDifference(s.Err, r)
		}
		graph, err := session.replayer.Graph(ctx)
		if err != nil {
			return err
		}
		r.Trial.Drawing = render.Draw(graph, r.Trial)
		r.Trial.Result.Timings = nil
		return out.Write(r.Trial)
	})
	if err == nil {
		err = out.Close()
	}
	if err != nil {
		file.Discard()
		return err
	}
	return errors.Join(file.Commit(), printWritten(s.Out, output, tally.same, len(apart)))
}

// source says where the trials of a page come from.
func (s *replaySession) source(tally *replayTally) []render.SummaryLine {
	state := "closed"
	if !s.reader.Closed() {
		state = "not closed: it may not hold all trials of its run"
	}
	came := "every trial below was tried again from the record, to the same bytes"
	if err := tally.err(); err != nil {
		came = err.Error() + ", byte for byte"
	}
	return []render.SummaryLine{
		{Name: "Record", Text: fmt.Sprintf("%s, %s with %s, %s", filepath.Base(s.name),
			cli.Count(s.reader.Entries(), "entry", "entries"), cli.Count(s.reader.Trials(), "trial", "trials"), state)},
		{Name: "Key", Text: s.key.String()},
		{Name: "Head", Text: string(s.reader.Head())},
		{Name: "Replayed", Text: came},
	}
}

// apartOf tells what the record itself has of a trial that has no story.
func apartOf(tally *replayTally, r *replay.Replayed) render.PageCase {
	why := "The replay gave another result: this is what the record says."
	if r.Err != nil {
		why = "Not replayed, " + tally.why(r.Err) + ": this is what the record says."
	}
	return render.PageCase{ID: r.Was.ID, Why: why, Text: r.Was.Outline()}
}

func printWritten(w io.Writer, name string, told, apart int) error {
	text := fmt.Sprintf("%s tells %s", sanitize.Line(name), cli.Count(told, "trial", "trials"))
	if apart > 0 {
		text += fmt.Sprintf(", and what the record says of %d more", apart)
	}
	_, err := fmt.Fprintln(w, text)
	return err
}

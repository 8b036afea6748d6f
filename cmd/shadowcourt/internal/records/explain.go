package records

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/host/replay"
	"github.com/shadowcourt/shadowcourt/internal/disk"
	"github.com/shadowcourt/shadowcourt/internal/render"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
)

// newExplain is the command `explain`.
func newExplain(s cli.Streams) *cobra.Command {
	o := &replayOptions{}
	var output string
	cmd := &cobra.Command{
		Use:   "explain RECORD [ID...]",
		Short: "Describe recorded trials in prose",
		Long: `Describe the trials of a record in prose, all of them or those with the given ids, on the
terminal or as a page (--output FILE.html or FILE.md). A trial is replayed, and described in
full only if the replay gives the same bytes. For a trial that cannot be replayed, only the
recorded calls, edges and result are shown. A page names the record, its key and its head.

Exit codes: 0 done; 1 a trial could not be replayed to the same bytes; 2 the command line
is wrong.`,
		Example: `  shadowcourt explain trials.record tour-amend --key court.key.pub
  shadowcourt explain trials.record --key court.key.pub --output trials.html > /dev/null`,
		Args: needsRecord,
		RunE: func(cmd *cobra.Command, args []string) error {
			return explainRecord(cmd.Context(), s, o, output, args)
		},
	}
	o.flags(cmd)
	cmd.Flags().StringVar(&output, "output", "", "file for a page, FILE.html or FILE.md (default: the story goes to the standard output)")
	return cmd
}

func explainRecord(ctx context.Context, s cli.Streams, o *replayOptions, output string, args []string) error {
	inputs := []cli.NamedFile{cli.File("the record", args[0]), cli.File("--key", o.key)}
	for _, d := range o.dockets {
		inputs = append(inputs, cli.File("--docket", d))
	}
	if output != "" {
		if err := cli.CheckOverwrites(inputs, []cli.NamedFile{cli.File("--output", output)}); err != nil {
			return cli.InputError(err)
		}
	}
	session, err := o.open(ctx, s.Err, args[0])
	if err != nil {
		return err
	}
	defer session.close(ctx)
	tally := &replayTally{docket: session.subject != nil}
	if output != "" {
		err = explainPage(ctx, s, session, tally, output, args[1:])
	} else {
		err = session.each(ctx, args[1:], func(r *replay.Replayed) error { return tellReplayed(s, tally, r) })
	}
	if err = errors.Join(err, tally.tellReasons(s.Err)); err != nil {
		return err
	}
	session.warn(s.Err)
	if err := tally.err(); err != nil {
		return fmt.Errorf("%s: %w", args[0], err)
	}
	return nil
}

// tellReplayed tells one trial on the terminal.
func tellReplayed(s cli.Streams, tally *replayTally, r *replay.Replayed) error {
	if !tally.add(r) {
		return errors.Join(tally.tellDifference(s.Err, r), tellOutline(s.Out, r))
	}
	if err := tellEntry(s.Out, tally.same, r); err != nil {
		return err
	}
	r.Trial.Result.Timings = nil
	return cli.NewExplainer(s.Out).Write(r.Trial)
}

// tellOutline tells what the record itself has of a trial that has no story.
func tellOutline(w io.Writer, r *replay.Replayed) error {
	_, err := fmt.Fprintf(w, "Not replayed: this is what the record says\n\nCase %s\n%s", sanitize.Line(r.Was.ID), sanitize.Block(r.Was.Outline()))
	return err
}

// tellEntry says where a story comes from.
func tellEntry(w io.Writer, told int, r *replay.Replayed) error {
	if told > 1 {
		if _, err := fmt.Fprintln(w); err != nil {
			return err
		}
	}
	calls, audit := r.Was.Calls(), ""
	digests := fmt.Sprintf("case    %s\nresult  %s\n", r.Was.Case, r.Was.ResultDigest)
	if a := r.Was.Audit; a != nil {
		own := a.Calls()
		audit = ", " + cli.Count(len(own), "call", "calls") + " of the audit"
		calls = append(calls, own...)
		digests += fmt.Sprintf("audit   %s\n", a.ResultDigest)
	}
	uses := 0
	for _, c := range calls {
		uses += len(c.Uses)
	}
	_, err := fmt.Fprintf(w, "Recorded and replayed to the same bytes: %s%s, %s\n%s\n",
		cli.Count(len(r.Was.Calls()), "call", "calls"), audit, cli.Count(uses, "use of a capability", "uses of capabilities"), digests)
	return err
}

// explainPage tells the trials of a record as a page.
func explainPage(ctx context.Context, s cli.Streams, session *replaySession, tally *replayTally, output string, ids []string) error {
	if ext := strings.ToLower(filepath.Ext(output)); ext != ".html" && ext != ".md" {
		return cli.InputError(fmt.Errorf("--output %q: use a name that ends in .html or .md", output))
	}
	file, err := disk.Create(output)
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

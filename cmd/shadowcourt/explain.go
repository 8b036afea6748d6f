package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/docket"
)

func newExplain(s stdio) *cobra.Command {
	o := &replayOptions{}
	var output string
	cmd := &cobra.Command{
		Use:   "explain RECORD [ID...]",
		Short: "Tell the trials of a record as stories",
		Long: `Tell the trials of a record as stories, those of the ids or all of them, on the terminal
or as a page (--output FILE.html or FILE.md). A trial is told as it goes when it is
replayed, and only if it is the same, byte for byte: so what is told is what happened.
Of one that can't be replayed the record's own words are told: calls, edges, the result.

Exit codes: 0 done; 1 a trial could not be replayed to the same bytes; 2 the command line
is wrong.`,
		Example: `  shadowcourt explain trials.record tour-amend --key court.key.pub
  shadowcourt explain trials.record --key court.key.pub --output trials.html > /dev/null`,
		Args: oneRecord,
		RunE: func(cmd *cobra.Command, args []string) error {
			return explainRecord(cmd.Context(), s, o, output, args)
		},
	}
	o.flags(cmd)
	cmd.Flags().StringVar(&output, "output", "", "file for a page, FILE.html or FILE.md (default: the story goes to the standard output)")
	return cmd
}

func explainRecord(ctx context.Context, s stdio, o *replayOptions, output string, args []string) error {
	var out docket.Writer = explainer{s.out}
	var file *outFile
	if output != "" {
		if ext := strings.ToLower(filepath.Ext(output)); ext != ".html" && ext != ".md" {
			return inputError(fmt.Errorf("--output %q: use a name that ends in .html or .md", output))
		}
		var err error
		if file, err = createFile(output); err != nil {
			return inputError(fmt.Errorf("--output: %w", err))
		}
		out = reportWriter(output, file)
	}
	told, other := 0, 0
	err := o.each(ctx, s.err, args[0], args[1:], func(replayer *host.Replayer, r *host.Replayed) error {
		if r.Err != nil || r.Difference != nil {
			other++
			return errors.Join(tellDifference(s.err, r), tellOutline(s.out, file == nil, r))
		}
		told++
		if file != nil {
			if err := replayer.Draw(ctx, r.Was, r.Trial); err != nil {
				return err
			}
		} else if err := tellEntry(s.out, told, r); err != nil {
			return err
		}
		r.Trial.Result.Timings = nil
		return out.Write(r.Trial)
	})
	if err == nil {
		err = out.Close()
	}
	switch {
	case file == nil:
	case err != nil:
		file.discard()
	default:
		err = errors.Join(file.commit(), printWritten(s.out, output, told))
	}
	if err == nil && other > 0 {
		err = fmt.Errorf("%s not told: what came was not what is recorded", count(other, "trial is", "trials are"))
	}
	return err
}

func printWritten(w io.Writer, name string, told int) error {
	_, err := fmt.Fprintf(w, "%s tells %s\n", inertLine(name), count(told, "trial", "trials"))
	return err
}

// tellOutline tells what the record itself has of a trial that has no story.
func tellOutline(w io.Writer, wanted bool, r *host.Replayed) error {
	if !wanted {
		return nil
	}
	_, err := fmt.Fprintf(w, "Not replayed: this is what the record says\n\nCase %s\n%s", inertLine(r.Was.ID), inertBlock(r.Was.Outline()))
	return err
}

// tellEntry says where a story comes from.
func tellEntry(w io.Writer, told int, r *host.Replayed) error {
	if told > 1 {
		if _, err := fmt.Fprintln(w); err != nil {
			return err
		}
	}
	calls, audit := r.Was.Calls(), ""
	digests := fmt.Sprintf("case    %s\nresult  %s\n", r.Was.Case, r.Was.ResultDigest)
	if a := r.Was.Audit; a != nil {
		own := a.Calls()
		audit = ", " + count(len(own), "call", "calls") + " of the audit"
		calls = append(calls, own...)
		digests += fmt.Sprintf("audit   %s\n", a.ResultDigest)
	}
	uses := 0
	for _, c := range calls {
		uses += len(c.Uses)
	}
	_, err := fmt.Fprintf(w, "Recorded and replayed to the same bytes: %s%s, %s\n%s\n",
		count(len(r.Was.Calls()), "call", "calls"), audit, count(uses, "use of a capability", "uses of capabilities"), digests)
	return err
}

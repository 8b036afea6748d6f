package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/record"
)

// replayOptions are the flags of the commands that replay.
type replayOptions struct {
	key, store, cache string
	dockets           []string
	workers           int
}

func (o *replayOptions) flags(cmd *cobra.Command) {
	keyFlag(cmd, &o.key, "the key of the record, public or secret")
	f := cmd.Flags()
	f.StringVar(&o.store, "store", "", "folder with the modules of the record, as `try --store` keeps them, beside the embedded ones")
	f.StringVar(&o.cache, "cache", defaultCache(), "folder for compiled modules, or none")
	f.StringArrayVar(&o.dockets, "docket", nil, "docket with the cases, where the record does not hold them; may be repeated")
	f.IntVar(&o.workers, "workers", 0, "trials at once (default: one for each processor)")
}

func newReplay(s stdio) *cobra.Command {
	o := &replayOptions{}
	cmd := &cobra.Command{
		Use:   "replay RECORD [ID...]",
		Short: "Try the trials of a record again, and say whether they are the same",
		Long: `Try the trials of a record again, all or those of the ids, with the modules and the
configuration of the record, and hold what comes against it, byte for byte. When time was
over, what capabilities and what a Light outside of the court answered is taken from the
record. Verdicts that were audited are audited again. Where a trial or its audit goes another
way, the first difference is told: the call, its node, and the fields that differ.

Exit codes: 0 the same bytes; 1 not the same, or not to be replayed; 2 the command line is
wrong.`,
		Example: "  shadowcourt replay trials.record --key court.key.pub",
		Args:    oneRecord,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), s, args[0], args[1:])
		},
	}
	o.flags(cmd)
	return cmd
}

func oneRecord(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return inputError(fmt.Errorf("%s takes a record; see `%s --help`", cmd.Name(), cmd.CommandPath()))
	}
	return nil
}

func (o *replayOptions) run(ctx context.Context, s stdio, name string, ids []string) error {
	p := newProgress(s.err)
	same, other := 0, 0
	err := o.each(ctx, s.err, name, ids, func(_ *host.Replayer, r *host.Replayed) error {
		if r.Err == nil && r.Difference == nil {
			same++
			p.say(fmt.Sprintf("%d the same", same))
			return nil
		}
		p.clear()
		other++
		return tellDifference(s.out, r)
	})
	p.clear()
	if err != nil {
		return err
	}
	if other > 0 {
		return fmt.Errorf("%s: %s not the same, %d the same", name, count(other, "trial is", "trials are"), same)
	}
	_, err = fmt.Fprintf(s.out, "%s: %s replayed, the same bytes\n", inertLine(name), count(same, "trial", "trials"))
	return err
}

// each replays the trials of a record, or those of some ids, and hands them on in order.
func (o *replayOptions) each(ctx context.Context, stderr io.Writer, name string, ids []string, do func(*host.Replayer, *host.Replayed) error) error {
	key, err := loadKey(o.key)
	if err != nil {
		return inputError(err)
	}
	warnOfKey(stderr, o.key)
	f, err := os.Open(name)
	if err != nil {
		return inputError(err)
	}
	defer func() { _ = f.Close() }()
	reader, err := record.NewReader(f, key)
	if err != nil {
		return err
	}
	if _, err := reader.Next(); err != nil {
		if errors.Is(err, io.EOF) {
			return fmt.Errorf("%s is empty", name)
		}
		return recordFault(name, err)
	}
	subject, err := o.cases(ctx)
	if err != nil {
		return inputError(err)
	}
	config := host.ReplayConfig{Now: time.Now}
	if o.store != "" {
		config.Store = record.OpenStore(o.store)
	}
	if o.cache != "none" {
		config.CacheDir = o.cache
	}
	replayer, err := host.OpenReplay(reader.Header(), config)
	if err != nil {
		return err
	}
	defer func() { _ = replayer.Close(context.WithoutCancel(ctx)) }()
	if !replayer.SameMetering() {
		fmt.Fprintln(stderr, "warning: the record was metered by another version of this program: figures of fuel will differ")
	}
	found := make(map[string]bool)
	for r := range replayer.All(ctx, trialsOf(reader, ids), subject, o.workers) {
		if r.Was == nil {
			return recordFault(name, r.Err)
		}
		found[r.Was.ID] = true
		if err := do(replayer, &r); err != nil {
			return err
		}
	}
	if ctx.Err() != nil {
		return errInterrupted
	}
	for _, id := range ids {
		if !found[id] {
			return inputError(fmt.Errorf("%s has no trial of the case %q", name, id))
		}
	}
	if !reader.Closed() {
		fmt.Fprintf(stderr, "warning: %s is not closed: it may not hold all trials of its run\n", inertLine(name))
	}
	return nil
}

// trialsOf reads on, and leaves out the trials that nobody asks for. An entry
// that was not written whole is the end.
func trialsOf(reader *record.Reader, ids []string) iter.Seq2[*record.Trial, error] {
	return func(yield func(*record.Trial, error) bool) {
		for {
			entry, err := reader.Next()
			var fault *record.FaultError
			switch {
			case errors.Is(err, io.EOF), errors.As(err, &fault) && fault.Torn:
				return
			case err != nil:
				yield(nil, err)
				return
			case entry.Trial == nil || len(ids) > 0 && !slices.Contains(ids, entry.Trial.ID):
				continue
			}
			if !yield(entry.Trial, nil) {
				return
			}
		}
	}
}

// cases reads the dockets; nil where none is given.
func (o *replayOptions) cases(ctx context.Context) (func(id string) *abi.Case, error) {
	if len(o.dockets) == 0 {
		return nil, nil //nolint:nilnil // the record has the cases
	}
	inputs, err := openInputs(ctx, nil, o.dockets, "auto")
	if err != nil {
		return nil, fmt.Errorf("--docket: %w", err)
	}
	defer inputs.close()
	byID := make(map[string]*abi.Case)
	for entry, err := range inputs.entries("") {
		if err != nil {
			return nil, fmt.Errorf("--docket: %w", err)
		}
		byID[entry.Case.ID] = &entry.Case
	}
	return func(id string) *abi.Case { return byID[id] }, nil
}

// tellDifference says of one trial how it is not the same.
func tellDifference(w io.Writer, r *host.Replayed) error {
	id := inertLine(r.Was.ID)
	if r.Err != nil {
		why := r.Err.Error()
		var missing *host.MissingModulesError
		switch {
		case errors.Is(r.Err, host.ErrNoCase):
			why += "; --docket gives it"
		case errors.As(r.Err, &missing):
			why += "; --store names the folder that has them"
		}
		_, err := fmt.Fprintf(w, "%s  can't be replayed: %s\n", id, inertLine(why))
		return err
	}
	d := r.Difference
	place := d.Where
	if d.Call >= 0 {
		place = fmt.Sprintf("call %d, %s", d.Call, d.Where)
	}
	if d.Audit && d.Event >= 0 {
		place = "the audit, " + place
	}
	fmt.Fprintf(w, "%s  goes another way at %s: %s\n", id, inertLine(place), inertLine(d.What))
	if len(d.Fields) == 0 {
		_, err := fmt.Fprintf(w, "  was  %s\n  is   %s\n", inertLine(d.Was), inertLine(d.Is))
		return err
	}
	for _, f := range d.Fields {
		fmt.Fprintf(w, "  %s\n    was  %s\n    is   %s\n", inertLine(f.Path), inertLine(orAbsent(f.Was)), inertLine(orAbsent(f.Is)))
	}
	return nil
}

func orAbsent(s string) string {
	if s == "" {
		return "(absent)"
	}
	return s
}

package records

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
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/open"
	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/host/replay"
	"github.com/shadowcourt/shadowcourt/internal/run"
	"github.com/shadowcourt/shadowcourt/internal/sanitize"
)

// replayOptions are the flags of the commands that replay.
type replayOptions struct {
	key, store, cache string
	dockets           []string
	workers           int
}

func (o *replayOptions) flags(cmd *cobra.Command) {
	open.KeyFlag(cmd, &o.key, "the key of the record, public or secret")
	f := cmd.Flags()
	f.StringVar(&o.store, "store", "", "folder with the modules of the record, as 'try --record FILE,store=DIR' keeps them, beside the embedded ones")
	open.CacheFlag(f, &o.cache, "folder for compiled modules, or none")
	f.StringArrayVar(&o.dockets, "docket", nil, "docket with the cases, where the record does not hold them; where it does, to compare them with it; may be repeated")
	f.IntVar(&o.workers, "workers", 0, "trials at once (default: one for each processor)")
}

// newReplay is the command `replay`.
func newReplay(s cli.Streams) *cobra.Command {
	o := &replayOptions{}
	cmd := &cobra.Command{
		Use:   "replay RECORD [ID...]",
		Short: "Try the trials of a record again, and say whether they are the same",
		Long: `Try the trials of a record again, all or those of the ids, with the modules and the
configuration of the record, and compare the results with it, byte for byte. Timeouts
and the answers of capabilities and of an external Light are taken from the record. Audits
are repeated. For a trial or an audit that differs, the first difference is printed: the
call, its node, and the fields.

The answers of a proof of "shadowcourt alibi --proof" are derived again: from its trials, and
from the runs that it states. No test is run.

With --docket the cases come from there, and trials of other cases differ. A trial whose
modules, case or answers are missing cannot be replayed, which says nothing against it.

Exit codes: 0 the same bytes; 1 not the same, or not to be replayed; 2 the command line is
wrong.`,
		Example: "  shadowcourt replay trials.record --key court.key.pub",
		Args:    needsRecord,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), s, args[0], args[1:])
		},
	}
	o.flags(cmd)
	return cmd
}

// needsRecord rejects a command line without a record. What follows the record is up to the command.
func needsRecord(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return cli.InputError(fmt.Errorf("%s takes a record; see `%s --help`", cmd.Name(), cmd.CommandPath()))
	}
	return nil
}

func (o *replayOptions) run(ctx context.Context, s cli.Streams, name string, ids []string) error {
	session, err := o.open(ctx, s.Err, name)
	if err != nil {
		return err
	}
	defer session.close(ctx)
	p := cli.NewProgress(s.Err)
	tally := &replayTally{docket: session.subject != nil}
	err = session.each(ctx, ids, func(r *replay.Replayed) error {
		session.proof.keep(r)
		if tally.add(r) {
			p.Say(fmt.Sprintf("%d the same", tally.same))
			return nil
		}
		p.Clear()
		return tally.tellDifference(s.Out, r)
	})
	p.Clear()
	if err = errors.Join(err, tally.tellReasons(s.Out)); err != nil {
		return err
	}
	session.warn(s.Err)
	answers, err := session.proof.tell(s.Out, session.reader.Header(), session.reader.Closed())
	if err = errors.Join(tally.err(), err); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	audits := ""
	if answers > 0 {
		audits = " and " + cli.Count(answers, "answer", "answers")
	}
	if tally.audits > 0 {
		audits = " and " + cli.Count(tally.audits, "audit", "audits")
	}
	_, err = fmt.Fprintf(s.Out, "%s: %s%s replayed, the same bytes\n", sanitize.Line(name), cli.Count(tally.same, "trial", "trials"), audits)
	return err
}

// replaySession is a record that is replayed.
type replaySession struct {
	name     string
	file     *os.File
	key      *record.Key
	reader   *record.Reader
	replayer *replay.Replayer
	subject  func(id string) *abi.Case // nil without --docket
	absent   int                       // trials whose case no docket has
	workers  int
	proof    derivation
}

// open reads the header of a record, and what stands beside the record.
func (o *replayOptions) open(ctx context.Context, stderr io.Writer, name string) (_ *replaySession, err error) {
	s := &replaySession{name: name, workers: o.workers}
	if s.key, err = open.Key(o.key); err != nil {
		return nil, cli.InputError(err)
	}
	open.WarnOfKey(stderr, o.key)
	config := replay.Config{Now: time.Now}
	if o.store != "" {
		if _, err := os.ReadDir(o.store); err != nil {
			return nil, cli.InputError(fmt.Errorf("--store: %w", err))
		}
		config.Store = record.OpenStore(o.store)
	}
	if o.cache != "none" {
		config.CacheDir = o.cache
	}
	if s.subject, err = o.cases(ctx); err != nil {
		return nil, cli.InputError(err)
	}
	if s.file, err = run.OpenFile(ctx, name); err != nil {
		return nil, cli.OrInterrupted(ctx, cli.InputError(err))
	}
	if err = s.begin(ctx, config); err != nil {
		return nil, errors.Join(err, s.file.Close())
	}
	if !s.replayer.SameMetering() {
		fmt.Fprintln(stderr, "warning: the record was metered by another version of this program: figures of fuel will differ")
	}
	return s, nil
}

func (s *replaySession) begin(ctx context.Context, config replay.Config) (err error) {
	if s.reader, err = record.NewReader(run.NewReader(ctx, s.file), s.key); err != nil {
		return err
	}
	first, err := s.reader.Next()
	if err != nil {
		if ctx.Err() != nil {
			return cli.ErrInterrupted
		}
		if errors.Is(err, io.EOF) {
			return fmt.Errorf("%s is empty", s.name)
		}
		return recordFault(s.name, err)
	}
	s.proof.read(first, s.reader.Head())
	s.replayer, err = replay.Open(s.reader.Header(), config)
	return err
}

func (s *replaySession) close(ctx context.Context) {
	_ = s.replayer.Close(context.WithoutCancel(ctx))
	_ = s.file.Close()
}

// each replays the trials of the record, or those of some ids, and hands them on in order.
func (s *replaySession) each(ctx context.Context, ids []string, do func(*replay.Replayed) error) error {
	found := make(map[string]bool)
	for r := range s.replayer.All(ctx, s.trials(ids), s.subject, s.workers) {
		if r.Was == nil {
			return cli.OrInterrupted(ctx, recordFault(s.name, r.Err))
		}
		found[r.Was.ID] = true
		if s.subject != nil && s.subject(r.Was.ID) == nil {
			s.absent++
		}
		if err := do(&r); err != nil {
			return err
		}
	}
	if ctx.Err() != nil {
		return cli.ErrInterrupted
	}
	for _, id := range ids {
		if !found[id] {
			return cli.InputError(fmt.Errorf("%s has no trial of the case %q", s.name, id))
		}
	}
	return nil
}

// warn says what a reader of the result has to know of the record.
func (s *replaySession) warn(stderr io.Writer) {
	if !s.reader.Closed() {
		fmt.Fprintf(stderr, "warning: %s is not closed: it may not hold all trials of its run\n", sanitize.Line(s.name))
	}
	if s.absent > 0 {
		fmt.Fprintf(stderr, "warning: --docket does not have the case of %s\n", cli.Count(s.absent, "trial", "trials"))
	}
}

// trials reads on, and leaves out the trials that nobody asks for. An entry
// that was not written whole is the end.
func (s *replaySession) trials(ids []string) iter.Seq2[*record.Trial, error] {
	return func(yield func(*record.Trial, error) bool) {
		for {
			entry, err := s.reader.Next()
			if err == nil {
				s.proof.read(entry, s.reader.Head())
			}
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
	inputs, err := run.OpenDockets(ctx, nil, o.dockets, "auto")
	if err != nil {
		return nil, fmt.Errorf("--docket: %w", err)
	}
	defer inputs.Close()
	byID := make(map[string]*abi.Case)
	for entry, err := range inputs.Entries("") {
		if err != nil {
			return nil, fmt.Errorf("--docket: %w", err)
		}
		byID[entry.Case.ID] = &entry.Case
	}
	return func(id string) *abi.Case { return byID[id] }, nil
}

package records

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
	"strings"
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

type replayOptions struct {
	key, store, cache string
	dockets           []string
	workers           int
}

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

Exit codes: 0 the same bytes; 1 not the same, not to be replayed, or the record breaks off
in an entry (the trials before it are replayed); 2 the command line is wrong.`,
		Example: "  shadowcourt replay trials.record --key court.key.pub",
		Args:    cli.ArgsWithin(1, cli.AnyNumber, "a record"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.run(cmd.Context(), s, args[0], args[1:])
		},
	}
	open.KeyFlag(cmd, &o.key, "the key of the record, public or secret")
	f := cmd.Flags()
	f.StringVar(&o.store, "store", "", "folder with the modules of the record, as 'try --record FILE,store=DIR' keeps them, beside the embedded ones")
	open.CacheFlag(f, &o.cache, "folder for compiled modules, or none")
	f.StringArrayVar(&o.dockets, "docket", nil, "docket with the cases, where the record does not hold them; where it does, to compare them with it; may be repeated")
	f.IntVar(&o.workers, "workers", 0, "trials at once (default: one for each processor)")
	return cmd
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
	for _, r := range tally.reasons {
		more := ""
		if n := r.count - len(r.ids); n > 0 {
			more = fmt.Sprintf(" and %d more", n)
		}
		_, failed := fmt.Fprintf(s.Out, "%s%s  can't be replayed: %s\n", strings.Join(r.ids, ", "), more, r.why)
		err = errors.Join(err, failed)
	}
	if err != nil {
		return err
	}
	if !session.reader.Closed() {
		fmt.Fprintf(s.Err, "warning: %s is not closed: it may not hold all trials of its run\n", sanitize.Line(name))
	}
	if session.absent > 0 {
		fmt.Fprintf(s.Err, "warning: --docket does not have the case of %s\n", cli.Count(session.absent, "trial", "trials"))
	}
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
	config := replay.Config{Now: time.Now, CacheDir: o.cache}
	if o.store != "" {
		if _, err := os.ReadDir(o.store); err != nil {
			return nil, cli.InputError(fmt.Errorf("--store: %w", err))
		}
		config.Store = record.OpenStore(o.store)
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

// trials reads on, and leaves out the trials that nobody asks for.
func (s *replaySession) trials(ids []string) iter.Seq2[*record.Trial, error] {
	return func(yield func(*record.Trial, error) bool) {
		for {
			entry, err := s.reader.Next()
			if err == nil {
				s.proof.read(entry, s.reader.Head())
			}
			switch {
			case errors.Is(err, io.EOF):
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

// replayTally counts how the trials of a record came out again.
type replayTally struct {
	docket      bool // --docket was given
	same, other int
	audits      int      // of those that are the same
	reasons     []reason // why trials could not be replayed, in the order in which they came
}

// reason is why some trials could not be replayed.
type reason struct {
	why   string
	ids   []string // of the first ones
	count int
}

const maxReasonIDs = 3

// add counts a trial. It is true where the same bytes came.
func (t *replayTally) add(r *replay.Replayed) bool {
	switch {
	case r.Err == nil && r.Difference == nil:
		t.same++
		if r.Was.Audit != nil {
			t.audits++
		}
		return true
	case r.Err == nil, errors.Is(r.Err, replay.ErrOtherCase):
		t.other++
	default:
		t.reason(t.why(r.Err), sanitize.Line(r.Was.ID))
	}
	return false
}

func (t *replayTally) reason(why, id string) {
	for i := range t.reasons {
		if t.reasons[i].why == why {
			t.reasons[i].count++
			if len(t.reasons[i].ids) < maxReasonIDs {
				t.reasons[i].ids = append(t.reasons[i].ids, id)
			}
			return
		}
	}
	t.reasons = append(t.reasons, reason{why, []string{id}, 1})
}

// why says why a trial could not be replayed, and what would help.
func (t *replayTally) why(err error) string {
	why := err.Error()
	_, missing := errors.AsType[*replay.MissingModulesError](err)
	switch {
	case errors.Is(err, replay.ErrNoCase) && t.docket:
		why += ", and neither does --docket"
	case errors.Is(err, replay.ErrNoCase):
		why += "; --docket gives it"
	case missing:
		why += "; --store names the folder that has them"
	}
	return sanitize.Line(why)
}

// err says how many trials came out otherwise, and how many not at all; nil where all are the same.
func (t *replayTally) err() error {
	not := 0
	for _, r := range t.reasons {
		not += r.count
	}
	if t.other == 0 && not == 0 {
		return nil
	}
	var list []string
	if t.other > 0 {
		list = append(list, cli.Count(t.other, "trial is", "trials are")+" not the same")
	}
	if not > 0 {
		list = append(list, cli.Count(not, "trial", "trials")+" could not be replayed")
	}
	return fmt.Errorf("%s, %d the same", strings.Join(list, ", "), t.same)
}

// tellDifference says of a trial how it is not the same. It says nothing of one that could not be replayed, whose reasons follow at the end.
func (t *replayTally) tellDifference(w io.Writer, r *replay.Replayed) error {
	id := sanitize.Line(r.Was.ID)
	d := r.Difference
	switch {
	case errors.Is(r.Err, replay.ErrOtherCase):
		_, err := fmt.Fprintf(w, "%s  is not the same: %s\n", id, sanitize.Line(r.Err.Error()))
		return err
	case d == nil:
		return nil
	}
	place := d.Where
	if d.Call >= 0 {
		place = fmt.Sprintf("call %d, %s", d.Call, d.Where)
	}
	if d.Audit && d.Event >= 0 {
		place = "the audit, " + place
	}
	fmt.Fprintf(w, "%s  takes another path at %s: %s\n", id, sanitize.Line(place), sanitize.Line(d.What))
	if len(d.Fields) == 0 {
		_, err := fmt.Fprintf(w, "  was  %s\n  is   %s\n", sanitize.Line(d.Was), sanitize.Line(d.Is))
		return err
	}
	for _, f := range d.Fields {
		fmt.Fprintf(w, "  %s\n    was  %s\n    is   %s\n", sanitize.Line(f.Path), sanitize.Line(orAbsent(f.Was)), sanitize.Line(orAbsent(f.Is)))
	}
	return nil
}

func orAbsent(s string) string { return cmp.Or(s, "(absent)") }

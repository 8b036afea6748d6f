package try

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/cli"
	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/open"
	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/record"
)

// recordOptions are the flags of `try` about the record.
type recordOptions struct {
	file, key, store   string
	bytes, digestsOnly bool
}

func (o *recordOptions) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.file, "record", "", "file for a signed record of every trial, which 'shadowcourt verify' and 'shadowcourt replay' read")
	open.KeyFlag(cmd, &o.key, "with --record: the key that signs")
	f.BoolVar(&o.bytes, "record-bytes", false, "with --record: keep what every call got and gave, too")
	f.BoolVar(&o.digestsOnly, "record-digests-only", false, "with --record: keep no text of cases, modules and answers; a replay then needs the docket")
	f.StringVar(&o.store, "store", "", "folder that keeps each module under its digest, for a replay")
}

// checkRecord rejects flags of the record that contradict each other.
func (o *tryOptions) checkRecord() error {
	r := &o.record
	switch {
	case r.file == "" && (r.key != "" || r.bytes || r.digestsOnly):
		return errors.New("--key, --record-bytes and --record-digests-only need --record, the file to write")
	case r.file == "":
		return nil
	case r.bytes && r.digestsOnly:
		return errors.New("--record-bytes and --record-digests-only exclude each other")
	case len(o.redact) > 0 && !r.digestsOnly:
		return errors.New("a record holds the cases as they are: with --redact use --record-digests-only")
	case o.resume && r.digestsOnly:
		return errors.New("--resume takes the results so far from the record: leave out --record-digests-only")
	case o.resume && o.output == "" && o.format != "jsonl":
		return errors.New("--resume with --record gives only the results of cases that were not tried before, which make no table: use --format jsonl")
	case o.explain != "":
		return errors.New("--record keeps whole runs: leave out --explain, which tries one case")
	}
	_, err := open.Key(r.key)
	return err
}

// configure has the host note what is recorded.
func (o *recordOptions) configure(config *host.Config) {
	if o.store != "" {
		config.Store = record.OpenStore(o.store)
	}
	if o.file == "" {
		return
	}
	switch config.Record = record.ContentsReplay; {
	case o.bytes:
		config.Record = record.ContentsBytes
	case o.digestsOnly:
		config.Record = record.ContentsDigests
	}
}

// The most time and trials between two syncs of a record, whose results wait
// that long: a sync costs about as much as a trial.
const (
	syncInterval = 50 * time.Millisecond
	syncTrials   = 256
)

// recording is the record of a run. The methods of a nil one only hand trials
// on.
type recording struct {
	writer  *record.Writer
	resumed bool
	before  []recorded // by an earlier run
	passed  int        // of them
	waiting []*host.Tried
	done    int // trials, when the record is closed
	synced  time.Time
}

// recording begins the record, or continues with it; nil where there is none.
func (o *tryOptions) recording(ctx context.Context, h *host.Host, parts []record.Part) (*recording, error) {
	if o.record.file == "" {
		return nil, nil //nolint:nilnil // there is none
	}
	key, err := open.Key(o.record.key)
	if err != nil {
		return nil, err
	}
	header, err := h.RecordHeader(parts)
	if err == nil {
		err = o.audit.header(header)
	}
	if err != nil {
		return nil, err
	}
	r := &recording{resumed: o.resume}
	if o.resume {
		r.writer, err = record.Resume(o.record.file, key, header, func(t *record.Trial) error {
			if ctx.Err() != nil {
				return cli.ErrInterrupted
			}
			r.before = append(r.before, recorded{t.ID, t.Case, slices.Clone(t.Line())})
			return nil
		})
	} else {
		r.writer, err = record.Create(o.record.file, key, header)
	}
	var fault *record.FaultError
	switch {
	case errors.Is(err, fs.ErrExist):
		return nil, fmt.Errorf("--record %s is there already, and a record is never written over; --resume continues with it", o.record.file)
	case errors.As(err, &fault) && fault.Entry > 0 && !errors.Is(err, record.ErrOtherKey):
		return nil, fmt.Errorf("--record %s: %w; to go on behind what holds, keep a copy and cut the file: head -c %d", o.record.file, err, fault.Offset)
	case errors.As(err, &fault):
		return nil, fmt.Errorf("--record %s: %w; the file was left as it is", o.record.file, err)
	case err != nil:
		return nil, fmt.Errorf("--record %s: %w", o.record.file, err)
	}
	return r, nil
}

// append records a trial. Its result is given to write when the record is on
// the disk: what anybody has seen is in the record.
func (r *recording) append(tried *host.Tried, write func(*host.Tried) error) error {
	if r == nil {
		return write(tried)
	}
	if err := r.writer.Append(tried.Record); err != nil {
		// What was recorded before is, whatever comes of this one.
		return errors.Join(appendError(tried.Record.ID, err), r.acknowledge(write))
	}
	r.waiting = append(r.waiting, &host.Tried{Entry: tried.Entry, Trial: tried.Trial}) // the record of it may be large
	if len(r.waiting) < syncTrials && time.Since(r.synced) < syncInterval {
		return nil
	}
	return r.acknowledge(write)
}

// appendError says why a trial is not in the record.
func appendError(id string, err error) error {
	if errors.Is(err, record.ErrTooLong) {
		return fmt.Errorf("--record: the trial of %q: %w; leave out --record-bytes, or use --record-digests-only", id, err)
	}
	return fmt.Errorf("--record: %w", err)
}

// acknowledge makes the record durable, and then gives the results.
func (r *recording) acknowledge(write func(*host.Tried) error) error {
	if r == nil || len(r.waiting) == 0 {
		return nil
	}
	if err := r.writer.Sync(); err != nil {
		return fmt.Errorf("--record: %w", err)
	}
	r.synced = time.Now()
	for _, tried := range r.waiting {
		if err := write(tried); err != nil {
			return err
		}
	}
	clear(r.waiting)
	r.waiting = r.waiting[:0]
	return nil
}

// trials counts those in the record.
func (r *recording) trials() int {
	if r.writer == nil {
		return r.done
	}
	return r.writer.Trials()
}

// end closes the record of a run that came to its end; that of another one
// stays open, to be resumed.
func (r *recording) end(complete bool) error {
	if r == nil {
		return nil
	}
	w := r.writer
	r.done, r.writer = w.Trials(), nil
	finish := w.Close
	if complete {
		finish = w.Finish
	}
	if err := finish(); err != nil {
		return fmt.Errorf("--record: %w", err)
	}
	return nil
}

// leave closes the file, whatever happened, and leaves the record open.
func (r *recording) leave() {
	if r != nil && r.writer != nil {
		_ = r.writer.Close() // an error before it was told
		r.writer = nil
	}
}

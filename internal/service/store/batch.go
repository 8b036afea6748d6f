package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/run"
)

// ErrEnded: the batch is done, or its docket was cancelled: there is nothing to try.
var ErrEnded = errors.New("the batch has ended")

// Batch is some entries of a docket that one worker tries with one generation.
type Batch struct {
	ID int64
	// Attempt counts how often the batch was begun; of two workers that have it, only the later one can complete it.
	Attempt int
	Docket  Docket
	// Generation is that of the docket, or the one that was current when the batch began.
	Generation int64
	Entries    []BatchEntry
}

// BatchEntry is an entry to try: its case, without what does not change the verdict.
type BatchEntry struct {
	Ordinal int
	Digest  string // of the case
	Case    abi.Case
}

// BeginBatch gives a batch to a worker, with the generation that is current now. The error is ErrEnded where there is nothing to
// do any more.
func (s *Store) BeginBatch(ctx context.Context, id int64, worker string) (*Batch, error) {
	b := &Batch{ID: id}
	var first, last int
	err := s.write(ctx, func(t *tx) error {
		var docketID int64
		err := one(ctx, t, `UPDATE batches SET state = 'running', attempt = attempt + 1, worker = $1, started = $2
			WHERE id = $3 AND state IN ('queued', 'running') RETURNING docket, first, last, attempt`,
			[]any{worker, s.now(), id}, &docketID, &first, &last, &b.Attempt)
		if isNotFound(err) {
			return fmt.Errorf("batch %d: %w", id, ErrEnded)
		}
		if err != nil {
			return err
		}
		if b.Docket, err = readDocket(ctx, t, docketID); err != nil {
			return err
		}
		if b.Generation = b.Docket.Generation; b.Generation == 0 {
			if b.Generation, err = currentGeneration(ctx, t); err != nil {
				return err
			}
		}
		if _, err := t.exec(ctx, `UPDATE batches SET generation = $1 WHERE id = $2`, b.Generation, id); err != nil {
			return err
		}
		if b.Docket.State != Queued {
			return nil
		}
		b.Docket.State = Running
		if _, err := t.exec(ctx, `UPDATE dockets SET state = 'running' WHERE id = $1 AND state = 'queued'`, docketID); err != nil {
			return err
		}
		return t.notify(ctx, Event{EventDocket, docketID})
	})
	if err != nil {
		return nil, err
	}
	return b, s.db.snapshot(ctx, func(q querier) error { return b.read(ctx, q, first, last) })
}

// read reads the entries that have no verdict and no fault.
func (b *Batch) read(ctx context.Context, q querier, first, last int) error {
	b.Entries = nil
	var digests []string
	if err := each(ctx, q, `SELECT ordinal, case_digest FROM entries
		WHERE docket = $1 AND ordinal >= $2 AND ordinal <= $3 AND verdict = '' AND fault = '' ORDER BY ordinal`,
		[]any{b.Docket.ID, int64(first), int64(last)}, func(scan func(...any) error) error {
			var e BatchEntry
			err := scan(&e.Ordinal, &e.Digest)
			b.Entries, digests = append(b.Entries, e), append(digests, e.Digest)
			return err
		}); err != nil {
		return err
	}
	cases, err := readCases(ctx, q, digests)
	if err != nil {
		return err
	}
	for i := range b.Entries {
		c := cases[b.Entries[i].Digest]
		if c == nil {
			return fmt.Errorf("the database is damaged: case %s is missing", b.Entries[i].Digest)
		}
		b.Entries[i].Case = *c
	}
	return nil
}

// Known says which cases of a batch have a verdict of this generation and configuration already.
func (s *Store) Known(ctx context.Context, b *Batch, configuration string) (map[string]bool, error) {
	known := map[string]bool{}
	args := []any{b.Generation, configuration}
	for i := range b.Entries {
		args = append(args, b.Entries[i].Digest)
	}
	if len(b.Entries) == 0 {
		return known, nil
	}
	err := each(ctx, s.db, `SELECT case_digest FROM verdicts WHERE generation = $1 AND configuration = $2 AND case_digest IN (`+places(3, len(b.Entries))+`)`, args,
		func(scan func(...any) error) error {
			var digest string
			err := scan(&digest)
			known[digest] = true
			return err
		})
	return known, err
}

// Outcome is what came of a batch.
type Outcome struct {
	// Configuration is the digest of all that the verdicts depend on beside case and generation, Parts are what it is of, by name.
	Configuration string
	Parts         map[string]string
	Verdicts      []NewVerdict
	// Faults say why entries could not be tried, by ordinal.
	Faults map[int]string
	// Record is the signed record of the trials; nil for none.
	Record []byte
	// Rest is the ordinal of the first entry that is left to another batch, behind those of others; 0 for none.
	Rest int
}

// NewVerdict is a trial by its case.
type NewVerdict struct {
	Digest string // of the case
	Trial  *trial.Trial
	Took   time.Duration
}

// packed is a verdict as its row has it.
type packed struct {
	key           string
	result, story []byte
}

// KeepTrying calls do until it fails with something else than ErrFull, or the context ends, with pauses that grow to the longest one.
func (s *Store) KeepTrying(ctx context.Context, pause, longest time.Duration, do func() error) error {
	err := do()
	if !errors.Is(err, ErrFull) {
		return err
	}
	s.held.Add(1)
	defer s.held.Add(-1)
	for ; errors.Is(err, ErrFull); pause = min(2*pause, longest) {
		select {
		case <-ctx.Done():
			return err
		case <-time.After(pause):
		}
		err = do()
	}
	return err
}

// CompleteBatch keeps what came of a batch, and completes its job, in one transaction: verdicts that are not there yet, the
// links of the entries to them, the record, the counts of the docket. job is nil where there is none. ErrTaken or ErrEnded says
// that nothing was kept: another worker has the batch, or it was cancelled.
func (s *Store) CompleteBatch(ctx context.Context, b *Batch, worker string, o *Outcome, job *river.Job[BatchArgs]) error {
	rows := make([]packed, len(o.Verdicts))
	for i := range o.Verdicts {
		v := &o.Verdicts[i]
		result, story, err := run.EncodeTrial(v.Trial)
		if err != nil {
			return err
		}
		rows[i] = packed{VerdictKey(v.Digest, b.Generation, o.Configuration), pack(result), pack(story)}
	}
	record := pack(o.Record)
	return s.write(ctx, func(t *tx) error {
		n, err := t.exec(ctx, `UPDATE batches SET state = 'done', finished = $1 WHERE id = $2 AND state = 'running' AND attempt = $3`,
			s.now(), b.ID, int64(b.Attempt))
		if err == nil && n == 0 {
			err = t.whoHas(ctx, b.ID)
		}
		if err != nil {
			return err
		}
		if len(o.Record) > 0 {
			if _, err := t.exec(ctx, `INSERT INTO records (id, size, body, created) VALUES ($1, $2, $3, $4)`,
				b.ID, int64(len(o.Record)), record, s.now()); err != nil {
				return err
			}
		}
		if err := s.insertVerdicts(ctx, t, b, worker, o, rows); err != nil {
			return err
		}
		if err := t.lockDockets(ctx, b.Docket.ID); err != nil {
			return err
		}
		if o.Rest > 0 {
			if err := t.split(ctx, b, o.Rest); err != nil {
				return err
			}
		}
		if err := s.link(ctx, t, b, o); err != nil {
			return err
		}
		if job != nil {
			err := t.db.completeJob(ctx, t, job)
			if err != nil && !errors.Is(err, rivertype.ErrNotFound) { // the batch is the truth: a job of an ended one does nothing
				return err
			}
		}
		return t.notify(ctx, Event{EventDocket, b.Docket.ID})
	})
}

// whoHas says why a batch can't be completed.
func (t *tx) whoHas(ctx context.Context, id int64) error {
	var state string
	if err := one(ctx, t, `SELECT state FROM batches WHERE id = $1`, []any{id}, &state); err != nil {
		return err
	}
	if state == "queued" || state == "running" {
		return fmt.Errorf("batch %d: %w", id, ErrTaken)
	}
	return fmt.Errorf("batch %d: %w", id, ErrEnded)
}

func (s *Store) insertVerdicts(ctx context.Context, t *tx, b *Batch, worker string, o *Outcome, rows []packed) error {
	if o.Configuration != "" {
		if _, err := t.exec(ctx, `INSERT INTO configurations (digest, parts) VALUES ($1, $2) ON CONFLICT DO NOTHING`,
			o.Configuration, object(o.Parts)); err != nil {
			return err
		}
	}
	record := int64(0)
	if len(o.Record) > 0 {
		record = b.ID
	}
	// In the order of the keys: two workers with the same cases wait for each other, and not in a circle.
	order := make([]int, len(rows))
	for i := range order {
		order[i] = i
	}
	order = distinct(order, func(i int) string { return rows[i].key })
	in := inserter{head: `INSERT INTO verdicts (key, case_digest, generation, configuration, status, label, confidence, light_label, light_confidence,
		beside_status, beside_label, beside_confidence, doubt, result, story, record, worker, micros, fuel, created, about) VALUES `, tail: ` ON CONFLICT DO NOTHING`}
	for _, i := range order {
		v := &o.Verdicts[i]
		r := &v.Trial.Result
		var light trial.Answer
		if r.Light != nil {
			light = *r.Light
		}
		var beside trial.Final
		if v.Trial.Beside != nil {
			beside = v.Trial.Beside.Result.Final
		}
		fuel := int64(0)
		if r.Fuel != nil {
			fuel = int64(*r.Fuel)
		}
		if err := in.add(ctx, t, rows[i].key, v.Digest, b.Generation, o.Configuration, string(r.Final.Status), text(r.Final.Classification, maxName),
			r.Final.Confidence, text(light.Classification, maxName), light.Confidence, string(beside.Status), text(beside.Classification, maxName), beside.Confidence,
			Doubt(&r.Final), rows[i].result, rows[i].story, record, worker, v.Took.Microseconds(), fuel, s.now(), text(v.Trial.Message(), maxName)); err != nil {
			return err
		}
	}
	return in.flush(ctx, t)
}

// link gives entries their verdicts or faults, and counts them.
func (s *Store) link(ctx context.Context, t *tx, b *Batch, o *Outcome) error {
	if len(b.Entries) == 0 {
		return nil
	}
	first, last := int64(b.Entries[0].Ordinal), int64(b.Entries[len(b.Entries)-1].Ordinal)
	var tried, faults int64
	if err := t.retally(ctx, `e.docket = $1 AND e.ordinal >= $2 AND e.ordinal <= $3`, []any{b.Docket.ID, first, last}, func() (err error) {
		tried, faults, err = s.linkEntries(ctx, t, b, o, first, last)
		return err
	}); err != nil {
		return err
	}
	return s.count(ctx, t, b, tried, faults)
}

func (s *Store) linkEntries(ctx context.Context, t *tx, b *Batch, o *Outcome, first, last int64) (tried, faults int64, err error) {
	for ordinal, why := range o.Faults {
		n, err := t.exec(ctx, `UPDATE entries SET fault = $1, generation = $2, tried = $3 WHERE docket = $4 AND ordinal = $5 AND verdict = '' AND fault = ''`,
			text(why, maxText), b.Generation, s.now(), b.Docket.ID, int64(ordinal))
		if err != nil {
			return 0, 0, err
		}
		faults += n
	}
	tried, err = t.exec(ctx, `UPDATE entries SET verdict = v.key, generation = v.generation, status = v.status, label = v.label,
		confidence = v.confidence, light_label = v.light_label, light_confidence = v.light_confidence,
		beside_status = v.beside_status, beside_label = v.beside_label, beside_confidence = v.beside_confidence,
		doubt = v.doubt, about = v.about, tried = $1
		FROM verdicts v
		WHERE entries.docket = $2 AND entries.ordinal >= $3 AND entries.ordinal <= $4 AND entries.verdict = '' AND entries.fault = ''
			AND v.case_digest = entries.case_digest AND v.generation = $5 AND v.configuration = $6`,
		s.now(), b.Docket.ID, first, last, b.Generation, o.Configuration)
	if err != nil {
		return 0, 0, err
	}
	if tried+faults != int64(len(b.Entries)) {
		return 0, 0, fmt.Errorf("batch %d: %d of %d entries have a verdict or a fault", b.ID, tried+faults, len(b.Entries))
	}
	return tried, faults, nil
}

// count adds to the counts of the docket, and ends it with its last entry.
func (s *Store) count(ctx context.Context, t *tx, b *Batch, tried, faults int64) error {
	var left, remember int64
	if err := one(ctx, t, `UPDATE dockets SET tried = tried + $1, faults = faults + $2 WHERE id = $3 RETURNING cases - tried - faults, remember`,
		[]any{tried, faults, b.Docket.ID}, &left, &remember); err != nil || left > 0 {
		return err
	}
	if _, err := t.exec(ctx, `UPDATE dockets SET state = 'done', finished = $1 WHERE id = $2 AND state IN ('queued', 'running')`, s.now(), b.Docket.ID); err != nil {
		return err
	}
	if remember == 0 {
		return nil
	}
	return s.rememberDocket(ctx, t, b.Docket.ID)
}

// rememberDocket adds the verdicts of a docket to the casebook: known right answers, else what was decided; of a mistrial that it
// was seen.
func (s *Store) rememberDocket(ctx context.Context, t *tx, id int64) error {
	r := casebookRevision{Author: "", Created: at(s.now())}
	var suites string
	if err := one(ctx, t, `SELECT suites, submitter, repository FROM dockets WHERE id = $1`, []any{id}, &suites, &r.Author, &r.Repository); err != nil {
		return err
	}
	if err := parse(suites, &r.Suites); err != nil {
		return err
	}
	if err := each(ctx, t, `SELECT case_digest, members, truth, status, label, confidence FROM entries WHERE docket = $1 AND case_digest <> '' ORDER BY ordinal`,
		[]any{id}, func(scan func(...any) error) error {
			e := casebookEntry{Origin: "decided", Repository: r.Repository}
			var members, known string
			if err := scan(&e.Case, &members, &known, &e.Status, &e.Label, &e.Confidence); err != nil {
				return err
			}
			var truth trial.Truth
			var digests []string
			if err := errors.Join(parse(known, &truth), parse(members, &digests)); err != nil {
				return err
			}
			switch {
			case truth.Classification != "":
				e.Origin, e.Status, e.Label = "confirmed", "confirmed", truth.Classification
			case e.Status == string(trial.Mistrial):
				e.Status, e.Label, e.Confidence = "", "", 0
			}
			r.entries = append(r.entries, e)
			for _, digest := range digests {
				e.Case = digest
				r.entries = append(r.entries, e)
			}
			return nil
		}); err != nil {
		return err
	}
	_, err := t.logCasebook(ctx, r)
	return err
}

// Records reads the signed records that hold the trials of a docket, in the order of their ids.
func (s *Store) Records(ctx context.Context, docketID int64) ([]int64, error) {
	if _, err := s.Docket(ctx, docketID); err != nil {
		return nil, err
	}
	ids := []int64{}
	var w where
	w.add("e.docket = ?", docketID)
	w.add("v.record <> 0")
	// A docket may share a verdict with one of another repository, whose record has more trials.
	w.withinThe(ctx, `NOT EXISTS (SELECT 1 FROM verdicts o WHERE o.record = v.record AND NOT EXISTS
		(SELECT 1 FROM entries x WHERE x.case_digest = o.case_digest AND x.verdict = o.key AND x.repository IN (`, `)))`)
	err := each(ctx, s.db, `SELECT DISTINCT v.record FROM entries e JOIN verdicts v ON v.key = e.verdict`+w.text()+` ORDER BY v.record`, w.args, func(scan func(...any) error) error {
		var id int64
		err := scan(&id)
		ids = append(ids, id)
		return err
	})
	return ids, err
}

// Record reads a signed record.
func (s *Store) Record(ctx context.Context, id int64) ([]byte, error) {
	var body []byte
	if err := one(ctx, s.db, `SELECT body FROM records WHERE id = $1`, []any{id}, &body); err != nil {
		return nil, fmt.Errorf("record %d: %w", id, err)
	}
	return unpack(body, "a record")
}

package store

import (
	"context"
	"errors"
	"fmt"
	"time"

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

// BeginBatch gives a worker the next batch that waits, with the generation that is current now. ErrNotFound: none waits.
func (s *Store) BeginBatch(ctx context.Context, worker string) (*Batch, error) {
	b := &Batch{}
	var first, last int
	err := s.write(ctx, func(t *tx) (err error) {
		var docketID int64
		if err := one(ctx, t, `UPDATE batches SET state = 'running', attempt = attempt + 1, worker = $1, started = $2
			WHERE id = (SELECT id FROM batches WHERE state = 'queued' ORDER BY tag, id LIMIT 1`+t.db.skipLocked()+`)
			RETURNING id, docket, first, last, attempt`, []any{worker, s.now()}, &b.ID, &docketID, &first, &last, &b.Attempt); err != nil {
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
		t.run(ctx, `UPDATE batches SET generation = $1 WHERE id = $2`, b.Generation, b.ID)
		if b.Docket.State != Queued {
			return nil
		}
		b.Docket.State = Running
		t.run(ctx, `UPDATE dockets SET state = 'running' WHERE id = $1 AND state = 'queued'`, docketID)
		return t.notify(ctx, Event{EventDocket, docketID})
	})
	if err != nil {
		return nil, err
	}
	return b, s.db.snapshot(ctx, func(q querier) error { return b.read(ctx, q, first, last) })
}

// read reads the entries that have no verdict and no fault.
func (b *Batch) read(ctx context.Context, q querier, first, last int) (err error) {
	b.Entries, err = rowsOf(ctx, q, `SELECT ordinal, case_digest FROM entries
		WHERE docket = $1 AND ordinal >= $2 AND ordinal <= $3 AND verdict = '' AND fault = '' ORDER BY ordinal`,
		[]any{b.Docket.ID, int64(first), int64(last)}, func(scan scanner) (e BatchEntry, err error) {
			err = scan(&e.Ordinal, &e.Digest)
			return e, err
		})
	if err != nil {
		return err
	}
	cases, err := readCases(ctx, q, digestsOf(b.Entries))
	for i := range b.Entries {
		if err == nil {
			b.Entries[i].Case, err = cases.get(b.Entries[i].Digest)
		}
	}
	return err
}

func digestsOf(entries []BatchEntry) []string {
	digests := make([]string, len(entries))
	for i := range entries {
		digests[i] = entries[i].Digest
	}
	return digests
}

// Known says which cases of a batch have a verdict of this generation and configuration already.
func (s *Store) Known(ctx context.Context, b *Batch, configuration string) (map[string]bool, error) {
	known := map[string]bool{}
	if len(b.Entries) == 0 {
		return known, nil
	}
	var w where
	w.add("generation = ? AND configuration = ?", b.Generation, configuration)
	w.in("case_digest", anys(digestsOf(b.Entries)))
	list, err := rowsOf(ctx, s.db, `SELECT case_digest FROM verdicts`+w.text(), w.args, value[string])
	for _, digest := range list {
		known[digest] = true
	}
	return known, err
}

// Outcome is what came of a batch.
type Outcome struct {
	// Configuration is the digest of all that the verdicts depend on beside case and generation.
	Configuration string
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
	Alibi  *Alibi // the answer that it came with; nil for none
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

// CompleteBatch keeps what came of a worker's batch in one transaction: verdicts that are not there yet, the links of the entries to them,
// the record, the counts of the docket. ErrTaken or ErrEnded says that nothing was kept: another worker has the batch, or it was cancelled.
func (s *Store) CompleteBatch(ctx context.Context, b *Batch, worker string, o *Outcome) (err error) {
	kept, err := s.keeping(b, worker, o)
	if err != nil {
		return err
	}
	return s.write(ctx, func(t *tx) error {
		n, err := t.exec(ctx, `UPDATE batches SET state = 'done', finished = $1 WHERE id = $2 AND state = 'running' AND attempt = $3`,
			s.now(), b.ID, int64(b.Attempt))
		if err == nil && n == 0 {
			err = t.whoHas(ctx, b)
		}
		if err != nil {
			return err
		}
		return kept.in(ctx, t)
	})
}

// keeping is what came of a batch, ready to be kept in a transaction.
type keeping struct {
	store  *Store
	batch  *Batch
	of     *Outcome
	rows   []verdictRow
	record []byte // packed
}

func (s *Store) keeping(b *Batch, worker string, o *Outcome) (*keeping, error) {
	k := &keeping{s, b, o, make([]verdictRow, len(o.Verdicts)), pack(o.Record)}
	for i := range o.Verdicts {
		var err error
		if k.rows[i], err = s.verdictRow(b, worker, o, &o.Verdicts[i]); err != nil {
			return nil, err
		}
	}
	return k, nil
}

func (k *keeping) in(ctx context.Context, t *tx) error {
	b, o := k.batch, k.of
	if len(o.Record) > 0 {
		t.run(ctx, `INSERT INTO records (id, size, body, created) VALUES ($1, $2, $3, $4)`, b.ID, int64(len(o.Record)), k.record, k.store.now())
	}
	// In the order of the keys: two workers with the same cases wait for each other, and not in a circle.
	in := inserter{head: `INSERT INTO verdicts (key, case_digest, generation, configuration, status, label, confidence, light_label, light_confidence,
		beside_status, beside_label, beside_confidence, doubt, result, story, record, worker, micros, fuel, created, about) VALUES `, tail: ` ON CONFLICT DO NOTHING`}
	for _, row := range distinct(k.rows, func(r verdictRow) string { return r.key }) {
		in.add(ctx, t, row.columns...)
	}
	in.flush(ctx, t)
	t.lockDockets(ctx, []any{b.Docket.ID})
	if o.Rest > 0 {
		if err := t.split(ctx, b, o.Rest); err != nil {
			return err
		}
	}
	if err := k.store.link(ctx, t, b, o); err != nil {
		return err
	}
	return t.notify(ctx, Event{EventDocket, b.Docket.ID})
}

// whoHas says why a batch can't be completed.
func (t *tx) whoHas(ctx context.Context, b *Batch) error {
	var state string
	if err := one(ctx, t, `SELECT state FROM batches WHERE id = $1`, []any{b.ID}, &state); err != nil {
		return err
	}
	if state == "queued" || state == "running" {
		return fmt.Errorf("batch %d: %w", b.ID, ErrTaken)
	}
	return fmt.Errorf("batch %d: %w", b.ID, ErrEnded)
}

// verdictRow is a row of the table verdicts.
type verdictRow struct {
	key     string
	columns []any
}

func (s *Store) verdictRow(b *Batch, worker string, o *Outcome, v *NewVerdict) (verdictRow, error) {
	result, story, err := run.EncodeTrial(v.Trial)
	if err != nil {
		return verdictRow{}, err
	}
	r := &v.Trial.Result
	var light trial.Answer
	if r.Light != nil {
		light = *r.Light
	}
	var beside trial.Final
	if v.Trial.Beside != nil {
		beside = v.Trial.Beside.Result.Final
	}
	var record, fuel int64
	if len(o.Record) > 0 {
		record = b.ID
	}
	if r.Fuel != nil {
		fuel = int64(*r.Fuel)
	}
	label, doubt := r.Final.Classification, doubt(&r.Final)
	if v.Alibi != nil {
		label, doubt = v.Alibi.Label, v.Alibi.doubt(&r.Final)
	}
	key := verdictKey(v.Digest, b.Generation, o.Configuration)
	return verdictRow{key, []any{
		key, v.Digest, b.Generation, o.Configuration, string(r.Final.Status), text(label, maxName),
		r.Final.Confidence, text(light.Classification, maxName), light.Confidence, string(beside.Status), text(beside.Classification, maxName), beside.Confidence,
		doubt, pack(result), pack(story), record, worker, v.Took.Microseconds(), fuel, s.now(), text(v.Trial.Message(), maxName),
	}}, nil
}

// link gives entries their verdicts or faults, and counts them.
func (s *Store) link(ctx context.Context, t *tx, b *Batch, o *Outcome) error {
	if len(b.Entries) == 0 {
		return nil
	}
	first, last := int64(b.Entries[0].Ordinal), int64(b.Entries[len(b.Entries)-1].Ordinal)
	var tried, faults int64
	if err := t.retally(ctx, []int64{b.Docket.ID}, `e.docket = $1 AND e.ordinal >= $2 AND e.ordinal <= $3`, []any{b.Docket.ID, first, last}, func() (err error) {
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
	n, err := t.exec(ctx, `UPDATE dockets SET state = 'done', finished = $1 WHERE id = $2 AND state IN ('queued', 'running')`, s.now(), b.Docket.ID)
	if err == nil && n > 0 {
		err = t.tellDocket(ctx, b.Docket.ID, s.now())
	}
	if err != nil || remember == 0 {
		return err
	}
	return s.rememberDocket(ctx, t, b.Docket.ID)
}

// rememberDocket adds the verdicts of a docket to the casebook: known right answers, else what was decided; of a mistrial that it
// was seen.
func (s *Store) rememberDocket(ctx context.Context, t *tx, id int64) error {
	r := casebookRevision{Created: at(s.now())}
	if err := one(ctx, t, `SELECT suites, submitter, repository FROM dockets WHERE id = $1`, []any{id}, encoded{&r.Suites}, &r.Author, &r.Repository); err != nil {
		return err
	}
	if err := each(ctx, t, `SELECT case_digest, members, truth, status, label, confidence FROM entries WHERE docket = $1 AND case_digest <> '' ORDER BY ordinal`,
		[]any{id}, func(scan scanner) error {
			e := casebookEntry{Origin: "decided", Repository: r.Repository}
			var truth trial.Truth
			var digests []string
			if err := scan(&e.Case, encoded{&digests}, encoded{&truth}, &e.Status, &e.Label, &e.Confidence); err != nil {
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
	var w where
	w.add("e.docket = ?", docketID)
	w.add("v.record <> 0")
	// A docket may share a verdict with one of another repository, whose record has more trials.
	w.withinThe(ctx, `NOT EXISTS (SELECT 1 FROM verdicts o WHERE o.record = v.record AND NOT EXISTS
		(SELECT 1 FROM entries x WHERE x.case_digest = o.case_digest AND x.verdict = o.key AND x.repository IN (`, `)))`)
	return rowsOf(ctx, s.db, `SELECT DISTINCT v.record FROM entries e JOIN verdicts v ON v.key = e.verdict`+w.text()+` ORDER BY v.record`, w.args, value[int64])
}

// Record reads a signed record.
func (s *Store) Record(ctx context.Context, id int64) ([]byte, error) {
	var body []byte
	if err := one(ctx, s.db, `SELECT body FROM records WHERE id = $1`, []any{id}, &body); err != nil {
		return nil, fmt.Errorf("record %d: %w", id, err)
	}
	return unpack(body, "a record")
}

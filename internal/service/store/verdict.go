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

// ErrEnded: the case has a verdict or a fault already, or its docket has ended: there is nothing to try.
var ErrEnded = errors.New("there is nothing to try")

// Claim is a case that a worker tries with the generation that its job names.
type Claim struct {
	Docket     Docket
	Generation int64
	Ordinal    int
	Digest     string // of the case
	Case       abi.Case
}

// ID names the trial.
func (c *Claim) ID() TrialID { return TrialID{c.Docket.ID, c.Ordinal} }

// Untried is the fault of a case that workers could not try.
func (c *Claim) Untried() string {
	return fmt.Sprintf("case %q: not tried: %d workers failed or died before its trial was kept", c.Case.ID, MaxAttempts)
}

// BeginCase gives a worker the case of a job; ErrEnded where there is nothing to try.
func (s *Store) BeginCase(ctx context.Context, args CaseArgs) (*Claim, error) {
	c := &Claim{Generation: args.Generation, Ordinal: args.Ordinal}
	err := s.db.snapshot(ctx, func(q querier) (err error) {
		if c.Docket, err = readDocket(ctx, q, args.Docket); err != nil {
			return err
		}
		var verdict, fault string
		if err = one(ctx, q, `SELECT case_digest, verdict, fault FROM entries WHERE docket = $1 AND ordinal = $2`, []any{args.Docket, int64(args.Ordinal)},
			&c.Digest, &verdict, &fault); err != nil {
			return err
		}
		if c.Docket.State.Ended() || verdict+fault != "" {
			return ErrEnded
		}
		cases, err := readCases(ctx, q, []string{c.Digest})
		if err == nil {
			c.Case, err = cases.get(c.Digest)
		}
		return err
	})
	if isNotFound(err) { // retention removed it
		return nil, fmt.Errorf("trial %s: %w", c.ID(), ErrEnded)
	}
	if err != nil {
		return nil, fmt.Errorf("trial %s: %w", c.ID(), err)
	}
	if c.Docket.State == Queued {
		err = s.write(ctx, func(t *tx) error {
			n, err := t.exec(ctx, `UPDATE dockets SET state = 'running' WHERE id = $1 AND state = 'queued'`, args.Docket)
			if err == nil && n > 0 {
				err = t.notify(ctx, Event{EventDocket, args.Docket})
			}
			return err
		})
	}
	return c, err
}

// Known says whether a case has a verdict of its generation and a configuration already.
func (s *Store) Known(ctx context.Context, c *Claim, configuration string) (bool, error) {
	var n int
	err := one(ctx, s.db, `SELECT count(*) FROM verdicts WHERE key = $1`, []any{verdictKey(c.Digest, c.Generation, configuration)}, &n)
	return n > 0, err
}

// Outcome is what came of a case.
type Outcome struct {
	// Configuration is the digest of all that the verdict depends on beside case and generation.
	Configuration string
	// Verdict is nil where there is one already, and where Fault says why the case could not be tried.
	Verdict *NewVerdict
	Fault   string
	// Record is the signed record of the trial; nil for none.
	Record []byte
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

// CompleteCase keeps what came of a worker's case in one transaction: the verdict if there is none yet, the link of the entry to it, the record,
// the counts of the docket. ErrEnded says that nothing was kept: another worker was first, or the docket was cancelled.
func (s *Store) CompleteCase(ctx context.Context, c *Claim, worker string, o *Outcome) error {
	k := &keeping{store: s, docket: c.Docket.ID, generation: c.Generation, first: c.Ordinal, last: c.Ordinal, configuration: o.Configuration, fault: o.Fault}
	if o.Verdict != nil {
		if err := k.add(worker, o.Verdict); err != nil {
			return err
		}
	}
	k.record, k.size = pack(o.Record), int64(len(o.Record))
	return s.write(ctx, func(t *tx) error { return k.in(ctx, t) })
}

// keeping is what came of entries of a docket that have neither verdict nor fault, ready to be kept in a transaction.
type keeping struct {
	store              *Store
	docket, generation int64
	first, last        int // ordinals
	configuration      string
	fault              string // of all
	rows               []verdictRow
	record             []byte // packed
	size               int64  // of the record; 0 for none
}

func (k *keeping) add(worker string, v *NewVerdict) error {
	row, err := k.store.verdictRow(k.generation, worker, k.configuration, v)
	k.rows = append(k.rows, row)
	return err
}

func (k *keeping) in(ctx context.Context, t *tx) error {
	rows := distinct(k.rows, func(r verdictRow) string { return r.key })
	var record int64
	if k.size > 0 {
		if err := one(ctx, t, `INSERT INTO records (size, body, created) VALUES ($1, $2, $3) RETURNING id`, []any{k.size, k.record, k.store.now()}, &record); err != nil {
			return err
		}
	}
	// In the order of the keys: two transactions with the same cases wait for each other, and not in a circle.
	in := inserter{head: `INSERT INTO verdicts (key, case_digest, generation, configuration, status, label, confidence, light_label, light_confidence,
		beside_status, beside_label, beside_confidence, doubt, result, story, worker, micros, fuel, created, about, record) VALUES `, tail: ` ON CONFLICT DO NOTHING`}
	for _, row := range rows {
		in.add(ctx, t, append(row.columns, record)...)
	}
	in.flush(ctx, t)
	if record != 0 && in.added == 0 {
		t.run(ctx, `DELETE FROM records WHERE id = $1`, record) // the verdict that is there has its own
	}
	t.lockDockets(ctx, []any{k.docket})
	d, err := readDocket(WithoutLimit(ctx), t, k.docket)
	if isNotFound(err) || err == nil && d.State.Ended() {
		err = fmt.Errorf("docket %d: %w", k.docket, ErrEnded)
	}
	if err != nil {
		return err
	}
	if err := k.link(ctx, t); err != nil {
		return err
	}
	return t.notify(ctx, Event{EventDocket, k.docket})
}

// verdictRow is a row of the table verdicts, but for its record.
type verdictRow struct {
	key     string
	columns []any
}

func (s *Store) verdictRow(generation int64, worker, configuration string, v *NewVerdict) (verdictRow, error) {
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
	var fuel int64
	if r.Fuel != nil {
		fuel = int64(*r.Fuel)
	}
	label, doubt := r.Final.Classification, doubt(&r.Final)
	if v.Alibi != nil {
		label, doubt = v.Alibi.Label, v.Alibi.doubt(&r.Final)
	}
	key := verdictKey(v.Digest, generation, configuration)
	return verdictRow{key, []any{
		key, v.Digest, generation, configuration, string(r.Final.Status), text(label, maxName),
		r.Final.Confidence, text(light.Classification, maxName), light.Confidence, string(beside.Status), text(beside.Classification, maxName), beside.Confidence,
		doubt, pack(result), pack(story), worker, v.Took.Microseconds(), fuel, s.now(), text(v.Trial.Message(), maxName),
	}}, nil
}

// link gives the entries their verdicts or the fault, and counts them. ErrEnded: they have one.
func (k *keeping) link(ctx context.Context, t *tx) error {
	first, last, now := int64(k.first), int64(k.last), k.store.now()
	var tried, faults int64
	if err := t.retally(ctx, []int64{k.docket}, `e.docket = $1 AND e.ordinal >= $2 AND e.ordinal <= $3`, []any{k.docket, first, last}, func() (err error) {
		if k.fault != "" {
			faults, err = t.exec(ctx, `UPDATE entries SET fault = $1, generation = $2, tried = $3
				WHERE docket = $4 AND ordinal >= $5 AND ordinal <= $6 AND verdict = '' AND fault = ''`, text(k.fault, maxText), k.generation, now, k.docket, first, last)
			return err
		}
		tried, err = t.exec(ctx, `UPDATE entries SET verdict = v.key, generation = v.generation, status = v.status, label = v.label,
			confidence = v.confidence, light_label = v.light_label, light_confidence = v.light_confidence,
			beside_status = v.beside_status, beside_label = v.beside_label, beside_confidence = v.beside_confidence,
			doubt = v.doubt, about = v.about, tried = $1
			FROM verdicts v
			WHERE entries.docket = $2 AND entries.ordinal >= $3 AND entries.ordinal <= $4 AND entries.verdict = '' AND entries.fault = ''
				AND v.case_digest = entries.case_digest AND v.generation = $5 AND v.configuration = $6`, now, k.docket, first, last, k.generation, k.configuration)
		return err
	}); err != nil {
		return err
	}
	if n := int64(k.last - k.first + 1); tried+faults != n {
		return fmt.Errorf("docket %d: %d of %d entries are linked: %w", k.docket, tried+faults, n, ErrEnded)
	}
	return k.count(ctx, t, tried, faults)
}

// count adds to the counts of the docket, and ends it with its last entry.
func (k *keeping) count(ctx context.Context, t *tx, tried, faults int64) error {
	var left, remember int64
	if err := one(ctx, t, `UPDATE dockets SET tried = tried + $1, faults = faults + $2 WHERE id = $3 RETURNING cases - tried - faults, remember`,
		[]any{tried, faults, k.docket}, &left, &remember); err != nil || left > 0 {
		return err
	}
	now := k.store.now()
	t.run(ctx, `UPDATE dockets SET state = 'done', finished = $1 WHERE id = $2`, now, k.docket)
	if err := t.postDocket(ctx, k.docket, now); err != nil || remember == 0 {
		return err
	}
	return k.store.rememberDocket(ctx, t, k.docket)
}

// rememberDocket adds the verdicts of a docket to the casebook: known right answers, else what was decided; of a mistrial that it was seen.
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

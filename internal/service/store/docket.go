package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/casebook"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/internal/run"
)

// State of a docket.
type State string

// The states. Dockets that are being received are shown to nobody.
const (
	Receiving State = "receiving"
	Queued    State = "queued"
	Running   State = "running"
	Done      State = "done"
	Failed    State = "failed" // it could not be tried to the end
	Cancelled State = "cancelled"
)

// Ended says whether a docket in this state has all the trials that it will have.
func (s State) Ended() bool { return s == Done || s == Failed || s == Cancelled }

// Docket is a docket that was submitted. Its JSON, and that of the other rows with tags, is what the API shows.
type Docket struct {
	ID         int64  `json:"id" minimum:"1" doc:"ID of the docket"`
	Submitter  string `json:"submitter" doc:"Who submitted it"`
	Name       string `json:"name,omitempty" doc:"Name that the submitter gave, such as a file"`
	Repository string `json:"repository,omitempty" doc:"Repository of the code under test"`
	Revision   string `json:"revision,omitempty" doc:"Revision of the code under test"`
	Format     string `json:"format" enum:"jsonl,gotest,junit,reportportal,dotnet,results,alibi" doc:"Format of the report; of results that a run pushed, results or alibi"`
	State      State  `json:"state" enum:"queued,running,done,failed,cancelled" doc:"How far the docket is"`
	// Generation is 0 for a docket whose trials were pushed, or held by several.
	Generation int64     `json:"generation,omitempty" minimum:"1" doc:"Generation of modules that tries the docket; absent where its trials were pushed"`
	Casebook   int64     `json:"casebook" minimum:"0" doc:"Revision of the casebook that its trials see"`
	Cases      int       `json:"cases" minimum:"0" doc:"Entries, those included that could not be read"`
	Tried      int       `json:"tried" minimum:"0" doc:"Entries with a result"`
	Faults     int       `json:"faults" minimum:"0" doc:"Entries that could not be read or tried"`
	Created    time.Time `json:"created" doc:"When it was submitted"`
	Finished   time.Time `json:"finished,omitzero" doc:"When it ended"`

	// Answered: Light's answers came with the cases, as earlier versions of this program could send them.
	Answered bool `json:"-"`
	// Key is the idempotency key, empty for none; BodyDigest the hexadecimal SHA-256 of the body that was sent.
	Key, BodyDigest string `json:"-"`
	// Remember adds the verdicts to the casebook when all cases are tried.
	Remember bool `json:"-"`
	// Traceparent is the span of the submission in the form of that header, empty for none.
	Traceparent string `json:"-"`
}

const docketColumns = `id, submitter, name, repository, revision, format, coalesce(idempotency_key, ''), body_digest, generation, casebook,
	remember, state, cases, tried, faults, created, finished, traceparent, answered`

func scanDocket(scan scanner) (d Docket, err error) {
	err = scan(&d.ID, &d.Submitter, &d.Name, &d.Repository, &d.Revision, &d.Format, &d.Key, &d.BodyDigest, &d.Generation, &d.Casebook,
		&d.Remember, &d.State, &d.Cases, &d.Tried, &d.Faults, moment{&d.Created}, moment{&d.Finished}, &d.Traceparent, &d.Answered)
	return d, err
}

// Docket reads a docket; ErrNotFound where there is none, or it is not received yet.
func (s *Store) Docket(ctx context.Context, id int64) (Docket, error) {
	return readDocket(ctx, s.db, id)
}

func readDocket(ctx context.Context, q querier, id int64) (Docket, error) {
	what := fmt.Sprintf("docket %d", id)
	d, err := rowOf(ctx, q, what, `SELECT `+docketColumns+` FROM dockets WHERE id = $1 AND state <> 'receiving'`, []any{id}, scanDocket)
	if err == nil && !sees(ctx, d.Repository) {
		return Docket{}, fmt.Errorf("%s: %w", what, ErrNotFound)
	}
	return d, err
}

// DocketFilter selects dockets. Zero fields select all.
type DocketFilter struct {
	Submitter, Repository string
	State                 State
	// Text is looked for in names, repositories and revisions, without regard to case.
	Text string
	// Before gives only dockets with smaller ids: the ID of the last one of the page before.
	Before int64
	// Limit is the most dockets to give; 0: 50, and at most 500.
	Limit int
}

// Dockets lists dockets, the latest first.
func (s *Store) Dockets(ctx context.Context, f DocketFilter) ([]Docket, error) {
	w := where{}
	w.add(`state <> 'receiving'`)
	w.within(ctx, "repository")
	w.equal("submitter", f.Submitter)
	w.equal("repository", f.Repository)
	w.equal("state", string(f.State))
	if f.Text != "" {
		w.contains(s.db, "lower(name || ' ' || repository || ' ' || revision)", f.Text)
	}
	w.before(f.Before)
	return rowsOf(ctx, s.db, `SELECT `+docketColumns+` FROM dockets`+w.text()+` ORDER BY id DESC`+w.limit(f.Limit, 50, 500), w.args, scanDocket)
}

// Repositories are the names that dockets have given, sorted: at most 1,000.
func (s *Store) Repositories(ctx context.Context) ([]string, error) {
	var w where
	w.add(`state <> 'receiving' AND repository <> ''`)
	w.within(ctx, "repository")
	return rowsOf(ctx, s.db, `SELECT DISTINCT repository FROM dockets`+w.text()+` ORDER BY repository LIMIT 1000`, w.args, value[string])
}

// Cancel ends a docket: cases that wait are not tried, and trials that go on are cancelled. It keeps its trials. A docket
// that has ended is ErrState.
func (s *Store) Cancel(ctx context.Context, id int64) error {
	return s.write(ctx, func(t *tx) error {
		n, err := t.exec(ctx, `UPDATE dockets SET state = 'cancelled', finished = $1 WHERE id = $2 AND state IN ('queued', 'running')`, s.now(), id)
		if err != nil {
			return err
		}
		if n == 0 {
			d, err := readDocket(ctx, t, id)
			if err == nil {
				err = fmt.Errorf("docket %d is %s: %w", id, d.State, ErrState)
			}
			return err
		}
		d, err := readDocket(ctx, t, id)
		if err != nil {
			return err
		}
		if err := t.cancelCases(ctx, &d); err != nil {
			return err
		}
		if err := t.postDocket(ctx, id, s.now()); err != nil {
			return err
		}
		return t.notify(ctx, Event{EventDocket, id})
	})
}

// Submission is what a docket is submitted with.
type Submission struct {
	Submitter                  string
	Name, Repository, Revision string
	Format                     string
	// Key is the idempotency key of the submitter: with the same key and body there is one docket. Optional.
	Key string
	// Generation is the one that tries the docket; 0: the one that is in force when it is received. One that is not there is ErrNotFound.
	Generation int64
	// Remember adds the verdicts to the casebook when all cases are tried.
	Remember bool
	// Traceparent is the span of the submission in the form of that header. Optional.
	Traceparent string
}

// Limits of a submission.
const (
	// MaxEntries is the most entries of a docket.
	MaxEntries = 100_000
	// maxMembers is the most cases that one entry stands for.
	maxMembers = 100_000
	// chunkEntries and chunkBytes bound one transaction of an upload.
	chunkEntries = 500
	chunkBytes   = 16 << 20
)

// Upload receives the entries of a docket. Nobody sees the docket before [Upload.Finish]. Not safe for concurrent use. Call
// [Upload.Abort] in any case.
type Upload struct {
	store    *Store
	sent     Submission
	id       int64
	created  int64
	ordinal  int
	faults   int
	finished bool
	open     []int // ordinals of the entries that can be tried

	// What waits to be inserted: rows of entries, cases with those of members, and rows that say which entries the latter are of.
	rows, members [][]any
	cases         []storedCase
	bytes         int64
	// results are the trials that come with the entries, in their order; nil where they are tried here.
	results []NewVerdict
}

// Submit begins an upload.
func (s *Store) Submit(ctx context.Context, sent Submission) (*Upload, error) {
	for _, field := range []*string{&sent.Submitter, &sent.Name, &sent.Repository, &sent.Revision, &sent.Format, &sent.Key, &sent.Traceparent} {
		*field = text(*field, maxName)
	}
	u := &Upload{store: s, sent: sent, created: s.now()}
	err := s.write(ctx, func(t *tx) error {
		if sent.Generation != 0 {
			if _, err := readGeneration(ctx, t, sent.Generation); err != nil {
				return err
			}
		}
		return one(ctx, t, `INSERT INTO dockets (submitter, name, repository, revision, format, body_digest, generation, casebook, remember,
			suites, state, cases, tried, faults, created, finished, touched, traceparent, answered)
			VALUES ($1, $2, $3, $4, $5, '', $6, 0, $7, '', 'receiving', 0, 0, 0, $8, 0, $8, $9, 0) RETURNING id`,
			[]any{
				sent.Submitter, sent.Name, sent.Repository, sent.Revision, sent.Format, sent.Generation, number(sent.Remember), u.created, sent.Traceparent,
			}, &u.id)
	})
	if err != nil {
		return nil, err
	}
	return u, nil
}

// Add adds the next entry of the docket; with a fault, one that could not be read. ErrTooLarge says that the docket or the case
// has more than a store takes.
func (u *Upload) Add(ctx context.Context, entry *docket.Entry, fault error) error {
	_, err := u.add(ctx, entry, "", fault)
	return err
}

// AddTried adds the next entry with its trial, which was held elsewhere. All entries of a docket have one, or none.
func (u *Upload) AddTried(ctx context.Context, entry *docket.Entry, v NewVerdict) error {
	answer, err := v.Alibi.column()
	if err == nil {
		v.Digest, err = u.add(ctx, entry, answer, nil)
	}
	u.results = append(u.results, v)
	return err
}

// add adds an entry with an answer of the alibi, and gives the digest of its case.
func (u *Upload) add(ctx context.Context, entry *docket.Entry, answer string, fault error) (digest string, err error) {
	if u.ordinal >= MaxEntries {
		return "", fmt.Errorf("%w: a docket has at most %d cases", ErrTooLarge, MaxEntries)
	}
	if len(entry.Members) > maxMembers {
		return "", fmt.Errorf("%w: case %q stands for %d cases, and %d are allowed", ErrTooLarge, entry.Case.ID, len(entry.Members), maxMembers)
	}
	u.ordinal++
	if fault != nil {
		u.faults++
		u.addRow(&docket.Entry{Source: entry.Source, Line: entry.Line}, "", nil, "", text(fault.Error(), maxText))
	} else {
		c, err := u.addCase(&entry.Case)
		if err != nil {
			return "", err
		}
		u.open = append(u.open, u.ordinal)
		var members []string
		for i := range entry.Members {
			m, err := u.addCase(&entry.Members[i])
			if err != nil {
				return "", err
			}
			members = append(members, m.digest)
			u.members = append(u.members, []any{m.digest, u.id, int64(u.ordinal)})
		}
		digest = c.digest
		u.addRow(entry, digest, members, answer, "")
	}
	if len(u.rows) < chunkEntries && u.bytes < chunkBytes {
		return digest, nil
	}
	return digest, u.flush(ctx)
}

func (u *Upload) addCase(c *abi.Case) (storedCase, error) {
	stored, err := splitCase(c)
	if err != nil {
		return stored, fmt.Errorf("case %q: %w", c.ID, err)
	}
	u.cases = append(u.cases, stored)
	u.bytes += stored.size
	return stored, nil
}

// addRow adds an entry that has no trial yet.
func (u *Upload) addRow(e *docket.Entry, digest string, members []string, answer, fault string) {
	truth, known, names, labels, grp := "", "", "", "", ""
	c := &e.Case
	if fault == "" {
		labels, grp = list(c.Labels), u.group(c, digest)
	}
	if e.Truth != nil {
		truth, known = object(e.Truth), text(e.Truth.Classification, maxName) // as results have labels
	}
	if len(e.LabelNames) > 0 {
		names = object(e.LabelNames)
	}
	words := strings.ToLower(text(c.ID+" "+c.Subject+" "+c.Group+" "+u.sent.Name, maxText))
	u.rows = append(u.rows, []any{
		u.id, int64(u.ordinal), digest, list(members), truth, known, names, text(e.Source, maxName), int64(e.Line),
		text(c.ID, maxName), text(c.Subject, maxName), text(c.Group, maxName), labels, int64(len(members)), grp, words,
		u.sent.Repository, u.created, fault,
		"", int64(0), "", "", float64(0), "", float64(0), "", "", float64(0), float64(0), int64(0), int64(0), "", "", answer,
	})
}

// flush inserts what waits.
func (u *Upload) flush(ctx context.Context) error {
	if len(u.rows) == 0 {
		return nil
	}
	now := u.store.now()
	err := u.store.write(ctx, func(t *tx) error {
		n, err := t.exec(ctx, `UPDATE dockets SET touched = $1 WHERE id = $2 AND state = 'receiving'`, now, u.id)
		if err != nil {
			return err
		}
		if n == 0 {
			return fmt.Errorf("the upload was given up after a pause: %w", ErrState)
		}
		if err := t.insertCases(ctx, u.cases, now); err != nil {
			return err
		}
		in := inserter{head: `INSERT INTO entries (docket, ordinal, case_digest, members, truth, known, label_names, source, line,
			case_id, subject, suite, labels, member_count, grp, words, repository, created, fault,
			verdict, generation, status, label, confidence, light_label, light_confidence, beside_status, beside_label, beside_confidence, doubt, tried,
			correction, corrected, about, alibi) VALUES `}
		for _, r := range u.rows {
			in.add(ctx, t, r...)
		}
		in.flush(ctx, t)
		in = inserter{head: `INSERT INTO entry_members (case_digest, docket, ordinal) VALUES `, tail: ` ON CONFLICT DO NOTHING`}
		for _, r := range u.members {
			in.add(ctx, t, r...)
		}
		in.flush(ctx, t)
		return nil
	})
	if err != nil {
		return err
	}
	u.rows, u.members, u.cases, u.bytes = nil, nil, nil, 0
	return nil
}

// group is equal for failures of one kind, those that the rules put together or that have the same fingerprint, with the same labels: what is
// right of one is an answer to all.
func (u *Upload) group(c *abi.Case, digest string) string {
	kind := run.GroupKey(c)
	if kind == "" {
		kind = casebook.Take(run.Failure(c)).Exact
	}
	if kind == "" {
		return digest
	}
	return digestOf([]byte(list(slices.Sorted(slices.Values(c.Labels))) + kind))
}

// Finish makes the docket visible and queues its cases. bodyDigest is the hexadecimal SHA-256 of what was sent, suites are those
// in which nothing failed, for Submission.Remember. If there is a docket with the same key and body already, that is given, with
// created false; with the same key and another body the error is ErrKeyReused.
func (u *Upload) Finish(ctx context.Context, bodyDigest string, suites []string) (d Docket, created bool, err error) {
	return u.finish(ctx, bodyDigest, func(t *tx) error { return u.queue(ctx, t, bodyDigest, suites) })
}

// FinishTried is Finish for entries with their trials. record is the signed record that has the trials; nil for none.
func (u *Upload) FinishTried(ctx context.Context, bodyDigest string, record []byte) (d Docket, created bool, err error) {
	k := &keeping{
		store: u.store, docket: u.id, first: 1, last: u.ordinal, configuration: "pushed as docket " + strconv.FormatInt(u.id, 10),
		record: pack(record), size: int64(len(record)),
	}
	for i := range u.results {
		if err := k.add("", &u.results[i]); err != nil {
			return Docket{}, false, err
		}
	}
	return u.finish(ctx, bodyDigest, func(t *tx) error {
		if err := u.show(ctx, t, bodyDigest, nil, Running, 0); err != nil {
			return err
		}
		if u.ordinal == 0 {
			return k.count(ctx, t, 0, 0)
		}
		return k.in(ctx, t)
	})
}

// finish makes the docket visible by do, unless there is one with its key.
func (u *Upload) finish(ctx context.Context, bodyDigest string, do func(*tx) error) (d Docket, created bool, err error) {
	if err := u.flush(ctx); err != nil {
		return Docket{}, false, err
	}
	if d, err := u.store.byKey(ctx, u.sent.Submitter, u.sent.Key, bodyDigest); !isNotFound(err) {
		return d, false, err
	}
	err = u.store.write(ctx, func(t *tx) error {
		if err := do(t); err != nil {
			return err
		}
		d, err = readDocket(ctx, t, u.id)
		return err
	})
	if err != nil && u.sent.Key != "" {
		// Another upload with this key may have come first.
		if d, byKey := u.store.byKey(ctx, u.sent.Submitter, u.sent.Key, bodyDigest); !isNotFound(byKey) {
			return d, false, byKey
		}
	}
	if err != nil {
		return Docket{}, false, err
	}
	u.finished = true
	return d, true, nil
}

// byKey gives the docket with an idempotency key; ErrNotFound for none, ErrKeyReused for another body.
func (s *Store) byKey(ctx context.Context, submitter, key, bodyDigest string) (Docket, error) {
	if key == "" {
		return Docket{}, ErrNotFound
	}
	var id int64
	if err := one(ctx, s.db, `SELECT id FROM dockets WHERE submitter = $1 AND idempotency_key = $2`, []any{submitter, key}, &id); err != nil {
		return Docket{}, err
	}
	d, err := readDocket(WithoutLimit(ctx), s.db, id) // the digest is also that of the repository
	if err == nil && d.BodyDigest != bodyDigest {
		return Docket{}, fmt.Errorf("docket %d: %w", id, ErrKeyReused)
	}
	return d, err
}

// queue turns the upload into a docket, and queues its cases with its generation: the one that it is pinned to, or that is in force now.
func (u *Upload) queue(ctx context.Context, t *tx, bodyDigest string, suites []string) error {
	state, finished := Queued, int64(0)
	if len(u.open) == 0 {
		state, finished = Done, u.store.now()
	}
	if err := u.show(ctx, t, bodyDigest, suites, state, finished); err != nil {
		return err
	}
	t.run(ctx, `UPDATE dockets SET generation = (SELECT value FROM counters WHERE name = 'generation') WHERE id = $1 AND generation = 0`, u.id)
	d, err := readDocket(WithoutLimit(ctx), t, u.id)
	if err == nil {
		err = t.queueCases(ctx, &d, u.open)
	}
	if err == nil && state == Done {
		err = t.postDocket(ctx, u.id, finished)
	}
	if err != nil {
		return err
	}
	return t.notify(ctx, Event{EventDocket, u.id})
}

// show turns the upload into a docket in a state.
func (u *Upload) show(ctx context.Context, t *tx, bodyDigest string, suites []string, state State, finished int64) error {
	var key any // NULL for none: unique indexes leave it alone
	if u.sent.Key != "" {
		key = u.sent.Key
	}
	n, err := t.exec(ctx, `UPDATE dockets SET idempotency_key = $1, body_digest = $2, suites = $3, state = $4, cases = $5, faults = $6,
		casebook = (SELECT value FROM counters WHERE name = 'casebook'), finished = $7, touched = $8 WHERE id = $9 AND state = 'receiving'`,
		key, bodyDigest, list(suites), string(state), int64(u.ordinal), int64(u.faults), finished, u.store.now(), u.id)
	if err == nil && n == 0 {
		err = fmt.Errorf("the upload was given up after a pause: %w", ErrState)
	}
	return err
}

// Abort removes an upload that did not come to its end. After Finish has made the docket, it does nothing.
func (u *Upload) Abort(ctx context.Context) error {
	if u.finished {
		return nil
	}
	u.finished = true
	return u.store.removeUpload(ctx, u.id)
}

func (s *Store) removeUpload(ctx context.Context, id int64) error {
	return s.write(ctx, func(t *tx) error {
		n, err := t.exec(ctx, `DELETE FROM dockets WHERE id = $1 AND state = 'receiving'`, id)
		if n > 0 {
			t.run(ctx, `DELETE FROM entries WHERE docket = $1`, id)
			t.run(ctx, `DELETE FROM entry_members WHERE docket = $1`, id)
		}
		return err
	})
}

// RemoveStaleUploads removes uploads of which nothing came for some time: their processes are gone. Their cases go with the next retention.
func (s *Store) RemoveStaleUploads(ctx context.Context, after time.Duration) error {
	ids, err := rowsOf(ctx, s.db, `SELECT id FROM dockets WHERE state = 'receiving' AND touched < $1`, []any{s.now() - after.Microseconds()}, value[int64])
	for _, id := range ids {
		err = errors.Join(err, s.removeUpload(ctx, id))
	}
	return err
}

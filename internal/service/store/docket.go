package store

import (
	"context"
	"fmt"
	"time"
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
		flag{&d.Remember}, &d.State, &d.Cases, &d.Tried, &d.Faults, moment{&d.Created}, moment{&d.Finished}, &d.Traceparent, flag{&d.Answered})
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
		if err := t.tellDocket(ctx, id, s.now()); err != nil {
			return err
		}
		return t.notify(ctx, Event{EventDocket, id})
	})
}

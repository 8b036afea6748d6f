package store

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/rivermigrate"
	"github.com/riverqueue/river/rivertype"
)

// A migration is a change of the tables; once released it stays as it is.
type migration struct {
	name       string
	statements []string // before then
	then       func(context.Context, *tx) error
}

// firstVersion is that of the first entry of migrations. Those before it, one for each step of the development, are in it.
const firstVersion = 21

// migrations in their order. Times are microseconds since 1970 in UTC, digests are hexadecimal SHA-256, lists are JSON. Empty
// texts and zeros stand for what is not there, so that both databases read them the same.
var migrations = []migration{
	{name: "21 first release", statements: []string{
		// The texts of documents over 4 KiB, and everything else of cases. touched is when a submission last needed the row.
		`CREATE TABLE documents (digest TEXT PRIMARY KEY, size BIGINT NOT NULL, body {bytes} NOT NULL, touched BIGINT NOT NULL)`,
		`CREATE TABLE cases (digest TEXT PRIMARY KEY, size BIGINT NOT NULL, body {bytes} NOT NULL, touched BIGINT NOT NULL)`,
		`CREATE TABLE case_documents (
			case_digest TEXT NOT NULL, place BIGINT NOT NULL, document TEXT NOT NULL, PRIMARY KEY (case_digest, place))`,
		`CREATE INDEX case_documents_document ON case_documents (document)`,
		// traceparent is the span of the submission, as the header of that name has it: workers continue its trace. answered: Light's
		// answers came with the cases.
		`CREATE TABLE dockets (
			id {id}, submitter TEXT NOT NULL, name TEXT NOT NULL, repository TEXT NOT NULL, revision TEXT NOT NULL,
			format TEXT NOT NULL, idempotency_key TEXT, body_digest TEXT NOT NULL, generation BIGINT NOT NULL,
			casebook BIGINT NOT NULL, remember BIGINT NOT NULL, suites TEXT NOT NULL, state TEXT NOT NULL,
			cases BIGINT NOT NULL, tried BIGINT NOT NULL, faults BIGINT NOT NULL,
			created BIGINT NOT NULL, finished BIGINT NOT NULL, touched BIGINT NOT NULL, traceparent TEXT NOT NULL, answered BIGINT NOT NULL)`,
		`CREATE UNIQUE INDEX dockets_key ON dockets (submitter, idempotency_key)`,
		`CREATE INDEX dockets_state ON dockets (state, touched)`,
		`CREATE INDEX dockets_finished ON dockets (finished)`,
		// The cases of dockets in their order, with what is listed and searched of cases and verdicts. known is the label of truth, about what
		// says most about the failure, such as the first line of its message; empty until it was tried.
		`CREATE TABLE entries (
			docket BIGINT NOT NULL, ordinal BIGINT NOT NULL, case_digest TEXT NOT NULL, members TEXT NOT NULL,
			truth TEXT NOT NULL, known TEXT NOT NULL, label_names TEXT NOT NULL, source TEXT NOT NULL, line BIGINT NOT NULL,
			case_id TEXT NOT NULL, subject TEXT NOT NULL, suite TEXT NOT NULL, labels TEXT NOT NULL, member_count BIGINT NOT NULL,
			grp TEXT NOT NULL, words TEXT NOT NULL, repository TEXT NOT NULL, created BIGINT NOT NULL,
			verdict TEXT NOT NULL, fault TEXT NOT NULL, generation BIGINT NOT NULL, status TEXT NOT NULL,
			label TEXT NOT NULL, confidence DOUBLE PRECISION NOT NULL, light_label TEXT NOT NULL,
			light_confidence DOUBLE PRECISION NOT NULL, beside_status TEXT NOT NULL, beside_label TEXT NOT NULL,
			beside_confidence DOUBLE PRECISION NOT NULL, doubt DOUBLE PRECISION NOT NULL, tried BIGINT NOT NULL,
			correction BIGINT NOT NULL, corrected TEXT NOT NULL, about TEXT NOT NULL, alibi TEXT NOT NULL,
			PRIMARY KEY (docket, ordinal))`,
		`CREATE INDEX entries_group ON entries (grp, created)`,
		`CREATE INDEX entries_case ON entries (case_digest)`,
		`CREATE INDEX entries_corrected ON entries (created) WHERE correction <> 0`,
		// The columns behind the key are what the inbox is filtered by and counts, so that it reads no rows.
		`CREATE INDEX entries_inbox ON entries (grp, docket DESC, ordinal, repository, label, status, correction, created, doubt, member_count) WHERE ` + needsPerson,
		// A search reads the rows that need a person in their order.
		`CREATE INDEX entries_waiting ON entries (docket) WHERE ` + needsPerson,
		`CREATE INDEX entries_flipped ON entries (generation, docket DESC, ordinal) WHERE ` + flipped,
		// Which entries stand for further cases: those are kept as long as the entries are.
		`CREATE TABLE entry_members (case_digest TEXT NOT NULL, docket BIGINT NOT NULL, ordinal BIGINT NOT NULL, PRIMARY KEY (case_digest, docket, ordinal))`,
		`CREATE INDEX entry_members_docket ON entry_members (docket)`,
		// key is the digest of case, generation and configuration.
		`CREATE TABLE verdicts (
			key TEXT PRIMARY KEY, case_digest TEXT NOT NULL, generation BIGINT NOT NULL, configuration TEXT NOT NULL,
			status TEXT NOT NULL, label TEXT NOT NULL, confidence DOUBLE PRECISION NOT NULL, light_label TEXT NOT NULL,
			light_confidence DOUBLE PRECISION NOT NULL, beside_status TEXT NOT NULL, beside_label TEXT NOT NULL,
			beside_confidence DOUBLE PRECISION NOT NULL, doubt DOUBLE PRECISION NOT NULL, result {bytes} NOT NULL, story {bytes} NOT NULL,
			record BIGINT NOT NULL, worker TEXT NOT NULL, micros BIGINT NOT NULL, fuel BIGINT NOT NULL, created BIGINT NOT NULL, about TEXT NOT NULL)`,
		`CREATE UNIQUE INDEX verdicts_once ON verdicts (case_digest, generation, configuration)`,
		`CREATE INDEX verdicts_record ON verdicts (record)`,
		`CREATE TABLE records (id {id}, size BIGINT NOT NULL, body {bytes} NOT NULL, created BIGINT NOT NULL)`,
		// See retally. confidence is in hundredths, stated the sum of the confidences; both are 0 where truth or label is empty.
		`CREATE TABLE tallies (
			docket BIGINT NOT NULL, generation BIGINT NOT NULL, status TEXT NOT NULL, label TEXT NOT NULL, light TEXT NOT NULL,
			truth TEXT NOT NULL, corrected BIGINT NOT NULL, open BIGINT NOT NULL, confidence BIGINT NOT NULL,
			entries BIGINT NOT NULL, stated DOUBLE PRECISION NOT NULL, micros BIGINT NOT NULL, fuel BIGINT NOT NULL,
			PRIMARY KEY (docket, generation, status, label, light, truth, corrected, open, confidence))`,

		`CREATE TABLE blobs (digest TEXT PRIMARY KEY, size BIGINT NOT NULL, body {bytes} NOT NULL, created BIGINT NOT NULL)`,
		`CREATE TABLE generations (
			id {id}, parent BIGINT NOT NULL, parts TEXT NOT NULL, share DOUBLE PRECISION NOT NULL, note TEXT NOT NULL, author TEXT NOT NULL,
			created BIGINT NOT NULL)`,
		`CREATE TABLE counters (name TEXT PRIMARY KEY, value BIGINT NOT NULL)`,
		`INSERT INTO counters (name, value) VALUES ('generation', 0), ('casebook', 0)`,

		`CREATE TABLE corrections (
			id {id}, label TEXT NOT NULL, author TEXT NOT NULL, created BIGINT NOT NULL, undone BIGINT NOT NULL, undone_by TEXT NOT NULL,
			grp TEXT NOT NULL, entries BIGINT NOT NULL, revision BIGINT NOT NULL)`,
		`CREATE TABLE correction_entries (
			correction BIGINT NOT NULL, docket BIGINT NOT NULL, ordinal BIGINT NOT NULL, PRIMARY KEY (docket, ordinal, correction))`,
		`CREATE INDEX correction_entries_correction ON correction_entries (correction)`,
		// What the casebook learned, revision by revision: cases with a verdict, or the revision that is taken back. It is for dockets of
		// the repository that it is from.
		`CREATE TABLE casebook_log (
			revision BIGINT PRIMARY KEY, undoes BIGINT NOT NULL, suites TEXT NOT NULL, author TEXT NOT NULL, created BIGINT NOT NULL, repository TEXT NOT NULL)`,
		`CREATE TABLE casebook_entries (
			revision BIGINT NOT NULL, place BIGINT NOT NULL, case_digest TEXT NOT NULL, origin TEXT NOT NULL, status TEXT NOT NULL,
			label TEXT NOT NULL, confidence DOUBLE PRECISION NOT NULL, repository TEXT NOT NULL, PRIMARY KEY (revision, place))`,
		`CREATE INDEX casebook_entries_case ON casebook_entries (case_digest)`,

		// repositories that a token is limited to; a list.
		`CREATE TABLE tokens (
			id {id}, hash TEXT NOT NULL, name TEXT NOT NULL, submitter TEXT NOT NULL, scopes TEXT NOT NULL, author TEXT NOT NULL,
			created BIGINT NOT NULL, used BIGINT NOT NULL, expires BIGINT NOT NULL, revoked BIGINT NOT NULL, repositories TEXT NOT NULL)`,
		`CREATE UNIQUE INDEX tokens_hash ON tokens (hash)`,
		`CREATE TABLE sessions (
			hash TEXT PRIMARY KEY, subject TEXT NOT NULL, name TEXT NOT NULL, scopes TEXT NOT NULL, data TEXT NOT NULL,
			created BIGINT NOT NULL, used BIGINT NOT NULL, expires BIGINT NOT NULL)`,
		`CREATE INDEX sessions_expires ON sessions (expires)`,
		`CREATE TABLE audit_log (
			id {id}, time BIGINT NOT NULL, author TEXT NOT NULL, action TEXT NOT NULL, target TEXT NOT NULL, details TEXT NOT NULL)`,
		`CREATE INDEX audit_log_time ON audit_log (time)`,
		// Which messages webhooks of the operator get, without addresses and secrets.
		`CREATE TABLE webhooks (name TEXT PRIMARY KEY, events TEXT NOT NULL, repositories TEXT NOT NULL)`,
	}},
}

// from18 stands for the first migration where a database was made by the commit 370f0b16, whose tables had this version.
var from18 = migration{
	name: "21 from 18: a job for each case and message", statements: []string{
		`DROP TABLE looks`, `DROP TABLE refits`, `DROP TABLE audit_chain`, `DROP INDEX audit_log_number`, `ALTER TABLE audit_log DROP COLUMN number`, `ALTER TABLE audit_log DROP COLUMN digest`,
		`ALTER TABLE webhooks DROP COLUMN format`,
		`UPDATE dockets SET generation = (SELECT value FROM counters WHERE name = 'generation') WHERE generation = 0 AND state IN ('queued', 'running')`,
		`DROP TABLE batches`, `DROP TABLE workers`, `DROP TABLE loads`, `DROP TABLE activations`, `{records}`,
	}, then: queueAll,
}

// queueAll queues what waits in the tables of version 18, and removes the jobs that only said that something waits.
func queueAll(ctx context.Context, t *tx) error {
	dockets, err := rowsOf(ctx, t, `SELECT `+docketColumns+` FROM dockets WHERE state IN ('queued', 'running') ORDER BY id`, nil, scanDocket)
	if err != nil {
		return err
	}
	for i := range dockets {
		open, err := rowsOf(ctx, t, `SELECT ordinal FROM entries WHERE docket = $1 AND verdict = '' AND fault = '' ORDER BY ordinal`, []any{dockets[i].ID}, value[int])
		if err == nil {
			err = t.queueCases(ctx, &dockets[i], open)
		}
		if err != nil {
			return fmt.Errorf("queue docket %d: %w", dockets[i].ID, err)
		}
	}
	messages, err := rowsOf(ctx, t, `SELECT message, hook, body FROM webhook_deliveries WHERE state IN ('pending', 'sending') ORDER BY id`, nil, func(scan scanner) (m MessageArgs, err error) {
		if err = scan(&m.ID, &m.Hook, &m.Event); err == nil {
			m.Event, err = unpack(m.Event, "a message")
		}
		return m, err
	})
	for i := range messages {
		if err == nil {
			err = t.send(ctx, messages[i])
		}
	}
	t.run(ctx, `DROP TABLE webhook_deliveries`)
	if err != nil {
		return err
	}
	// Those that were running when their process was killed are taken for lost, and discarded.
	return t.removeJobs(ctx, river.NewJobDeleteManyParams().Kinds("shadowcourt_batch", "shadowcourt_webhook").
		States(rivertype.JobStateAvailable, rivertype.JobStateScheduled, rivertype.JobStateRetryable, rivertype.JobStatePending))
}

// dialect is what the tables of the two databases differ in.
type dialect struct{ id, bytes, records string }

func (d dialect) of(statement string) string {
	return strings.NewReplacer("{id}", d.id, "{bytes}", d.bytes, "{records}", d.records).Replace(statement)
}

// Migrate brings the tables up to those of this program, and gives the names of the migrations that it ran. Several programs may
// call it at once.
func (s *Store) Migrate(ctx context.Context) ([]string, error) {
	ran, err := s.db.migrate(ctx, false)
	if err != nil {
		return ran, fmt.Errorf("migrate the %s database: %w", s.db.name(), err)
	}
	return ran, nil
}

// CheckSchema says whether the tables are those of this program. The error is a *MigrationError, or one of the database.
func (s *Store) CheckSchema(ctx context.Context) error {
	pending, err := s.db.migrate(ctx, true)
	if err == nil && len(pending) > 0 {
		return &MigrationError{Database: s.db.name(), Pending: pending}
	}
	return err
}

// applied is the version of the tables; 0 where there are none. Tables that this program can't bring up to its own are a *MigrationError.
func applied(ctx context.Context, q querier, name string) (version int64, err error) {
	err = one(ctx, q, `SELECT coalesce(max(version), 0) FROM migrations`, nil, &version)
	if err == nil && version > firstVersion-1+int64(len(migrations)) {
		err = &MigrationError{Database: name}
	}
	if err == nil && version > 0 && version < firstVersion && version != 18 {
		err = &MigrationError{Database: name, TooOld: true}
	}
	return version, err
}

// checkQueue says whether the tables of the queue are those of a newer program: a *MigrationError.
func (d *database) checkQueue(ctx context.Context, queue *rivermigrate.Migrator[*sql.Tx]) error {
	has, err := d.driver.GetExecutor().MigrationGetByLine(ctx, &riverdriver.MigrationGetByLineParams{Line: riverdriver.MigrationLineMain})
	known := queue.AllVersions()
	if err == nil && len(has) > 0 && has[len(has)-1].Version > known[len(known)-1].Version {
		err = &MigrationError{Database: d.name()}
	}
	return err
}

// hasTables says whether a database has the table of migrations.
func hasTables(ctx context.Context, d *database) (bool, error) {
	query := `SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'migrations'`
	if d.name() == "postgres" {
		query = `SELECT count(*) FROM pg_catalog.pg_tables WHERE tablename = 'migrations' AND schemaname = current_schema()`
	}
	var n int64
	err := one(ctx, d, query, nil, &n)
	return n > 0, err
}

// pendingAt are the migrations of tables of a version.
func pendingAt(version int64) []migration {
	if version == 18 {
		return append([]migration{from18}, migrations[1:]...)
	}
	return migrations[max(version-firstVersion+1, 0):]
}

// migrate brings the tables and those of the queue up to those of this program, or says what it would do. It keeps other programs from it:
// the queue's migrations are several transactions.
func (d *database) migrate(ctx context.Context, check bool) (names []string, err error) {
	queue, err := rivermigrate.New(d.driver, nil)
	if err != nil {
		return nil, err
	}
	do := func() error {
		if check {
			names, err = d.pending(ctx, queue)
		} else {
			names, err = d.upgrade(ctx, queue)
		}
		return err
	}
	switch {
	case d.pool == nil:
		err = d.aloneOnFile(do)
	case check:
		err = do()
	default:
		err = d.aloneOnServer(ctx, do)
	}
	return names, err
}

func (d *database) upgrade(ctx context.Context, queue *rivermigrate.Migrator[*sql.Tx]) (names []string, err error) {
	words := sqliteWords
	if d.pool != nil {
		words = postgresWords
	}
	if _, err := queue.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return nil, err
	}
	if err := d.checkQueue(ctx, queue); err != nil {
		return nil, err
	}
	err = d.write(ctx, func(t *tx) error {
		names = nil
		t.run(ctx, `CREATE TABLE IF NOT EXISTS migrations (version BIGINT PRIMARY KEY, name TEXT NOT NULL)`)
		version, err := applied(ctx, t, d.name())
		if err != nil {
			return err
		}
		pending := pendingAt(version)
		for i, m := range pending {
			for _, statement := range m.statements {
				if _, err := t.exec(ctx, words.of(statement)); err != nil {
					return fmt.Errorf("%s: %w", m.name, err)
				}
			}
			if m.then != nil {
				if err := m.then(ctx, t); err != nil {
					return fmt.Errorf("%s: %w", m.name, err)
				}
			}
			next := firstVersion + int64(len(migrations)-len(pending)+i)
			t.run(ctx, `INSERT INTO migrations (version, name) VALUES ($1, $2)`, next, m.name)
			names = append(names, m.name)
		}
		return nil
	})
	return names, err
}

func (d *database) pending(ctx context.Context, queue *rivermigrate.Migrator[*sql.Tx]) (names []string, err error) {
	var version int64
	has, err := hasTables(ctx, d)
	if err == nil && has {
		if version, err = applied(ctx, d, d.name()); err == nil {
			err = d.checkQueue(ctx, queue)
		}
	}
	if err != nil {
		return nil, err
	}
	valid, err := queue.Validate(ctx, nil)
	if err != nil {
		return nil, err
	}
	if !valid.OK {
		names = append(names, "queue")
	}
	for _, m := range pendingAt(version) {
		names = append(names, m.name)
	}
	return names, nil
}

package store

import (
	"context"
	"fmt"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"
)

// A migration is a change of the tables; once released it stays as it is.
type migration struct {
	name       string
	statements []string // before then
	then       func(context.Context, *tx) error
}

// firstVersion is that of the first entry of migrations. Those before it, one for each step of the development, are in it.
const firstVersion = 15

// migrations in their order. Times are microseconds since 1970 in UTC, digests are hexadecimal SHA-256, lists are JSON. Empty
// texts and zeros stand for what is not there, so that both databases read them the same.
var migrations = []migration{
	{name: "15 first release", statements: []string{
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
		// tells most of the failure, such as the first line of its message; empty until it was tried.
		`CREATE TABLE entries (
			docket BIGINT NOT NULL, ordinal BIGINT NOT NULL, case_digest TEXT NOT NULL, members TEXT NOT NULL,
			truth TEXT NOT NULL, known TEXT NOT NULL, label_names TEXT NOT NULL, source TEXT NOT NULL, line BIGINT NOT NULL,
			case_id TEXT NOT NULL, subject TEXT NOT NULL, suite TEXT NOT NULL, labels TEXT NOT NULL, member_count BIGINT NOT NULL,
			grp TEXT NOT NULL, words TEXT NOT NULL, repository TEXT NOT NULL, created BIGINT NOT NULL,
			verdict TEXT NOT NULL, fault TEXT NOT NULL, generation BIGINT NOT NULL, status TEXT NOT NULL,
			label TEXT NOT NULL, confidence DOUBLE PRECISION NOT NULL, light_label TEXT NOT NULL,
			light_confidence DOUBLE PRECISION NOT NULL, beside_status TEXT NOT NULL, beside_label TEXT NOT NULL,
			beside_confidence DOUBLE PRECISION NOT NULL, doubt DOUBLE PRECISION NOT NULL, tried BIGINT NOT NULL,
			correction BIGINT NOT NULL, corrected TEXT NOT NULL, about TEXT NOT NULL,
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
		`CREATE TABLE batches (
			id {id}, docket BIGINT NOT NULL, flow TEXT NOT NULL, tag BIGINT NOT NULL, first BIGINT NOT NULL, last BIGINT NOT NULL,
			state TEXT NOT NULL, attempt BIGINT NOT NULL, worker TEXT NOT NULL, generation BIGINT NOT NULL,
			started BIGINT NOT NULL, finished BIGINT NOT NULL)`,
		`CREATE INDEX batches_docket ON batches (docket)`,
		`CREATE INDEX batches_queued ON batches (tag, id) WHERE state = 'queued'`,
		`CREATE INDEX batches_running ON batches (tag, worker) WHERE state = 'running'`,
		// key is the digest of case, generation and configuration.
		`CREATE TABLE verdicts (
			key TEXT PRIMARY KEY, case_digest TEXT NOT NULL, generation BIGINT NOT NULL, configuration TEXT NOT NULL,
			status TEXT NOT NULL, label TEXT NOT NULL, confidence DOUBLE PRECISION NOT NULL, light_label TEXT NOT NULL,
			light_confidence DOUBLE PRECISION NOT NULL, beside_status TEXT NOT NULL, beside_label TEXT NOT NULL,
			beside_confidence DOUBLE PRECISION NOT NULL, doubt DOUBLE PRECISION NOT NULL, result {bytes} NOT NULL, story {bytes} NOT NULL,
			record BIGINT NOT NULL, worker TEXT NOT NULL, micros BIGINT NOT NULL, fuel BIGINT NOT NULL, created BIGINT NOT NULL, about TEXT NOT NULL)`,
		`CREATE UNIQUE INDEX verdicts_once ON verdicts (case_digest, generation, configuration)`,
		`CREATE INDEX verdicts_record ON verdicts (record)`,
		`CREATE TABLE records (id BIGINT PRIMARY KEY, size BIGINT NOT NULL, body {bytes} NOT NULL, created BIGINT NOT NULL)`,
		// See tally.go. confidence is in hundredths, stated the sum of the confidences; both are 0 where truth or label is empty.
		`CREATE TABLE tallies (
			docket BIGINT NOT NULL, generation BIGINT NOT NULL, status TEXT NOT NULL, label TEXT NOT NULL, light TEXT NOT NULL,
			truth TEXT NOT NULL, corrected BIGINT NOT NULL, open BIGINT NOT NULL, confidence BIGINT NOT NULL,
			entries BIGINT NOT NULL, stated DOUBLE PRECISION NOT NULL, micros BIGINT NOT NULL, fuel BIGINT NOT NULL,
			PRIMARY KEY (docket, generation, status, label, light, truth, corrected, open, confidence))`,

		`CREATE TABLE blobs (digest TEXT PRIMARY KEY, size BIGINT NOT NULL, body {bytes} NOT NULL, created BIGINT NOT NULL)`,
		`CREATE TABLE generations (
			id {id}, parent BIGINT NOT NULL, parts TEXT NOT NULL, share DOUBLE PRECISION NOT NULL, note TEXT NOT NULL, author TEXT NOT NULL,
			created BIGINT NOT NULL)`,
		`CREATE TABLE activations (
			id {id}, generation BIGINT NOT NULL, author TEXT NOT NULL, state TEXT NOT NULL, reason TEXT NOT NULL,
			created BIGINT NOT NULL, finished BIGINT NOT NULL)`,
		`CREATE INDEX activations_state ON activations (state)`,
		`CREATE TABLE loads (activation BIGINT NOT NULL, worker TEXT NOT NULL, fault TEXT NOT NULL, PRIMARY KEY (activation, worker))`,
		`CREATE TABLE counters (name TEXT PRIMARY KEY, value BIGINT NOT NULL)`,
		`INSERT INTO counters (name, value) VALUES ('generation', 0), ('casebook', 0)`,
		`CREATE TABLE workers (
			id TEXT PRIMARY KEY, machine TEXT NOT NULL, version TEXT NOT NULL, started BIGINT NOT NULL, beats BIGINT NOT NULL, seen BIGINT NOT NULL)`,
		// The refit of all processes: one row. outcome is JSON of the pages.
		`CREATE TABLE refits (
			name TEXT PRIMARY KEY, holder TEXT NOT NULL, running BIGINT NOT NULL, step TEXT NOT NULL, failure TEXT NOT NULL, outcome TEXT NOT NULL,
			seen BIGINT NOT NULL)`,

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
			id {id}, time BIGINT NOT NULL, author TEXT NOT NULL, action TEXT NOT NULL, target TEXT NOT NULL, details TEXT NOT NULL,
			number BIGINT NOT NULL DEFAULT 0, digest TEXT NOT NULL DEFAULT '')`,
		`CREATE INDEX audit_log_time ON audit_log (time)`,
		`CREATE INDEX audit_log_number ON audit_log (number)`,
		// The end of the log, and the last line that was cut off: one row.
		`CREATE TABLE audit_chain (number BIGINT NOT NULL, digest TEXT NOT NULL, cut_number BIGINT NOT NULL, cut_digest TEXT NOT NULL)`,
		`INSERT INTO audit_chain (number, digest, cut_number, cut_digest) VALUES (0, '', 0, '')`,
	}},
	// An Alibi; empty for none.
	{name: "16 answers of the alibi", statements: []string{`ALTER TABLE entries ADD COLUMN alibi TEXT NOT NULL DEFAULT ''`}},
	// What webhooks of the operator are told, without addresses and secrets, and events on their way to them: see HookEvent.
	{name: "17 webhooks", statements: []string{
		`CREATE TABLE webhooks (name TEXT PRIMARY KEY, events TEXT NOT NULL, repositories TEXT NOT NULL, format TEXT NOT NULL)`,
		`CREATE TABLE webhook_deliveries (
			id {id}, message TEXT NOT NULL, hook TEXT NOT NULL, event TEXT NOT NULL, body {bytes} NOT NULL, state TEXT NOT NULL, attempt BIGINT NOT NULL,
			due BIGINT NOT NULL, worker TEXT NOT NULL, status BIGINT NOT NULL, answer TEXT NOT NULL, created BIGINT NOT NULL, sent BIGINT NOT NULL, finished BIGINT NOT NULL)`,
		`CREATE INDEX webhook_deliveries_state ON webhook_deliveries (state, hook, due)`,
	}},
	// The last look for newer versions of modules in registries: one row. found is JSON.
	{name: "18 newer versions of modules", statements: []string{
		`CREATE TABLE looks (name TEXT PRIMARY KEY, began BIGINT NOT NULL, ended BIGINT NOT NULL, found TEXT NOT NULL)`,
	}},
	{name: "19 no looks, no refits, no chain of the audit log and one form of messages", statements: []string{
		`DROP TABLE looks`, `DROP TABLE refits`, `DROP TABLE audit_chain`, `DROP INDEX audit_log_number`, `ALTER TABLE audit_log DROP COLUMN number`, `ALTER TABLE audit_log DROP COLUMN digest`,
		`ALTER TABLE webhooks DROP COLUMN format`,
	}},
	// Each case that waits is a job, which names its generation: batches, their workers, and the workers' answers about generations go.
	{name: "20 a job for each case", statements: []string{
		`UPDATE dockets SET generation = (SELECT value FROM counters WHERE name = 'generation') WHERE generation = 0 AND state IN ('queued', 'running')`,
		`DROP TABLE batches`, `DROP TABLE workers`, `DROP TABLE loads`, `DROP TABLE activations`,
		`ALTER TABLE webhook_deliveries DROP COLUMN worker`, `UPDATE webhook_deliveries SET state = 'pending' WHERE state = 'sending'`,
		`{records}`,
	}, then: queueAll},
}

// queueAll queues what waits in the tables, and removes the jobs that only said that something waits.
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
	type message struct {
		id   int64
		hook string
	}
	waiting, err := rowsOf(ctx, t, `SELECT id, hook FROM webhook_deliveries WHERE state = 'pending' ORDER BY id`, nil, func(scan scanner) (m message, err error) {
		err = scan(&m.id, &m.hook)
		return m, err
	})
	if err != nil {
		return err
	}
	for _, m := range waiting {
		if err := t.queueDelivery(ctx, m.id, m.hook); err != nil {
			return err
		}
	}
	// Those that were running when their process was killed are taken for lost, and discarded.
	_, err = t.db.queue.JobDeleteManyTx(ctx, t.raw, river.NewJobDeleteManyParams().Kinds("shadowcourt_batch", "shadowcourt_webhook").
		States(rivertype.JobStateAvailable, rivertype.JobStateScheduled, rivertype.JobStateRetryable, rivertype.JobStatePending).First(10_000))
	return err
}

package store

import "context"

// A migration is a change of the tables; once released it stays as it is.
type migration struct {
	name       string
	statements []string
	// do, if not nil, does behind the statements what SQL alone can't.
	do func(context.Context, *tx) error
}

// migrations in their order. Times are microseconds since 1970 in UTC, digests are hexadecimal SHA-256, lists are JSON. Empty
// texts and zeros stand for what is not there, so that both databases read them the same.
var migrations = []migration{
	{name: "1 dockets", statements: []string{
		// The texts of documents over 4 KiB, and everything else of cases. touched is when a submission last needed the row.
		`CREATE TABLE documents (digest TEXT PRIMARY KEY, size BIGINT NOT NULL, body {bytes} NOT NULL, touched BIGINT NOT NULL)`,
		`CREATE TABLE cases (digest TEXT PRIMARY KEY, size BIGINT NOT NULL, body {bytes} NOT NULL, touched BIGINT NOT NULL)`,
		`CREATE TABLE case_documents (
			case_digest TEXT NOT NULL, place BIGINT NOT NULL, document TEXT NOT NULL, PRIMARY KEY (case_digest, place))`,
		`CREATE INDEX case_documents_document ON case_documents (document)`,
		`CREATE TABLE dockets (
			id {id}, submitter TEXT NOT NULL, name TEXT NOT NULL, repository TEXT NOT NULL, revision TEXT NOT NULL,
			format TEXT NOT NULL, idempotency_key TEXT, body_digest TEXT NOT NULL, generation BIGINT NOT NULL,
			casebook BIGINT NOT NULL, remember BIGINT NOT NULL, suites TEXT NOT NULL, state TEXT NOT NULL,
			cases BIGINT NOT NULL, tried BIGINT NOT NULL, faults BIGINT NOT NULL,
			created BIGINT NOT NULL, finished BIGINT NOT NULL, touched BIGINT NOT NULL)`,
		`CREATE UNIQUE INDEX dockets_key ON dockets (submitter, idempotency_key)`,
		`CREATE INDEX dockets_state ON dockets (state, touched)`,
		// The cases of dockets in their order, with what is listed and searched of cases and verdicts.
		`CREATE TABLE entries (
			docket BIGINT NOT NULL, ordinal BIGINT NOT NULL, case_digest TEXT NOT NULL, members TEXT NOT NULL,
			truth TEXT NOT NULL, label_names TEXT NOT NULL, source TEXT NOT NULL, line BIGINT NOT NULL,
			case_id TEXT NOT NULL, subject TEXT NOT NULL, suite TEXT NOT NULL, labels TEXT NOT NULL, member_count BIGINT NOT NULL,
			grp TEXT NOT NULL, words TEXT NOT NULL, repository TEXT NOT NULL, created BIGINT NOT NULL,
			verdict TEXT NOT NULL, fault TEXT NOT NULL, generation BIGINT NOT NULL, status TEXT NOT NULL, label TEXT NOT NULL,
			confidence DOUBLE PRECISION NOT NULL, light_label TEXT NOT NULL, light_confidence DOUBLE PRECISION NOT NULL,
			beside_status TEXT NOT NULL, beside_label TEXT NOT NULL, doubt DOUBLE PRECISION NOT NULL, tried BIGINT NOT NULL,
			correction BIGINT NOT NULL, corrected TEXT NOT NULL,
			PRIMARY KEY (docket, ordinal))`,
		`CREATE INDEX entries_group ON entries (grp, created)`,
		`CREATE INDEX entries_case ON entries (case_digest)`,
		`CREATE INDEX entries_open ON entries (created) WHERE correction = 0 AND status <> ''`,
		`CREATE INDEX entries_corrected ON entries (created) WHERE correction <> 0`,
		`CREATE TABLE batches (
			id {id}, docket BIGINT NOT NULL, flow TEXT NOT NULL, tag BIGINT NOT NULL, first BIGINT NOT NULL, last BIGINT NOT NULL,
			state TEXT NOT NULL, job BIGINT NOT NULL, attempt BIGINT NOT NULL, worker TEXT NOT NULL, generation BIGINT NOT NULL,
			started BIGINT NOT NULL, finished BIGINT NOT NULL)`,
		`CREATE INDEX batches_docket ON batches (docket)`,
		`CREATE INDEX batches_tag ON batches (tag) WHERE state IN ('queued', 'running')`,
		// key is the digest of case, generation and configuration.
		`CREATE TABLE verdicts (
			key TEXT PRIMARY KEY, case_digest TEXT NOT NULL, generation BIGINT NOT NULL, configuration TEXT NOT NULL,
			status TEXT NOT NULL, label TEXT NOT NULL, confidence DOUBLE PRECISION NOT NULL, light_label TEXT NOT NULL,
			light_confidence DOUBLE PRECISION NOT NULL, beside_status TEXT NOT NULL, beside_label TEXT NOT NULL,
			doubt DOUBLE PRECISION NOT NULL, result {bytes} NOT NULL, story {bytes} NOT NULL,
			record BIGINT NOT NULL, worker TEXT NOT NULL, micros BIGINT NOT NULL, fuel BIGINT NOT NULL, created BIGINT NOT NULL)`,
		`CREATE UNIQUE INDEX verdicts_once ON verdicts (case_digest, generation, configuration)`,
		`CREATE INDEX verdicts_record ON verdicts (record)`,
		`CREATE TABLE configurations (digest TEXT PRIMARY KEY, parts TEXT NOT NULL)`,
		`CREATE TABLE records (id BIGINT PRIMARY KEY, size BIGINT NOT NULL, body {bytes} NOT NULL, created BIGINT NOT NULL)`,
	}},
	{name: "2 generations", statements: []string{
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
			id TEXT PRIMARY KEY, role TEXT NOT NULL, machine TEXT NOT NULL, version TEXT NOT NULL, started BIGINT NOT NULL,
			beats BIGINT NOT NULL, seen BIGINT NOT NULL)`,
		`CREATE TABLE leases (name TEXT PRIMARY KEY, holder TEXT NOT NULL, expires BIGINT NOT NULL)`,
	}},
	{name: "3 corrections", statements: []string{
		`CREATE TABLE corrections (
			id {id}, label TEXT NOT NULL, author TEXT NOT NULL, created BIGINT NOT NULL, undone BIGINT NOT NULL, undone_by TEXT NOT NULL,
			grp TEXT NOT NULL, entries BIGINT NOT NULL, revision BIGINT NOT NULL)`,
		`CREATE TABLE correction_entries (
			correction BIGINT NOT NULL, docket BIGINT NOT NULL, ordinal BIGINT NOT NULL, PRIMARY KEY (docket, ordinal, correction))`,
		`CREATE INDEX correction_entries_correction ON correction_entries (correction)`,
		// What the casebook learned, revision by revision: cases with a verdict, or the revision that is taken back.
		`CREATE TABLE casebook_log (
			revision BIGINT PRIMARY KEY, undoes BIGINT NOT NULL, suites TEXT NOT NULL, author TEXT NOT NULL, created BIGINT NOT NULL)`,
		`CREATE TABLE casebook_entries (
			revision BIGINT NOT NULL, place BIGINT NOT NULL, case_digest TEXT NOT NULL, origin TEXT NOT NULL, status TEXT NOT NULL,
			label TEXT NOT NULL, confidence DOUBLE PRECISION NOT NULL, PRIMARY KEY (revision, place))`,
		`CREATE INDEX casebook_entries_case ON casebook_entries (case_digest)`,
	}},
	{name: "4 people", statements: []string{
		`CREATE TABLE tokens (
			id {id}, hash TEXT NOT NULL, name TEXT NOT NULL, submitter TEXT NOT NULL, scopes TEXT NOT NULL, author TEXT NOT NULL,
			created BIGINT NOT NULL, used BIGINT NOT NULL, expires BIGINT NOT NULL, revoked BIGINT NOT NULL)`,
		`CREATE UNIQUE INDEX tokens_hash ON tokens (hash)`,
		`CREATE TABLE sessions (
			hash TEXT PRIMARY KEY, subject TEXT NOT NULL, name TEXT NOT NULL, scopes TEXT NOT NULL, data TEXT NOT NULL,
			created BIGINT NOT NULL, used BIGINT NOT NULL, expires BIGINT NOT NULL)`,
		`CREATE INDEX sessions_expires ON sessions (expires)`,
		`CREATE TABLE audit_log (
			id {id}, time BIGINT NOT NULL, author TEXT NOT NULL, action TEXT NOT NULL, target TEXT NOT NULL, details TEXT NOT NULL)`,
		`CREATE INDEX audit_log_time ON audit_log (time)`,
	}},
	{name: "5 retention", statements: []string{
		// Which entries stand for further cases: those are kept as long as the entries are.
		`CREATE TABLE entry_members (case_digest TEXT NOT NULL, docket BIGINT NOT NULL, ordinal BIGINT NOT NULL, PRIMARY KEY (case_digest, docket, ordinal))`,
		`CREATE INDEX entry_members_docket ON entry_members (docket)`,
		`CREATE INDEX dockets_finished ON dockets (finished)`,
	}},
	{name: "6 canary", statements: []string{
		`ALTER TABLE verdicts ADD COLUMN beside_confidence DOUBLE PRECISION NOT NULL DEFAULT 0`,
		`ALTER TABLE entries ADD COLUMN beside_confidence DOUBLE PRECISION NOT NULL DEFAULT 0`,
	}},
	{name: "7 traces", statements: []string{
		// The span of the submission, as the header traceparent has it: workers continue its trace.
		`ALTER TABLE dockets ADD COLUMN traceparent TEXT NOT NULL DEFAULT ''`,
	}},
	{name: "8 counts", statements: []string{
		// See tally.go. confidence is in hundredths, stated the sum of the confidences; both are 0 where truth or label is empty.
		`CREATE TABLE tallies (
			docket BIGINT NOT NULL, generation BIGINT NOT NULL, status TEXT NOT NULL, label TEXT NOT NULL, light TEXT NOT NULL,
			truth TEXT NOT NULL, corrected BIGINT NOT NULL, open BIGINT NOT NULL, confidence BIGINT NOT NULL,
			entries BIGINT NOT NULL, stated DOUBLE PRECISION NOT NULL, micros BIGINT NOT NULL, fuel BIGINT NOT NULL,
			PRIMARY KEY (docket, generation, status, label, light, truth, corrected, open, confidence))`,
		`CREATE TABLE inbox (
			grp TEXT PRIMARY KEY, entries BIGINT NOT NULL, cases BIGINT NOT NULL, dockets BIGINT NOT NULL, doubt DOUBLE PRECISION NOT NULL,
			weight DOUBLE PRECISION NOT NULL, first BIGINT NOT NULL, latest BIGINT NOT NULL, rank DOUBLE PRECISION NOT NULL)`,
		`CREATE INDEX inbox_rank ON inbox (rank DESC, grp)`,
		`DROP INDEX entries_open`,
		// The columns behind the key are what the inbox is filtered by and counts, so that it reads no rows.
		`CREATE INDEX entries_inbox ON entries (grp, docket DESC, ordinal, repository, label, status, correction, created, doubt, member_count) WHERE ` + needsPerson,
		`CREATE INDEX entries_flipped ON entries (generation, docket DESC, ordinal) WHERE ` + flipped,
		`INSERT INTO tallies ` + countResults,
		`INSERT INTO inbox ` + countGroups,
		`UPDATE inbox SET rank = ` + rankOf,
	}},
	{name: "9 refit", statements: []string{
		// The refit of all processes: one row. outcome is JSON of the pages.
		`CREATE TABLE refits (
			name TEXT PRIMARY KEY, holder TEXT NOT NULL, running BIGINT NOT NULL, step TEXT NOT NULL, failure TEXT NOT NULL, outcome TEXT NOT NULL,
			seen BIGINT NOT NULL)`,
	}},
	{name: "10 search", statements: []string{
		// A search reads the rows that need a person in their order.
		`CREATE INDEX entries_waiting ON entries (docket) WHERE ` + needsPerson,
	}},
	{name: "11 answered", statements: []string{
		// Light's answers came with the cases.
		`ALTER TABLE dockets ADD COLUMN answered BIGINT NOT NULL DEFAULT 0`,
	}},
	{name: "12 repositories", statements: []string{
		// Repositories that a token is limited to; a JSON list.
		`ALTER TABLE tokens ADD COLUMN repositories TEXT NOT NULL DEFAULT ''`,
		// What the casebook learned is for dockets of the repository that it is from.
		`ALTER TABLE casebook_log ADD COLUMN repository TEXT NOT NULL DEFAULT ''`,
		`ALTER TABLE casebook_entries ADD COLUMN repository TEXT NOT NULL DEFAULT ''`,
		`UPDATE casebook_entries SET repository = coalesce(
			(SELECT e.repository FROM entries e WHERE e.case_digest = casebook_entries.case_digest ORDER BY e.docket DESC LIMIT 1),
			(SELECT e.repository FROM entry_members m JOIN entries e ON e.docket = m.docket AND e.ordinal = m.ordinal
				WHERE m.case_digest = casebook_entries.case_digest ORDER BY e.docket DESC LIMIT 1), '')`,
	}},
	{name: "13 chain", statements: []string{
		`ALTER TABLE audit_log ADD COLUMN number BIGINT NOT NULL DEFAULT 0`,
		`ALTER TABLE audit_log ADD COLUMN digest TEXT NOT NULL DEFAULT ''`,
		// The end of the log, and the last line that was cut off: one row.
		`CREATE TABLE audit_chain (number BIGINT NOT NULL, digest TEXT NOT NULL, cut_number BIGINT NOT NULL, cut_digest TEXT NOT NULL)`,
	}, do: chainLog},
	{name: "14 about", statements: []string{
		// What tells most of the failure, such as the first line of its message; empty for what was tried before.
		`ALTER TABLE verdicts ADD COLUMN about TEXT NOT NULL DEFAULT ''`,
		`ALTER TABLE entries ADD COLUMN about TEXT NOT NULL DEFAULT ''`,
	}},
}

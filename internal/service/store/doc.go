// Package store keeps what the docket service knows: dockets with their cases and verdicts, corrections, generations of
// modules, tokens and the audit log, in SQLite or in PostgreSQL. All SQL of the service is here, one text for both databases.
//
// Cases and their documents are content-addressed: equal ones are kept once. A verdict is one row, unique by the digest of its
// case, the generation of modules and the digest of the configuration. Every change is one transaction, and tells subscribers
// in the same transaction.
package store

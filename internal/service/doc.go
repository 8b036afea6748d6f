// Package service is one process of the docket service: the HTTP API and the pages (role api), a worker that tries cases (role worker), or
// both. Any number of processes share a PostgreSQL database; one has a SQLite file to itself.
package service

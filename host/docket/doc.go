// Package docket reads the cases that the court tries, and the opinions that an audit reads.
//
// A docket is a file of cases, one JSON object a line. [Reader] reads it strictly: a wrong line becomes one [LineError] with
// all its problems and their places, and reading continues with the next line. Packages gotest, junit and reportportal read
// the reports of test runs. [Opinions] and [ReadDocument] read what an audit needs.
package docket

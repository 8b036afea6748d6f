// Package gotest reads the output of `go test -json` into cases, one for each failing test.
//
// [Reader.Read] streams: it holds the logs of the tests that still run, and of each log only its head and tail. A parent
// that fails because its subtests fail is no case of its own. A package that doesn't build, that panics outside a test or
// that fails without a failing test is a case. Lines that are no events, as build errors of older Go versions, are kept as
// output of the test or the package that ran when they came, if only one did, and counted (see [Unread]). The progress and the
// warnings of the go command itself, as "go: downloading ...", are neither kept nor counted.
//
// A crash of the test binary belongs to the tests that it names as running (the timeout of `go test` does), else to the open
// test under whose name it stands, else to the only test that runs, else to the package. The go command prints it under the
// name of the test that wrote last, which may have passed. A package that exits without a crash while tests run is a case of
// the test that ran, or of the package if there were several.
//
// The labels are ReportPortal's: pb001 product bug, ab001 automation bug, si001 system issue, nd001 no defect (flaky).
//
// A case has its log as the document named "log", and evidence cut from it by rules over Go's test output (see
// evidence.go). An item quotes the log word for word; its source_ref says where, as log:L12. An item names a label only
// where the rule that cut it speaks for one. Its element is that of the Light node which would find it:
//
//	fire     assertions: what a triage sees first
//	earth    environment and build errors: what locates the failure
//	water    panics, frames, races, timeouts: what an investigation digs out
//	air      the summary that the go command prints
//
// Of a test that passed in some runs of the stream and failed in others, as with -count or when it is run again, an item
// "runs" tells, which speaks for nd001.
//
// [Light] is a first simple classification by a few rules on the symptom.
package gotest

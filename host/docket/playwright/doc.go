// Package playwright reads what Playwright's JSON reporter writes into cases, one for each test of a project that failed, or that passed
// when it was run again.
//
// A case is called as in Playwright's JUnit report: its group is the file, its name the path of its titles, parted by " › ", with the
// project behind it where the report has several. A test that passed on a retry is flaky, and the label for it is nd001; one that is expected
// to fail and passes is a failure. Tests that were skipped are none.
//
// The runs that failed are the documents "failure", "rerunFailure" and so on, or "flakyFailure": messages and stacks, without the
// colours of the terminal. "code" is what stands around the failing line, "stdout" and "stderr" are what the test printed. Errors outside of the tests, such as a file that
// does not load, are the case "run". Steps, attachments and the configuration are passed over.
//
// A report is data from elsewhere: texts and nesting are bounded, see [Reader].
package playwright

// Package junit reads reports in JUnit's XML into cases, one for each test that failed.
//
// There is no one standard; the package goes by the elements that the producers share (surefire and its reruns, pytest,
// jest-junit, gotestsum and many more): testsuites and testsuite in any nesting, testcase, failure, error, skipped,
// system-out, system-err, properties. The totals that stand in attributes are not looked at. Elements and attributes that
// are not known are passed over. Several reports one after the other in one stream are read as one.
//
// A test case with a failure or an error is a case, as is a suite that has one itself. One that was run again
// (rerunFailure, rerunError) is one case with all its runs; one that passed when it was run again (flakyFailure,
// flakyError) is a case too: it failed, and the label for it is nd001. So it is for one that stands in its suite several
// times, and passed and failed: an item "runs" tells of it. Where two tests may have one name, as rows of a table in Java,
// that is so only if it failed until it passed. pytest-rerunfailures lists the runs of a test that it ran again, and
// says only of the last how it failed: such a test that passed in the end is a case without a message. A test of Go that only its subtests fail is no
// case, as in package gotest.
//
// Documents are named by the elements: failure, error, rerunFailure, rerunFailure-2, system-out, flakyFailure/system-out
// and so on. What the attributes type and message say stands first in them, unless the text says it too. The properties
// of a test case are the document "properties"; those of a suite, which describe the machine, are left out. The document
// "testcase" has the file of the test, and the time that it took if that is 3 seconds or more.
//
// A report is data from elsewhere: a DOCTYPE is rejected, so that no entity is ever defined or fetched; nesting, tags,
// documents and logs are bounded, see [Reader]. Characters that XML does not allow become U+FFFD where they stand in the
// text as such.
package junit

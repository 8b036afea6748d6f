// Package tier divides the tests in two. The quick tier is what a change breaks most: every test that says nothing else, run by
// `make test`. The long tier is run by `make test-long`.
//
// tools/longtests finds the tests that call these functions, by themselves or by functions of their package. Guards are folders or
// files of the repository, as string literals: .ci/run runs the test where one is changed, or the test's own file. Without guards it is
// the folder of the test.
package tier

import (
	"os"
	"testing"
)

// variable is set while the long tier runs.
const variable = "SHADOWCOURT_LONG"

// Long puts a test, or a subtest, into the long tier.
func Long(t testing.TB, guards ...string) {
	t.Helper()
	if !Whole(guards...) {
		t.Skip("long: " + variable + "=1 runs it")
	}
}

// Whole says whether a test of both tiers is to run in its long form.
func Whole(_ ...string) bool { return os.Getenv(variable) != "" }

package testcmd

import (
	"errors"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// TestAccept_AK1_WhatARunSaysBesideItsTests by the texts of runners: FIRST is a run with a failing test, REST one without it.
func TestAccept_AK1_WhatARunSaysBesideItsTests(t *testing.T) {
	t.Parallel()
	const line = "⎯⎯⎯⎯"
	for name, c := range map[string]struct{ runner, first, rest, want string }{
		"pytest": {
			"pytest",
			"=== test session starts ===\ncollected 2 items\n\ntest_a.py F.  [100%]a server is up\n\n=== FAILURES ===\n___ test_old ___\nE  assert 0\n" +
				"--- Captured stdout call ---\n[100%] Built\n=== 3 passed in 0.1s ===\nleft\n--- generated xml file: /tmp/r.xml ---\nFAIL drift\n=== links ===\nan old link\n" +
				"=== tests coverage ===\nName  Stmts  Miss  Cover\n---\nlib.py  8  4  50%\nFAIL Required test coverage of 80% not reached. Total coverage: 50.00%\n" +
				"=== short test summary info ===\nFAILED test_a.py::test_old\n=== 1 failed, 1 passed in 0.05s ===\nclosed after 12 ms\nat exit\n",
			"=== test session starts ===\ntest_a.py .  [100%]\n=== links ===\nan old link\n=== 1 passed, 1 deselected in 0.05s ===\nclosed after 1.5 s\n",
			"a server is up\nFAIL drift\nFAIL Required test coverage of 80% not reached. Total coverage: 50.00%\nat exit",
		},
		"pytest of many workers": {
			"pytest",
			"a.py::test_old \n[gw0] [ 50%] FAILED a.py::test_old \n[gw1] [100%] PASSED a.py::test_new left\n=== FAILURES ===\nE  assert 0\n1 failed, 1 passed in 0.05s\n",
			"[gw1] [100%] PASSED a.py::test_new \n1 passed in 0.05s\n", "left",
		},
		"vitest": {
			"vitest",
			line + " Failed Tests 1 " + line + "\n FAIL  a.test.js > old\n" + line + "[1/1]⎯\n\n" + line + " Unhandled Errors " + line + "\n\nVitest caught 1 unhandled error\n" +
				line + " Uncaught Exception " + line + "\nError: closed\n" + line + "\n\n Test Files  1 failed (1)\n   Duration  660ms (tests 41ms)\n\nJUNIT report written to r.xml\n" +
				" % Coverage report from v8\n-----|----|----|----\nFile | 5 | 3 | 2\nERROR: Coverage for lines (5%) does not meet global threshold (9%)\nclosed at 1.5\n",
			" Test Files  1 passed (1)\n   Duration  60ms\nclosed at 2.5\n",
			"Vitest caught 1 unhandled error\n" + line + " Uncaught Exception " + line + "\nError: closed\nERROR: Coverage for lines (5%) does not meet global threshold (9%)",
		},
		"jest": {
			"jest",
			"FAIL ./a.test.js\n  ● old\nJest: \"global\" coverage threshold for lines (9%) not met: 5%\nTest Suites: 1 failed\nRan all test suites.\nTest results written to: j.json\n3 are left\n",
			"Test Suites: 1 passed\nRan all test suites with tests matching \"x\".\n2 are left\n",
			"Jest: \"global\" coverage threshold for lines (9%) not met: 5%\n3 are left",
		},
		"mvn": {
			"mvn", "[INFO] BUILD FAILURE\n[ERROR] Failed to execute goal org.apache.maven.plugins:maven-surefire-plugin:3: There are test failures.\n" +
				"[ERROR] Failed to execute goal org.jacoco:jacoco-maven-plugin:0.8:check: Coverage checks have not been met.\n", "[INFO] BUILD SUCCESS\n",
			"[ERROR] Failed to execute goal org.jacoco:jacoco-maven-plugin:0.8:check: Coverage checks have not been met.",
		},
	} {
		command := parsed(t, t.TempDir(), c.runner, "test")
		var first, rest Ran
		var faults [2]error
		first.said, first.Captured, faults[0] = command.said(c.first, "")
		rest.said, _, faults[1] = command.said(c.rest, "")
		must.Do(t, errors.Join(faults[:]...))
		check.Equal(t, first.Captured, true, name, "known")
		_, lines, _ := first.Unexplained(&rest, nil)
		check.Equal(t, strings.Join(lines, "\n"), c.want, name)
		if _, lines, ok := rest.Unexplained(&rest, nil); ok {
			t.Errorf("%s: beside itself a run says %q", name, lines)
		}
	}
}

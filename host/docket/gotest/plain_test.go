package gotest_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket/gotest"
)

// TestAccept_FX8_LinesThatAreNoEvents are kept where they may tell why something failed, and counted.
func TestAccept_FX8_LinesThatAreNoEvents(t *testing.T) {
	t.Parallel()
	const built = "# p\np.go:3:1: bad\n"
	for _, tc := range []struct {
		name, stream string
		log          string // of the last case
		unread       gotest.Unread
	}{
		{"of the go command", "go: downloading a v1.0.0\n" + built + "FAIL\tp [build failed]\n\n" + ends("fail", "q", "TestA"), "", gotest.Unread{}},
		{"in a test that runs", ends("run", "p", "TestA") + output("p", "TestA", "a\n") + "tool: no\n" + ends("fail", "p", "TestA"), "a\ntool: no\n", gotest.Unread{Count: 1, Lines: []int{3}}},
		{
			"behind a test that ended", ends("run", "p", "TestA") + output("p", "TestA", "a\n") + ends("pass", "p", "TestA") + "tool: no\n" + output("p", "", "FAIL\tp\t1s\n") + ends("fail", "p", ""),
			"tool: no\nFAIL\tp\t1s\n",
			gotest.Unread{Count: 1, Lines: []int{4}},
		},
		{"before a package of which nothing tells", "sh: no shell\n" + ends("fail", "p", ""), "sh: no shell\n", gotest.Unread{Count: 1, Lines: []int{1}}},
		{"before a package that tells", "sh: no shell\n" + output("p", "", "no database\n") + ends("fail", "p", ""), "no database\n", gotest.Unread{Count: 1, Lines: []int{1}}},
		{"before a build of which nothing tells", "go: no network\n" + `{"Action":"fail","Package":"p","FailedBuild":"d"}` + "\n", "go: no network\n", gotest.Unread{Count: 1, Lines: []int{1}}},
		{
			"the log of a service", ends("run", "p", "TestA") + output("p", "TestA", "a\n") + `{"level":"info","msg":"up"}` + "\n{}\n{at 0x1}\n" + ends("fail", "p", "TestA"),
			"a\n" + `{"level":"info","msg":"up"}` + "\n{}\n{at 0x1}\n",
			gotest.Unread{Count: 3, Lines: []int{3, 4, 5}},
		},
		{
			"while two packages run",
			ends("run", "p", "TestA") + output("p", "TestA", "a\n") + `{"Action":"start","Package":"q"}` + "\npanic: tool\n" + ends("fail", "p", "TestA"),
			"a\n",
			gotest.Unread{Count: 1, Lines: []int{4}},
		},
		{
			"while two tests run", ends("run", "p", "TestA") + ends("run", "p", "TestB") + output("p", "TestA", "a\n") + "tool: no\n" + ends("fail", "p", "TestA"),
			"a\n",
			gotest.Unread{Count: 1, Lines: []int{4}},
		},
		{
			"while the other test waits", ends("run", "p", "TestB") + ends("pause", "p", "TestB") + ends("run", "p", "TestA") + "tool: no\n" + ends("fail", "p", "TestA"),
			"tool: no\n",
			gotest.Unread{Count: 1, Lines: []int{4}},
		},
		{
			"in a subtest", ends("run", "p", "TestA") + ends("run", "p", "TestA/b") + "tool: no\n" + ends("fail", "p", "TestA/b"),
			"tool: no\n",
			gotest.Unread{Count: 1, Lines: []int{3}},
		},
		{
			"behind a test that prints after its end",
			ends("run", "p", "TestA") + ends("pass", "p", "TestA") + output("p", "TestA", "late\n") + "tool: no\n" + output("p", "TestA", "b\n") + ends("fail", "p", "TestA"),
			"late\nb\n",
			gotest.Unread{Count: 1, Lines: []int{4}},
		},
		{
			"progress and warnings of the go command",
			"go: downloading a v1.0.0\ngo: added a v1.0.0\ngo: warning: ignoring b\n" + ends("run", "p", "TestA") + "go: finding c latest\n" +
				output("p", "TestA", "a\n") + ends("fail", "p", "TestA"),
			"a\n",
			gotest.Unread{},
		},
		{"more than are named", strings.Repeat("x\n", 9) + ends("fail", "p", "TestA"), "", gotest.Unread{Count: 9, Lines: []int{1, 2, 3, 4, 5}}},
		{"build output that ends with an event", built + ends("run", "q", "TestA") + "x\n" + ends("fail", "q", "TestA"), "", gotest.Unread{Count: 1, Lines: []int{4}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			var unread gotest.Unread
			r := gotest.Reader{Unread: func(_ string, lines gotest.Unread) { unread = lines }}
			cases, problems := read(t, &r, strings.NewReader(tc.stream))
			if len(problems) > 0 || len(cases) == 0 {
				t.Fatalf("problems %v, %d cases", problems, len(cases))
			}
			if diff := cmp.Diff(tc.unread, unread); diff != "" {
				t.Errorf("lines that are no events (-want +got):\n%s", diff)
			}
			if got := lastLog(cases); tc.log != "" && got != tc.log {
				t.Errorf("the log is %q, want %q", got, tc.log)
			}
		})
	}
}

func lastLog(cases []abi.Case) string { return cases[len(cases)-1].Documents[0].Text }

package gotest_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket/gotest"
)

// told is what a case says of the runs of its test.
func told(t *testing.T, c *abi.Case) string {
	t.Helper()
	for _, e := range c.Evidence {
		if e.SourceRef != "runs:L1" {
			continue
		}
		document := c.Documents[len(c.Documents)-1]
		if e.Supports != gotest.NoDefect || document.Name != "runs" || document.Text != e.Content+"\n" {
			t.Errorf("%s: %+v quotes %+v", c.ID, e, document)
		}
		return e.Content
	}
	return ""
}

func TestRunsOfOneTest(t *testing.T) {
	t.Parallel()
	const (
		mixed = "In this report the test ran 3 times: it failed in 2 and passed in 1. It passed after it had failed."
		twice = "In this report the test ran 2 times: it failed in 1 and passed in 1. It passed after it had failed."
		worn  = "In this report the test ran 3 times: it failed in 2 and passed in 1. It passed first, and never again after it had failed."
	)
	for _, tc := range []struct {
		name, stream string
		want         []string // of each case
	}{
		{"it fails each time", ends("fail", "p", "TestA") + ends("fail", "p", "TestA") + ends("pass", "p", "TestB"), []string{"", ""}},
		{"it fails and passes", ends("fail", "p", "TestA") + ends("pass", "p", "TestA") + ends("fail", "p", "TestA"), []string{mixed, mixed}},
		{"it passes once", ends("pass", "p", "TestA") + ends("fail", "p", "TestA") + ends("fail", "p", "TestA"), []string{worn, worn}},
		{"a run that was skipped", ends("fail", "p", "TestA") + ends("skip", "p", "TestA"), []string{""}},
		{"the same name in another package", ends("fail", "p", "TestA") + ends("pass", "q", "TestA"), []string{""}},
		{
			"run again when all was done, and the parents of subtests with it",
			ends("run", "p", "TestA") + ends("run", "p", "TestA/x") + ends("fail", "p", "TestA/x") + ends("fail", "p", "TestA") + ends("fail", "p", "") +
				ends("pass", "p", "TestA/x") + ends("pass", "p", "TestA") + ends("pass", "p", ""),
			[]string{twice},
		},
		{"a crash that left it open", output("p", "TestA", "panic: boom\n") + ends("fail", "p", "") + ends("pass", "p", "TestA"), []string{twice}},
		{"a package outside of its tests", output("p", "", "no\n") + ends("fail", "p", "") + ends("pass", "p", ""), []string{""}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			cases, problems := read(t, &gotest.Reader{}, strings.NewReader(tc.stream))
			var got []string
			for i := range cases {
				got = append(got, told(t, &cases[i]))
			}
			if diff := cmp.Diff(tc.want, got); diff != "" || len(problems) > 0 {
				t.Errorf("problems %v, of the runs is told (-want +got):\n%s", problems, diff)
			}
		})
	}
}

// What waits for further runs is bounded: beyond it the first cases go on.
func TestCasesThatWaitAreBounded(t *testing.T) {
	t.Parallel()
	stream := output("p", "TestA", "12345678") + ends("fail", "p", "TestA") +
		output("p", "TestB", "12345678") + ends("fail", "p", "TestB") +
		ends("pass", "p", "TestA") + ends("pass", "p", "TestB")
	for held, want := range map[int][]bool{0: {true, true}, 16: {true, true}, 15: {false, true}, 7: {false, false}} {
		cases, _ := read(t, &gotest.Reader{HeldBytes: held}, strings.NewReader(stream))
		if diff := cmp.Diff(want, []bool{told(t, &cases[0]) != "", told(t, &cases[1]) != ""}); diff != "" {
			t.Errorf("with %d bytes the runs are told (-want +got):\n%s", held, diff)
		}
	}
}

// A live stream gives the cases of a package at its end, with the runs so far, while others go on.
func TestPackagesOfALiveStream(t *testing.T) {
	t.Parallel()
	stream := ends("fail", "q", "TestQ") + ends("fail", "p", "TestA") + ends("pass", "p", "TestA") + ends("fail", "p", "") +
		ends("pass", "q", "TestQ") + ends("fail", "q", "") + ends("pass", "p", "TestA")
	cases, _ := read(t, &gotest.Reader{Live: true}, strings.NewReader(stream))
	var got []string
	for i := range cases {
		got = append(got, cases[i].ID+": "+told(t, &cases[i]))
	}
	const twice = "In this report the test ran 2 times: it failed in 1 and passed in 1. It passed after it had failed."
	if diff := cmp.Diff([]string{"p.TestA: " + twice, "q.TestQ: " + twice}, got); diff != "" {
		t.Error(diff)
	}
}

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

package gotest_test

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket/gotest"
	"github.com/shadowcourt/shadowcourt/host/docket/internal/testkit/readers"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
)

func TestCrashes(t *testing.T) {
	t.Parallel()
	const (
		timeout = "panic: test timed out after 1s\n\trunning tests:\n\t\t%s (1s)\n\ngoroutine 1 [running]:\n"
		boom    = "panic: boom\n\ngoroutine 1 [running]:\n"
	)
	passed := ends("run", "p", "TestA") + output("p", "TestA", "--- PASS: TestA (0.00s)\n")
	end := output("p", "", "FAIL\tp\t1s\n") + ends("fail", "p", "")
	text := func(test, all string) string {
		var b strings.Builder
		for line := range strings.Lines(all) {
			b.WriteString(output("p", test, line))
		}
		return b.String()
	}
	for _, tc := range []struct {
		name, stream string
		want         []string
	}{
		{"a timeout after a pass that names the test that runs", ends("run", "p", "TestB") + passed + text("TestA", fmt.Sprintf(timeout, "TestB")) + ends("pass", "p", "TestA") + end, []string{"p.TestB"}},
		{"a timeout after a pass that names nobody", passed + text("TestA", "panic: test timed out after 1s\n\n") + ends("pass", "p", "TestA") + end, []string{"p"}},
		{"a timeout that names a test which nobody knows", passed + text("TestA", fmt.Sprintf(timeout, "TestZ")) + ends("pass", "p", "TestA") + end, []string{"p"}},
		{"the list of older versions of Go", ends("run", "p", "TestB") + passed + text("TestA", "panic: test timed out after 1s\nrunning tests:\n\tTestB (1s)\n\n") + ends("pass", "p", "TestA") + end, []string{"p.TestB"}},
		{"a crash after a pass, with one test that runs", ends("run", "p", "TestB") + passed + text("TestA", boom) + ends("pass", "p", "TestA") + end, []string{"p.TestB"}},
		{"a crash after a pass, with two tests that run", ends("run", "p", "TestB") + ends("run", "p", "TestC") + passed + text("TestA", boom) + ends("pass", "p", "TestA") + end, []string{"p"}},
		{"a crash after a pass, with a test that is paused", ends("run", "p", "TestB") + ends("pause", "p", "TestB") + passed + text("TestA", boom) + ends("pass", "p", "TestA") + end, []string{"p"}},
		{"a crash after a skip", ends("run", "p", "TestA") + text("TestA", "--- SKIP: TestA (0.00s)\n"+boom) + ends("skip", "p", "TestA") + end, []string{"p"}},
		{"a test that prints of a crash and passes", ends("run", "p", "TestA") + text("TestA", boom+"--- PASS: TestA (0.00s)\n") + ends("pass", "p", "TestA") + ends("fail", "p", "TestB") + end, []string{"p.TestB"}},
		{"a crash after a pass of a package that passes", passed + text("TestA", boom) + ends("pass", "p", "TestA") + ends("pass", "p", ""), []string{}},
		{"a cut stream", ends("run", "p", "TestB") + passed + text("TestA", fmt.Sprintf(timeout, "TestB")) + ends("pass", "p", "TestA"), []string{"p.TestB"}},
		{"a panic below the line that fails a test", ends("run", "p", "TestA") + text("TestA", "--- FAIL: TestA (0.00s)\n"+boom) + ends("fail", "p", "TestA") + end, []string{"p.TestA"}},
		{"a package that fails when all tests have run", ends("run", "p", "BenchmarkA") + output("p", "", "PASS\n") + output("p", "", "leak\n") + end, []string{"p"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			cases, problems := read(t, &gotest.Reader{}, strings.NewReader(tc.stream))
			if diff := cmp.Diff(tc.want, ids(cases)); diff != "" || len(problems) > 0 {
				t.Errorf("problems %v, cases (-want +got):\n%s", problems, diff)
			}
			for _, c := range cases {
				if strings.Contains(tc.stream, "boom") && c.ID != "p.TestB" && !strings.Contains(c.Documents[0].Text, "boom") {
					t.Errorf("%s lacks the crash: %q", c.ID, c.Documents[0].Text)
				}
			}
		})
	}
}

// The panic of a subtest stands below the line of the test that began it; it belongs to the subtest. The panic of that test itself,
// and what a subtest without a word leaves, are cases of their own.
func TestThePanicOfASubtestIsItsOwn(t *testing.T) {
	t.Parallel()
	const p = "example.com/a"
	run := func(names ...string) string {
		var all []string
		for _, name := range names {
			all = append(all, ends("run", p, name), output(p, name, "=== RUN   "+name+"\n"))
		}
		return strings.Join(all, "")
	}
	fail := func(name string) string {
		return output(p, name, "--- FAIL: "+name+" (0.00s)\n") + ends("fail", p, name)
	}
	panics := func(name, frame string) string {
		all := []string{output(p, name, "--- FAIL: "+name+" (0.00s)\n")}
		for _, line := range []string{"panic: boom [recovered, repanicked]\n", "\n", "goroutine 7 [running]:\n", p + "." + frame + "(0x1)\n", "\t/a/a_test.go:9 +0x1\n"} {
			all = append(all, output(p, name, line))
		}
		return strings.Join(all, "")
	}
	end := output(p, "", "FAIL\t"+p+"\t0.01s\n") + ends("fail", p, "")
	for _, tc := range []struct{ name, stream, want string }{
		{"a subtest", run("TestA", "TestA/x") + fail("TestA/x") + panics("TestA", "TestA.func1") + end, "TestA/x panics"},
		{"the last of two", run("TestA", "TestA/x") + fail("TestA/x") + run("TestA/y") + fail("TestA/y") + panics("TestA", "TestA.func2") + end, "TestA/x fails, TestA/y panics"},
		{"a subtest of a subtest", run("TestA", "TestA/x", "TestA/x/y") + fail("TestA/x/y") + fail("TestA/x") + panics("TestA", "check") + end, "TestA/x/y panics"},
		{"the test itself", run("TestA", "TestA/x") + fail("TestA/x") + panics("TestA", "TestA") + end, "TestA panics, TestA/x fails"},
		{"no panic", run("TestA", "TestA/x") + fail("TestA/x") + fail("TestA") + end, "TestA/x fails"},
		{"a test that follows", run("TestA", "TestA/x") + fail("TestA/x") + fail("TestA") + run("TestB") + panics("TestB", "TestB") + end, "TestA/x fails, TestB panics"},
		{"the stream ends", run("TestA", "TestA/x") + fail("TestA/x"), "TestA/x fails"},
	} {
		var got []string
		for e, err := range (&gotest.Reader{}).Read("report", strings.NewReader(tc.stream)) {
			if err != nil {
				continue // that the stream ends early
			}
			what := " fails"
			if strings.Contains(e.Case.Documents[0].Text, "panic: boom") {
				what = " panics"
			}
			got = append(got, strings.TrimPrefix(e.Case.ID, "example.com/a.")+what)
		}
		slices.Sort(got)
		check.Equal(t, strings.Join(got, ", "), tc.want, tc.name, got)
	}
}

func TestAccept_CLI6_ABigLogIsCutHeadAndTailWithAMark(t *testing.T) {
	const size = 100 << 20
	cases, problems, held := readers.Big(&gotest.Reader{}, "run.json", io.MultiReader(
		strings.NewReader(output("p", "TestBig", "the first line\n")),
		readers.Repeat(output("p", "TestBig", strings.Repeat("all is well ", 80)+"\n"), size),
		strings.NewReader(output("p", "TestBig", "    big_test.go:7: got 1, want 2\n")+ends("fail", "p", "TestBig")+ends("fail", "p", "")),
	))
	if len(cases) != 1 || len(problems) > 0 {
		t.Fatalf("%d cases, problems %v", len(cases), problems)
	}
	if held > 4<<20 {
		t.Errorf("reading holds %d bytes, and the log is no more than 512 KiB", held)
	}
	text := cases[0].Documents[0].Text
	if len(text) > gotest.DefaultHeadBytes+gotest.DefaultTailBytes+64 || len(text) < gotest.DefaultHeadBytes {
		t.Errorf("the log has %d bytes", len(text))
	}
	if !strings.HasPrefix(text, "the first line\n") || !strings.HasSuffix(text, "want 2\n") {
		t.Error("the log's head or tail is missing")
	}
	check.Equal(t, strings.Count(text, " bytes cut here ...]\n"), 1, "no line says how much was cut")
	if light := cases[0].Light; light.Classification != gotest.ProductBug {
		t.Errorf("Light says %s: it did not see the tail", light.Classification)
	}
}

func TestPassingTestsLeaveNothing(t *testing.T) {
	stream := readers.Repeat(ends("run", "p", "TestA")+output("p", "TestA", strings.Repeat("x", 4000)+"\n")+ends("pass", "p", "TestA"), 40<<20)
	cases, problems, held := readers.Big(&gotest.Reader{}, "run.json", stream)
	if len(cases) > 0 || len(problems) > 0 || held > 4<<20 {
		t.Errorf("%d cases, problems %v, %d bytes held though all tests pass", len(cases), problems, held)
	}
}

// TestBuildOutputIsBounded: packages that don't build, each with much to say, none of which a package names.
func TestBuildOutputIsBounded(t *testing.T) {
	t.Parallel()
	var stream strings.Builder
	for i := range 40 {
		line := fmt.Sprintf(`{"ImportPath":"example.com/p%d","Action":"build-output","Output":"%s\n"}`+"\n", i, strings.Repeat("x", 4000))
		fmt.Fprintf(&stream, "%s"+`{"Action":"fail","Package":"other.example/q%d","FailedBuild":"nowhere"}`+"\n", strings.Repeat(line, 30), i)
	}
	cases, _ := read(t, &gotest.Reader{}, strings.NewReader(stream.String()))
	if len(cases) < 30 {
		t.Fatalf("%d cases", len(cases))
	}
	for _, c := range cases {
		if n := len(c.Documents[0].Text); n > 200<<10 {
			t.Fatalf("the log of %s has %d bytes", c.ID, n)
		}
	}
}

// TestManyPackagesThatDoNotBuild: each gets its own output or none, and never that of all others, so that the work grows with the stream.
func TestManyPackagesThatDoNotBuild(t *testing.T) {
	t.Parallel()
	for _, form := range []string{"# p%d\n", "# p%d [p%[1]d.test]\n", "# p%d_test [p%[1]d.test]\n"} {
		var stream strings.Builder
		const packages = 3000
		for i := range packages {
			fmt.Fprintf(&stream, form+"a.go:1:2: no %[1]d\n", i)
		}
		for i := range packages {
			fmt.Fprintf(&stream, "FAIL\tp%d [build failed]\n", i)
		}
		cases, _ := read(t, &gotest.Reader{}, strings.NewReader(stream.String()))
		own, bytes := 0, 0
		for i, c := range cases {
			text := c.Documents[0].Text
			bytes += len(text)
			if strings.Contains(text, fmt.Sprintf(": no %d\n", i)) {
				own++
			}
		}
		if len(cases) != packages || own < 1000 || bytes > 2*stream.Len() {
			t.Errorf("%q: %d cases, %d with their own output, %d bytes of logs for %d of the stream", form, len(cases), own, bytes, stream.Len())
		}
	}
}

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
		check.Same(t, cmp.Diff(want, []bool{told(t, &cases[0]) != "", told(t, &cases[1]) != ""}), "with", held, "bytes the runs are told (-want +got)")
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
	check.Same(t, cmp.Diff([]string{"p.TestA: " + twice, "q.TestQ: " + twice}, got))
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
			"while two tests run", ends("run", "p", "TestA") + ends("run", "p", "TestB") + output("p", "TestA", "a\n") + "tool: no\n" + ends("fail", "p", "TestA") + ends("pass", "p", "TestB"),
			"a\n",
			gotest.Unread{Count: 1, Lines: []int{4}},
		},
		{
			"while the other test waits", ends("run", "p", "TestB") + ends("pause", "p", "TestB") + ends("run", "p", "TestA") + "tool: no\n" + ends("fail", "p", "TestA") + ends("pass", "p", "TestB"),
			"tool: no\n",
			gotest.Unread{Count: 1, Lines: []int{4}},
		},
		{
			"in a subtest", ends("run", "p", "TestA") + ends("run", "p", "TestA/b") + "tool: no\n" + ends("fail", "p", "TestA/b") + ends("fail", "p", "TestA"),
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
			check.Same(t, cmp.Diff(tc.unread, unread), "lines that are no events (-want +got)")
			if got := lastLog(cases); tc.log != "" && got != tc.log {
				t.Errorf("the log is %q, want %q", got, tc.log)
			}
		})
	}
}

func lastLog(cases []abi.Case) string { return cases[len(cases)-1].Documents[0].Text }

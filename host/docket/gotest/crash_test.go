package gotest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shadowcourt/shadowcourt/host/docket/gotest"
)

// TestAccept_FX8_ACrashBelongsToTheTestsThatRan reads streams that go test -json printed, see testdata/streams/sources.txtar.
// Each case holds the text that tells why it failed.
func TestAccept_FX8_ACrashBelongsToTheTestsThatRan(t *testing.T) {
	t.Parallel()
	for stream, want := range map[string]map[string]string{
		"timeoutparallel": {"TestOne": "panic: test timed out after 1s\n", "TestTwo": "panic: test timed out after 1s\n"},
		"faildead":        {"TestFails": "got 1, want 2\n", "TestSlow": "panic: test timed out after 1s\n"},
		"timeout":         {"TestSlow/part": "panic: test timed out after 1s\n"},
		"timeoutbefore":   {"TestSlow": "panic: test timed out after 1s\n"},
		"timeoutmain":     {"": "*** Test killed with quit: ran too long"},
		"cleanup":         {"TestCleanup": "panic: test timed out after 1s\n"},
		"partial":         {"TestSlow": "still nonepanic: test timed out after 1s\n"},
		"seed":            {"FuzzParse/seed#1": "panic: test timed out after 1s\n"},
		"exits":           {"TestExits": "cannot go on\n"},
		"exitzero":        {"TestExits": "panic: unexpected call to os.Exit(0)"},
		"fatal":           {"TestFails": "got 1, want 2\n", "": "no database\n"},
		"noise":           {"": "no database\n"},
		"maps":            {"TestMaps": "fatal error: concurrent map writes\n"},
		"asleep":          {"TestWaits": "fatal error: all goroutines are asleep"},
		"late":            {"TestOther": "panic: too late\n"},
		"lateend":         {"": "panic: too late\n"},
		"latepass":        {"TestOther": "panic: too late\n"},
		"initpanic":       {"": "panic: assignment to entry in nil map\n"},
		"parallelpanic":   {"TestB": "panic: boom [recovered, repanicked]\n"},
		"race":            {"": "WARNING: DATA RACE\n"},
		"killed":          {"TestKilled": "signal: killed\n"},
		"bench":           {"BenchmarkB": "got 1, want 2\n"},
		"failfast":        {"TestTwice": "got 1, want 2\n"},
		"twice":           {"TestTwice": "got 1, want 2\n", "TestBehind": "got 1, want 2\n", "TestBehind#2": "got 1, want 2\n"},
		"nothing":         {},
	} {
		t.Run(stream, func(t *testing.T) {
			t.Parallel()
			in, err := os.Open(filepath.Join("testdata", "streams", stream+".gotest.json"))
			if err != nil {
				t.Fatal(err)
			}
			defer in.Close()
			cases, problems := read(t, &gotest.Reader{}, in)
			if len(problems) > 0 {
				t.Errorf("problems %v", problems)
			}
			got := map[string]string{}
			for _, c := range cases {
				test := strings.TrimPrefix(strings.TrimPrefix(c.ID, c.Group), ".")
				got[test] = "no " + want[test]
				if strings.Contains(c.Documents[0].Text, want[test]) {
					got[test] = want[test]
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("what the cases hold (-want +got):\n%s", diff)
			}
		})
	}
}

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
	say := func(name, text string) string {
		return fmt.Sprintf(`{"Action":"output","Package":"example.com/a","Test":%q,"Output":%q}`+"\n", name, text)
	}
	run := func(names ...string) string {
		var b strings.Builder
		for _, name := range names {
			fmt.Fprintf(&b, `{"Action":"run","Package":"example.com/a","Test":%q}`+"\n", name)
			b.WriteString(say(name, "=== RUN   "+name+"\n"))
		}
		return b.String()
	}
	fail := func(name string) string {
		return say(name, "--- FAIL: "+name+" (0.00s)\n") + fmt.Sprintf(`{"Action":"fail","Package":"example.com/a","Test":%q}`+"\n", name)
	}
	panics := func(name, frame string) string {
		var text strings.Builder
		for _, line := range []string{"panic: boom [recovered, repanicked]\n", "\n", "goroutine 7 [running]:\n", "example.com/a." + frame + "(0x1)\n", "\t/a/a_test.go:9 +0x1\n"} {
			text.WriteString(say(name, line))
		}
		return say(name, "--- FAIL: "+name+" (0.00s)\n") + text.String()
	}
	const end = `{"Action":"output","Package":"example.com/a","Output":"FAIL\texample.com/a\t0.01s\n"}
{"Action":"fail","Package":"example.com/a"}
`
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
		if strings.Join(got, ", ") != tc.want {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
	}
}

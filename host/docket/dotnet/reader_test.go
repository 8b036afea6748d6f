package dotnet_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/shadowcourt/shadowcourt/host/docket/dotnet"
	"github.com/shadowcourt/shadowcourt/host/docket/internal/testkit/readers"
)

// TestAccept_IG4_DotNetRejectsByName: what is no report, or too much of one, is rejected with a code and a line.
func TestAccept_IG4_DotNetRejectsByName(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ report, want string }{
		"empty":        {" \n", "x.trx:1: column 2: has no report of a test runner of .NET (empty_docket)"},
		"JUnit":        {"<testsuites/>", "begins with <testsuites> and not with <TestRun> (not_dotnet)"},
		"no XML":       {"<TestRun><Results></TestRun>", "(not_xml)"},
		"cut":          {"<TestRun>\n<Results>", "x.trx:2: column 9: the report ends here, and <Results> is open (truncated)"},
		"DOCTYPE":      {`<!DOCTYPE a [<!ENTITY b "c">]><TestRun/>`, "(doctype)"},
		"a deep one":   {"<TestRun><Results>" + strings.Repeat("<InnerResults>", 100), "elements nest deeper than 64 (too_deep)"},
		"deep results": {"<TestRun><Results>" + strings.Repeat("<UnitTestResult outcome='Failed'><InnerResults>", 100), "elements nest deeper than 64 (too_deep)"},
		"a long tag":   {"<TestRun a='" + strings.Repeat("x", 17<<20) + "'/>", "a tag has more than 16 MiB (too_large)"},
		"compressed":   {"\x1f\x8b\x08", "x.trx: is compressed (gzip), a report is text in UTF-8 or ISO 8859-1 (not_text)"},
	} {
		cases, problems := readers.Cases(&dotnet.Reader{}, "x.trx", strings.NewReader(tc.report))
		if len(cases) != 0 || len(problems) != 1 || !strings.Contains(problems[0], tc.want) {
			t.Errorf("%s: %d cases, %q, want %q", name, len(cases), problems, tc.want)
		}
	}
}

func TestFaultOfTheReaderBelow(t *testing.T) {
	t.Parallel()
	broken := errors.New("the disk is gone")
	in := io.MultiReader(strings.NewReader(`<TestRun><Results><UnitTestResult testName="a" outcome="Failed"/>`), iotest.ErrReader(broken))
	cases, problems := readers.Cases(&dotnet.Reader{}, "x.trx", in)
	if len(cases) != 1 || len(problems) != 1 || !strings.Contains(problems[0], broken.Error()) {
		t.Errorf("%d cases, %q", len(cases), problems)
	}
}

// Nobody is asked again who has seen enough.
func TestStops(t *testing.T) {
	t.Parallel()
	report := `<TestRun><Results>` + strings.Repeat(`<UnitTestResult testName="a" outcome="Failed"/>`, 3) + `</Results><ResultSummary/></TestRun>`
	reader := dotnet.Reader{}
	seen := 0
	for _, err := range reader.Read("x.trx", strings.NewReader(report)) {
		if err != nil {
			t.Error(err)
		}
		seen++
		break
	}
	if seen != 1 || reader.Tests != 3 {
		t.Errorf("%d cases of %d tests", seen, reader.Tests)
	}
}

// Definitions and the summary of a run may stand before its results. The classes that wait have a limit.
func TestTRXInAnyOrder(t *testing.T) {
	t.Parallel()
	const (
		summary = `<ResultSummary><RunInfos><RunInfo outcome="Error"><Text>1 test failed</Text></RunInfo></RunInfos></ResultSummary>`
		defined = `<TestDefinitions><UnitTest id="t"><TestMethod className="A.B, a.dll" name="c"/></UnitTest></TestDefinitions>`
		failed  = `<Results><UnitTestResult testId="t" testName="A.B.c" outcome="Failed"/></Results>`
		passed  = `<Results><UnitTestResult testId="t" testName="A.B.c" outcome="Passed"/></Results>`
	)
	for _, tc := range []struct {
		report, want string
		held         int
	}{
		{summary + defined + failed, "c fails in A.B", 0},
		{failed + defined + summary, "c fails in A.B", 0},
		{defined + failed, "A.B.c fails", 1},
		{summary + defined + passed, "run fails outside its tests", 0},
	} {
		cases, problems := readers.Cases(&dotnet.Reader{HeldBytes: tc.held}, "x.trx", strings.NewReader("<TestRun>"+tc.report+"</TestRun>"))
		if len(cases) != 1 || len(problems) > 0 || cases[0].Subject != tc.want {
			t.Errorf("%s: %v, %q, want %s", tc.report, cases, problems, tc.want)
		}
	}
}

// The logs of tests that wait for their classes have a limit, behind which they are given without.
func TestBigLogs(t *testing.T) {
	const test = `<UnitTestResult testId="t" testName="A.B.c" outcome="Failed"><Output><StdOut>`
	report := io.MultiReader(
		strings.NewReader(`<TestRun><Results>`), readers.Repeat(test+strings.Repeat("a long line of a log\n", 5_000)+`</StdOut></Output></UnitTestResult>`, 15<<20),
		strings.NewReader(`</Results><TestDefinitions><UnitTest id="t"><TestMethod className="A.B"/></UnitTest></TestDefinitions></TestRun>`),
	)
	cases, problems, held := readers.Big(&dotnet.Reader{HeldBytes: 1 << 20, HeadBytes: 1 << 10, TailBytes: 1 << 10}, "x.trx", report)
	if len(cases) < 100 || len(problems) > 0 || held > 5<<20 {
		t.Errorf("%d cases, %q, %d bytes held", len(cases), problems, held)
	}
	if last := cases[len(cases)-1]; last.Group != "A.B" || !strings.HasPrefix(last.ID, "A.B.c#") {
		t.Errorf("the last is %s of %s", last.ID, last.Group)
	}
}

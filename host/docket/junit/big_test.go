package junit_test

import (
	"io"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/docket/internal/testkit/readers"
	"github.com/shadowcourt/shadowcourt/host/docket/junit"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/tier"
)

// These are not parallel: they look at the memory of the process.

func TestAccept_CLI6_ABigTextIsCutHeadAndTailWithAMark(t *testing.T) {
	line := strings.Repeat("all is well ", 80) + "\n"
	for name, in := range map[string]struct {
		begin, repeated, end string
		size                 int
	}{
		"plain":          {"", line, "", 20 << 20},
		"CDATA":          {"<![CDATA[", "all <is> well ]] &\r\n", "]]>", 20 << 20},
		"of three bytes": {"", "よし", "", 20 << 20},
	} {
		t.Run(name, func(t *testing.T) {
			stream := io.MultiReader(
				strings.NewReader(`<testsuite><testcase name="a"><failure>the first line`+"\n"+in.begin),
				readers.Repeat(in.repeated, in.size),
				strings.NewReader(in.end+"\nAssertionError: got 1, want 2\n</failure></testcase></testsuite>"),
			)
			cases, problems, held := readers.Big(&junit.Reader{}, "report.xml", stream)
			if len(cases) != 1 || len(problems) > 0 {
				t.Fatalf("%d cases, problems %v", len(cases), problems)
			}
			if held > 4*int64(in.size) {
				t.Errorf("reading holds %d bytes", held)
			}
			text := cases[0].Documents[0].Text
			if len(text) > 513<<10 || !strings.HasPrefix(text, "the first line\n") || !strings.HasSuffix(text, "got 1, want 2\n") {
				t.Errorf("the text has %d bytes, or lost its head or tail", len(text))
			}
			check.Equal(t, strings.Count(text, " bytes cut here ...]\n"), 1, "no line says how much was cut")
			check.Equal(t, cases[0].Light.Confidence, 0.60, "Light says", cases[0].Light, "it did not see the tail")
		})
	}
}

func TestPassingTestsLeaveNothing(t *testing.T) {
	passing := `<testcase classname="c" name="a"><system-out>` + strings.Repeat("x", 4000) + `</system-out></testcase>`
	stream := io.MultiReader(
		strings.NewReader("<testsuite>"), readers.Repeat(passing, 5000*len(passing)), strings.NewReader("</testsuite>"),
	)
	cases, problems, held := readers.Big(&junit.Reader{}, "report.xml", stream)
	if len(cases) > 0 || len(problems) > 0 || held > 4<<20 {
		t.Errorf("%d cases, problems %v, %d bytes held", len(cases), problems, held)
	}
}

// TestAccept_IG4_BombsInReportsOfJUnit: each is rejected with its limit, and takes no more memory than a few reports of the most bytes.
func TestAccept_IG4_BombsInReportsOfJUnit(t *testing.T) {
	tier.Long(t, "host/docket")
	for name, bomb := range map[string]struct {
		begin, repeated, want string
	}{
		"a text":     {"<testsuite><testcase name='a'><failure>", "all is well ", "the report has more than 64 MiB: split it (too_large)"},
		"attributes": {"<testsuite><testcase ", "a=''", "a tag has more than 16 MiB (too_large)"},
		"elements":   {"<testsuite><testcase>", "<failure/>", "<testcase> is open (truncated)"},
		"nesting":    {"<testsuite>", "<testsuite>", "elements nest deeper than 64 (too_deep)"},
		"entities":   {"<!DOCTYPE a [", "<!ENTITY b '&c;&c;'>", "a report may not have (doctype)"},
	} {
		t.Run(name, func(t *testing.T) {
			size := 20 << 20
			if name == "a text" {
				size = docket.MaxReportBytes + 1<<20
			}
			in := io.MultiReader(strings.NewReader(bomb.begin), readers.Repeat(bomb.repeated, size))
			_, problems, held := readers.Big(&junit.Reader{}, "report.xml", in)
			if len(problems) != 1 || !strings.HasSuffix(problems[0], bomb.want) {
				t.Errorf("%q, want %s", problems, bomb.want)
			}
			if held > 512<<20 {
				t.Errorf("reading holds %d MiB", held>>20)
			}
		})
	}
}

// Definitions and the summary of a run may stand before its results. The classes that wait have a limit, and so has nesting.
func TestAccept_IG4_TRXInAnyOrder(t *testing.T) {
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
		{"<Results>" + strings.Repeat("<UnitTestResult outcome='Failed'><InnerResults>", 100), "elements nest deeper than 64 (too_deep)", 0},
		{failed + "<Results>", "closed by </TestRun> (not_xml)", 0},
	} {
		cases, got := readers.Cases(&junit.Reader{HeldBytes: tc.held}, "x.trx", strings.NewReader("<TestRun>"+tc.report+"</TestRun>"))
		for _, c := range cases {
			got = append([]string{c.Subject}, got...)
		}
		if len(got) == 0 || !strings.HasSuffix(strings.Join(got, ", "), tc.want) {
			t.Errorf("%s: %q, want %s", tc.report, got, tc.want)
		}
	}
	reader := junit.Reader{}
	for range reader.Read("x.trx", strings.NewReader("<TestRun><Results>"+strings.Repeat(`<UnitTestResult testName="a" outcome="Failed"/>`, 3)+"</Results></TestRun>")) { //nolint:errcheck // an iterator that goes on after the break panics
		break
	}
	check.Equal(t, reader.Tests, 3, "tests")
}

// The logs of tests that wait for their classes have a limit, behind which they are given without.
func TestAccept_IG4_BigLogsInTRX(t *testing.T) {
	const test = `<UnitTestResult testId="t" testName="A.B.c" outcome="Failed"><Output><StdOut>`
	report := io.MultiReader(
		strings.NewReader(`<TestRun><Results>`), readers.Repeat(test+strings.Repeat("a long line of a log\n", 5_000)+`</StdOut></Output></UnitTestResult>`, 15<<20),
		strings.NewReader(`</Results><TestDefinitions><UnitTest id="t"><TestMethod className="A.B"/></UnitTest></TestDefinitions></TestRun>`),
	)
	cases, problems, held := readers.Big(&junit.Reader{HeldBytes: 1 << 20, HeadBytes: 1 << 10, TailBytes: 1 << 10}, "x.trx", report)
	if len(cases) < 100 || len(problems) > 0 || held > 5<<20 {
		t.Errorf("%d cases, %q, %d bytes held", len(cases), problems, held)
	}
	if last := cases[len(cases)-1]; last.Group != "A.B" || !strings.HasPrefix(last.ID, "A.B.c#") {
		t.Errorf("the last is %s of %s", last.ID, last.Group)
	}
}

package playwright_test

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/shadowcourt/shadowcourt/host/docket/internal/testkit/readers"
	"github.com/shadowcourt/shadowcourt/host/docket/playwright"
)

// TestAccept_IG4_PlaywrightRejectsByName: what is no report, or too much of one, is rejected with a code and a line.
func TestAccept_IG4_PlaywrightRejectsByName(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ report, want string }{
		"empty":         {" \n", "x.json: has no report of Playwright (empty_docket)"},
		"another list":  {`[1]`, "x.json:1: is no report of Playwright, but a list (not_playwright)"},
		"another JSON":  {`{"a":1}`, "x.json:1: is no report of Playwright: it has no suites (not_playwright)"},
		"no JSON":       {`{"suites":[}`, "(not_json)"},
		"cut":           {"{\"suites\":[\n{", "x.json:2: column 2: the text ends here, and is not complete (truncated)"},
		"a deep one":    {`{"suites":[` + strings.Repeat(`{"suites":[`, 100), "values nest deeper than 64 (too_deep)"},
		"a deep config": {`{"config":` + strings.Repeat(`[`, 100), "values nest deeper than 64 (too_deep)"},
		"compressed":    {"PK\x03\x04", "x.json: is compressed (zip), a report is UTF-8 text (not_text)"},
	} {
		cases, problems := readers.Cases(&playwright.Reader{}, "x.json", strings.NewReader(tc.report))
		if len(cases) != 0 || len(problems) != 1 || !strings.Contains(problems[0], tc.want) {
			t.Errorf("%s: %d cases, %q, want %q", name, len(cases), problems, tc.want)
		}
	}
}

const failing = `{"status":"unexpected","expectedStatus":"passed","results":[{"status":"failed","error":{"message":"no"}}]}`

// Values of other kinds than Playwright writes are passed over.
func TestOtherKinds(t *testing.T) {
	t.Parallel()
	report := `{"config":1,"errors":{},"suites":[2,{"title":3,"file":[],"specs":[{"title":"a","tests":[null,` + failing + `,
{"status":"unexpected","expectedStatus":"failed","results":[{"status":"passed","duration":"x","stdout":"y","errors":{}}]},
{"status":"unexpected","results":7}]}]}]}`
	cases, problems := readers.Cases(&playwright.Reader{}, "x.json", strings.NewReader(report))
	if len(cases) != 3 || len(problems) != 0 {
		t.Fatalf("%d cases, %q", len(cases), problems)
	}
	for i, want := range []string{"no\n", "Expected the test to be failed, but it passed.\n"} {
		if got := cases[i].Documents[0].Text; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if last := cases[2]; last.ID != "a#3" || len(last.Documents) != 0 {
		t.Errorf("%s with %d documents", last.ID, len(last.Documents))
	}
}

func TestStopsAndFaults(t *testing.T) {
	t.Parallel()
	report := `{"suites":[{"specs":[{"title":"a","tests":[` + failing + `,` + failing + `]}]}]`
	reader := playwright.Reader{}
	for _, err := range reader.Read("x.json", strings.NewReader(report)) {
		if err != nil {
			t.Error(err)
		}
		break
	}
	if reader.Tests != 1 {
		t.Errorf("%d tests were read, want 1", reader.Tests)
	}
	broken := errors.New("the disk is gone")
	cases, problems := readers.Cases(&playwright.Reader{}, "x.json", io.MultiReader(strings.NewReader(report), iotest.ErrReader(broken)))
	if len(cases) != 2 || len(problems) != 1 || !strings.Contains(problems[0], broken.Error()) {
		t.Errorf("%d cases, %q", len(cases), problems)
	}
}

// The output of a test has a limit.
func TestBigLogs(t *testing.T) {
	report := io.MultiReader(
		strings.NewReader(`{"suites":[{"specs":[{"title":"a","tests":[{"status":"unexpected","results":[{"status":"failed","stdout":[`),
		readers.Repeat(`{"text":"a long line of a log that is printed again and again\n"},`, 60<<20),
		strings.NewReader(`{"text":"the end"}]}]}]}]}]}`),
	)
	cases, problems, held := readers.Big(&playwright.Reader{HeadBytes: 1 << 10, TailBytes: 1 << 10}, "x.json", report)
	if len(cases) != 1 || len(problems) > 0 || held > 10<<20 {
		t.Fatalf("%d cases, %q, %d bytes held", len(cases), problems, held)
	}
	if log := cases[0].Documents[1].Text; !strings.HasSuffix(log, "the end\n") || len(log) > 4<<10 {
		t.Errorf("%d bytes of log", len(log))
	}
}

package testcmd

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/host/docket/junit"
)

// readJest converts a report and reads it, and gives what came of the tests.
func readJest(t *testing.T, dir, text string) (map[junit.Test]junit.End, []string, error) {
	t.Helper()
	var out strings.Builder
	if err := writeJest(&out, strings.NewReader(text), dir); err != nil {
		return nil, nil, err
	}
	ended := map[junit.Test]junit.End{}
	reader := junit.Reader{Ended: func(test junit.Test, end junit.End) {
		test.Elapsed = 0
		ended[test] = end
	}}
	var cases []string
	for entry, err := range reader.Read("jest", strings.NewReader(out.String())) {
		if err != nil {
			t.Fatalf("%v\n%s", err, out.String())
		}
		var one strings.Builder
		one.WriteString(entry.Case.ID)
		for i := range entry.Case.Documents {
			one.WriteString("\n" + entry.Case.Documents[i].Text)
		}
		cases = append(cases, one.String())
	}
	return ended, cases, nil
}

func TestAccept_AL6_JestsOwnReportIsConverted(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	ended, cases, err := readJest(t, dir, `{"numFailedTests": 2, "snapshot": {"a": [1, {}]}, "testResults": [
{"name": "`+filepath.ToSlash(dir)+`/src/cart.test.js", "status": "failed", "message": "all", "assertionResults": [
  {"ancestorTitles": ["cart", "with <two>"], "title": "totals", "status": "failed", "duration": 3500, "failureMessages": ["\u001b[31mError\u001b[39m: expect(2) & more\n  at src/cart.test.js:3:1"]},
  {"ancestorTitles": [], "title": "greets", "status": "passed", "duration": null, "failureMessages": []},
  {"ancestorTitles": [], "title": "retries", "status": "passed", "failureMessages": [], "retryReasons": ["too slow"]},
  {"ancestorTitles": [], "title": "later", "status": "todo"}]},
{"name": "/elsewhere/broken.test.js", "status": "failed", "message": "SyntaxError: here", "assertionResults": []}], "success": false}`)
	if err != nil {
		t.Fatal(err)
	}
	for test, want := range map[junit.Test]junit.End{
		{Class: "cart with <two>", Name: "totals", File: "src/cart.test.js"}:                                      junit.Failed,
		{Class: "src/cart.test.js", Name: "greets", File: "src/cart.test.js"}:                                     junit.Passed,
		{Class: "src/cart.test.js", Name: "retries", File: "src/cart.test.js"}:                                    junit.Failed,
		{Class: "src/cart.test.js", Name: "later", File: "src/cart.test.js"}:                                      junit.Skipped,
		{Class: "Test suite failed to run", Name: "/elsewhere/broken.test.js", File: "/elsewhere/broken.test.js"}: junit.Failed,
	} {
		if got, ok := ended[test]; !ok || got != want {
			t.Errorf("%+v ended as %v (%v), want %v of %v", test, got, ok, want, ended)
		}
	}
	all := strings.Join(cases, "\n")
	for _, want := range []string{"Error: expect(2) & more\n  at src/cart.test.js:3:1", "flakyFailure:\ntoo slow", "SyntaxError: here"} {
		if !strings.Contains(all, want) || len(cases) != 3 || strings.Contains(all, "[31m") {
			t.Errorf("%d cases without %q:\n%s", len(cases), want, all)
		}
	}
	for _, damaged := range []string{"", "[]", "{", `{"testResults": {}}`, `{"testResults": [{"name": "a"`, `{"testResults": [{"name": 3}]}`, `{"a": [1}`} {
		if _, _, err := readJest(t, dir, damaged); err == nil {
			t.Errorf("%q is converted", damaged)
		}
	}
}

// FuzzJest: what is converted can be read.
func FuzzJest(f *testing.F) {
	f.Add(`{"testResults": [{"name": "a", "status": "failed", "assertionResults": [{"ancestorTitles": ["\u0000"], "title": "]]>", "status": "failed", "failureMessages": ["<&"]}]}]}`)
	f.Add(`{"testResults": [{"name": "a", "status": "failed", "message": "m"}], "x": [{}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		_, _, _ = readJest(t, "/project", text)
	})
}

package run

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

func TestSniff(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 2*sniffBytes)
	tests := []struct{ name, input, want string }{
		{"nothing", "", JSONL},
		{"text", "hello\nworld", "plain text"},
		{"a list of numbers", "[1, 2]", JSONL},
		{"a case", `{"id":"a","subject":"s"}`, JSONL},
		{"a case behind blank lines", "\xef\xbb\xbf\n\n" + `{"id":"a","subject":"s"}`, JSONL},
		{"a long case", `{"id":"a","subject":"s","documents":[{"name":"` + long, JSONL},
		{"a broken case", `{"id":"a",,`, JSONL},
		{"a case with the words in it", `{"id":"content","subject":"Action","documents":[{"Action":1,"content":2}]}`, JSONL},
		{"test events", `{"Time":"t","Action":"start","Package":"p"}` + "\n", GoTest},
		{"test events behind build errors", "# p\n./a.go:3:1: oops\n" + `{"Action":"fail"}`, GoTest},
		{"a report", "<?xml version='1.0'?>\n<testsuites/>", JUnit},
		{"TAP", "TAP version 14\n1..1\n", "TAP, the Test Anything Protocol"},
		{"TAP with its plan first", "1..2\nok 1 a\n{\"id\":\"a\"}\nnot ok 2 b\n", "TAP, the Test Anything Protocol"},
		{"TAP behind what prove prints", "t/a.t .. \nok 1 - a\n", "TAP, the Test Anything Protocol"},
		{"a report of vstest", "\xef\xbb\xbf<?xml version='1.0'?>\n<TestRun id='1'>", DotNet},
		{"a report of xUnit.net", "<assemblies>", "a report of xUnit.net"},
		{"a report of NUnit", "<ns:test-run id='1'>", "a report of NUnit"},
		{"a report of Playwright", "{\n \"config\": {},\n \"suites\": []\n}", "the JSON of Playwright"},
		{"a report without its first line", "\xef\xbb\xbf  <testsuite>", JUnit},
		{"a page on one line", `{"content":[{"id":1,"uuid":"u"}],"page":{}}`, ReportPortal},
		{"a long page", `{"content":[{"id":1,"description":"` + long, ReportPortal},
		{"a page on many lines", "{\n  \"page\": {\n    \"number\": 1\n  },\n  \"content\": [\n", ReportPortal},
		{"a launch", "{\n \"owner\": \"ci\",\n \"id\": 7,\n \"uuid\": \"u\"\n}", ReportPortal},
		{"a list", "[\n  {\n", ReportPortal},
		{"a log of findings", `{"version":"2.1.0","runs":[]}`, "a SARIF log, which is not a test report"},
		{"a log that names its schema", `{"$schema":"https://x/sarif-2.1.0.json"`, "a SARIF log, which is not a test report"},
		{"a long log that ends with its schema", `{"runs":[{"results":[{"ruleId":"` + long, "a SARIF log, which is not a test report"},
		{"a log on many lines", "{\n  \"version\": \"2.1.0\",\n  \"runs\": [\n", "a SARIF log, which is not a test report"},
		{"test events that quote a log", `{"Action":"output","Package":"p","Output":"{\"$schema\":\"sarif\",\"runs\":[{\"tool\""}` + "\n", GoTest},
		{"test output that begins with a bracket", "[build] x\n" + `{"Action":"fail"}`, GoTest},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, other := sniff(bufio.NewReaderSize(strings.NewReader(tt.input), sniffBytes))
			if other != nil {
				got = other.name
			}
			check.Equal(t, got, tt.want)
		})
	}
}

// TestSniffHoldsNoSlowStreamUp gives the beginning of a stream and no more.
func TestSniffHoldsNoSlowStreamUp(t *testing.T) {
	t.Parallel()
	for _, begin := range []string{
		`{"id":"a","subject":"s"}` + "\n", `{"id":"a",,` + "\n", `{"id":"a"}` + "\n", `{"Action":"start"}` + "\n",
		"<?xml version='1.0'?>\n<testsuites>\n", "{\n\"content\":[\n", "[{}\n", "\x1f\x8b",
	} {
		out, in := io.Pipe()
		go func() { _, _ = io.WriteString(in, begin) }()
		if format, other := sniff(bufio.NewReaderSize(out, sniffBytes)); format == "" && other == nil {
			t.Errorf("%q: no format", begin)
		}
		_ = in.Close()
	}
}

// TestAccept_FZ9_ReadingIsTold: a report of 5 MB and a bit is told five times, before its first case comes.
func TestAccept_FZ9_ReadingIsTold(t *testing.T) {
	t.Parallel()
	line := `{"Action":"output","Package":"p","Test":"T","Output":"` + strings.Repeat("x", 1<<10) + `\n"}` + "\n"
	text := strings.Repeat(line, 5<<10) + `{"Action":"fail","Package":"p","Test":"T"}` + "\n"
	dockets := must.Get(OpenDockets(t.Context(), strings.NewReader(text), nil, Auto))(t)
	var told []int64
	dockets.Read = func(name string, bytes int64) {
		check.Equal(t, name, "stdin")
		told = append(told, bytes>>20)
	}
	for _, err := range dockets.Entries("") {
		must.Do(t, err)
	}
	if len(told) != 5 || told[4] != 5 {
		t.Errorf("told %v", told)
	}
}

// TestAccept_FX8_FormatsThatCannotBeRead gives the beginnings of well-known formats.
func TestAccept_FX8_FormatsThatCannotBeRead(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"\xff\xfe{\x00":                 "x.f is text in UTF-16; convert it: `iconv -f UTF-16 -t UTF-8 x.f`",
		"\xfe\xff\x00{":                 "x.f is text in UTF-16",
		"\x1f\x8b\x08":                  "x.f is compressed (gzip); decompress it: `gzip -dc x.f > REPORT`",
		"\x28\xb5\x2f\xfd":              "x.f is compressed (zstd)",
		"BZh91AY":                       "x.f is compressed (bzip2)",
		"\xfd7zXZ\x00":                  "x.f is compressed (xz)",
		"PK\x03\x04":                    "x.f is a zip archive; extract the reports first, as with `unzip x.f`",
		"=== RUN   TestA\n{\"id\":1}\n": "x.f is what `go test` prints for people; run `go test -json ./...`",
		"# p\nok  \tp\t0.1s\n":          "x.f is what `go test` prints for people",
		"%PDF-1.4":                      "x.f is a PDF document",
		"{\x00\"\x00":                   "x.f is binary data",
		"\x7fELF\x02\x01\x00":           "x.f is binary data; Shadowcourt reads test reports (JUnit XML, go test -json",
		"hello\nworld 1\n":              "x.f is plain text; Shadowcourt reads test reports (JUnit XML, go test -json",
		"=== test session starts ===\nplatform x":   "x.f is what pytest prints for people",
		"\n<!-- a -->\n<checkstyle version='8'>":    "x.f is a Checkstyle report",
		"<?xml version='1.0'?><html lang='en'>":     "x.f is an HTML page",
		"<ns:test-results id='1'>":                  "x.f is a report of NUnit; write JUnit XML",
		"<!doctype html>\n":                         "x.f is an HTML page",
		"<robot generator='x'>":                     "x.f is a report of Robot Framework",
		"<testng-results skipped='0'>":              "x.f is a report of TestNG",
		"<BugCollection>":                           "x.f is a report of SpotBugs, which is not a test report",
		"<coverage line-rate='1'>":                  "x.f is a report of code coverage",
		`{"reportFormat":"CTRF","results":{}}`:      "x.f is a CTRF report",
		`{"numFailedTests":1}`:                      "x.f is the JSON of Jest or Vitest",
		`{"stats":{},"tests":[]}`:                   "x.f is the JSON of Mocha",
		`{"exitcode":1,"tests":[]}`:                 "x.f is the JSON of pytest",
		`{"type":"suite","event":"started"}`:        "x.f is the JSON of cargo test",
		`{"protocolVersion":"1","runnerVersion":0}`: "x.f is the JSON of dart test",
		`{"Issues":[],"Report":{}}`:                 "x.f is a report of golangci-lint",
		`[{"filePath":"a.js","messages":[]}]`:       "x.f is a report of ESLint",
		`[{"check_name":"a","fingerprint":"b"}]`:    "x.f is a code quality report of GitLab",
		`[{"keyword":"Feature","elements":[]}]`:     "x.f is a report of Cucumber",
	} {
		_, other := sniff(bufio.NewReaderSize(strings.NewReader(text), sniffBytes))
		if other == nil {
			t.Errorf("%q: it is read", text)
			continue
		}
		if got := other.fault(&input{name: "x.f"}).Error(); !strings.HasPrefix(got, want) || strings.Contains(got, "\n") {
			t.Errorf("%q:\n got %s\nwant %s", text, got, want)
		}
	}
	for _, text := range []string{`{"id":"a","subject":"s"}`, `{"Action":"start"}`, "<testsuites/>", "<unknown>", `[{"id":1,"uuid":"u"}]`, "{\"id\":\"a\",\"subject\":\"\x00\"}\n"} {
		if _, other := sniff(bufio.NewReaderSize(strings.NewReader(text), sniffBytes)); other != nil {
			t.Errorf("%q is taken for %s", text, other.name)
		}
	}
}

func TestAccept_IG4_PatternsAreExpanded(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{
		"b.xml", "a.xml", "c.json", "out/x.xml", "out/deep/er/x.xml", "out/deep/y.xml", "out/.hidden/z.xml", ".dot.xml", "[1].xml", "in/empty/only.txt",
	} {
		must.Do(t, os.MkdirAll(filepath.Dir(name), 0o700))
		must.Do(t, os.WriteFile(name, nil, 0o600))
	}
	here := must.Get(os.Getwd())(t)
	for pattern, want := range map[string]string{
		"*.xml":                   "[1].xml a.xml b.xml",
		"?.xml":                   "a.xml b.xml",
		"[ab].xml":                "a.xml b.xml",
		"[1].xml":                 "[1].xml", // a file
		"none.xml":                "none.xml",
		"-":                       "-",
		"**/*.xml":                "[1].xml a.xml b.xml out/deep/er/x.xml out/deep/y.xml out/x.xml",
		"out/**/x.xml":            "out/deep/er/x.xml out/x.xml",
		"out/**":                  "out/deep/er/x.xml out/deep/y.xml out/x.xml",
		"./out/*/*.xml":           "out/deep/y.xml",
		"out/.*/*.xml":            "out/.hidden/z.xml",
		"**/deep/**/*.xml":        "out/deep/er/x.xml out/deep/y.xml",
		"o*/deep/y.xml":           "out/deep/y.xml",
		"*.xml a.xml ./b.xml":     "[1].xml a.xml ./b.xml",
		"*.json *.json c.json":    "c.json",
		here + "/o*/x.xml":        here + "/out/x.xml",
		"*.gone":                  "! no file matches *.gone",
		"gone/**/*.xml a.xml *.y": "! no file matches gone/**/*.xml\nno file matches *.y",
		"in*":                     "! in* matches folders and no file: a pattern for the files in them ends with /**/*.xml, or the like",
		"[":                       "! [: the pattern is wrong: a [ has no end, or nothing between it and its end",
	} {
		got, err := Expand(t.Context(), strings.Fields(pattern))
		said := filepath.ToSlash(strings.Join(got, " "))
		if err != nil {
			said = "! " + err.Error()
		}
		check.Same(t, cmp.Diff(filepath.ToSlash(want), said), pattern)
	}
}

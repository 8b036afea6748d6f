package main

import (
	"bufio"
	"strings"
	"testing"
)

// TestAccept_FX8_FormatsThatCannotBeRead gives the beginnings of well-known formats.
func TestAccept_FX8_FormatsThatCannotBeRead(t *testing.T) {
	t.Parallel()
	for input, want := range map[string]string{
		"\xff\xfe{\x00":    "x is text in UTF-16; convert it: `iconv -f UTF-16 -t UTF-8 x.f`",
		"\xfe\xff\x00{":    "x is text in UTF-16",
		"\x1f\x8b\x08":     "x is compressed (gzip); decompress it: `gzip -dc x.f | shadowcourt try -`",
		"\x28\xb5\x2f\xfd": "x is compressed (zstd)",
		"BZh91AY":          "x is compressed (bzip2)",
		"\xfd7zXZ\x00":     "x is compressed (xz)",
		"PK\x03\x04":       "x is a zip archive",
		"%PDF-1.4":         "x is a PDF document",
		"=== RUN   TestA\n--- PASS: TestA (0.0s)":     "x is what `go test` prints for people; tests are read from its events: `go test -json ./... > x.f`",
		"=== test session starts ===\nplatform x":     "x is what pytest prints for people",
		"TAP version 14\n1..1":                        "x is TAP",
		"1..2\nok 1 a\nnot ok 2":                      "x is TAP",
		"\n<!-- a -->\n<checkstyle version='8'>":      "x is a Checkstyle report",
		"<?xml version='1.0'?><html lang='en'>":       "x is an HTML page",
		"<!doctype html>\n":                           "x is an HTML page",
		"\xef\xbb\xbf<?xml version='1'?><assemblies>": "x is a report of xUnit.net",
		"<ns:test-run id='1'>":                        "x is a report of NUnit",
		"<robot generator='x'>":                       "x is a report of Robot Framework",
		"<testng-results skipped='0'>":                "x is a report of TestNG",
		"<BugCollection>":                             "x is a report <BugCollection>",
		"<coverage line-rate='1'>":                    "x is a report of code coverage",
		`{"version":"2.1.0","runs":[]}`:               "x is a SARIF log",
		`{"$schema":"https://x/sarif-2.1.0.json"`:     "x is a SARIF log",
		`{"reportFormat":"CTRF","results":{}}`:        "x is a CTRF report",
		`{"numFailedTests":1}`:                        "x is the JSON of Jest or Vitest",
		`{"stats":{},"tests":[]}`:                     "x is the JSON of Mocha",
		`{"config":{},"suites":[]}`:                   "x is the JSON of Playwright",
		`{"exitcode":1,"tests":[]}`:                   "x is the JSON of pytest",
		`{"type":"suite","event":"started"}`:          "x is the JSON of cargo test",
		`{"protocolVersion":"1","runnerVersion":0}`:   "x is the JSON of dart test",
		`{"Issues":[],"Report":{}}`:                   "x is a report of golangci-lint",
		`[{"filePath":"a.js","messages":[]}]`:         "x is a report of ESLint",
		`[{"check_name":"a","fingerprint":"b"}]`:      "x is a code quality report of GitLab",
		`[{"keyword":"Feature","elements":[]}]`:       "x is a report of Cucumber",
	} {
		_, other := sniff(bufio.NewReaderSize(strings.NewReader(input), sniffBytes))
		if other == nil {
			t.Errorf("%q: it is read", input)
			continue
		}
		if got := other.fault("x", "x.f").Error(); !strings.HasPrefix(got, want) || strings.Contains(got, "\n") {
			t.Errorf("%q:\n got %s\nwant %s", input, got, want)
		}
	}
	for _, input := range []string{`{"id":"a","subject":"s"}`, `{"Action":"start"}`, "<testsuites/>", "<unknown>", `[{"id":1,"uuid":"u"}]`} {
		if _, other := sniff(bufio.NewReaderSize(strings.NewReader(input), sniffBytes)); other != nil {
			t.Errorf("%q is taken for %s", input, other.name)
		}
	}
}

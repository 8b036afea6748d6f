package run

import (
	"bufio"
	"strings"
	"testing"
)

// TestAccept_FX8_FormatsThatCannotBeRead gives the beginnings of well-known formats.
func TestAccept_FX8_FormatsThatCannotBeRead(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"\xff\xfe{\x00":       "x.f is text in UTF-16; convert it: `iconv -f UTF-16 -t UTF-8 x.f`",
		"\xfe\xff\x00{":       "x.f is text in UTF-16",
		"\x1f\x8b\x08":        "x.f is compressed (gzip); decompress it: `gzip -dc x.f > REPORT`",
		"\x28\xb5\x2f\xfd":    "x.f is compressed (zstd)",
		"BZh91AY":             "x.f is compressed (bzip2)",
		"\xfd7zXZ\x00":        "x.f is compressed (xz)",
		"PK\x03\x04":          "x.f is a zip archive",
		"%PDF-1.4":            "x.f is a PDF document",
		"{\x00\"\x00":         "x.f is binary data",
		"\x7fELF\x02\x01\x00": "x.f is binary data; Shadowcourt reads test reports (JUnit XML, go test -json",
		"hello\nworld 1\n":    "x.f is plain text; Shadowcourt reads test reports (JUnit XML, go test -json",
		"=== test session starts ===\nplatform x":   "x.f is what pytest prints for people",
		"\n<!-- a -->\n<checkstyle version='8'>":    "x.f is a Checkstyle report",
		"<?xml version='1.0'?><html lang='en'>":     "x.f is an HTML page",
		"<ns:test-results id='1'>":                  "x.f is a report of NUnit; write JUnit XML",
		"<!doctype html>\n":                         "x.f is an HTML page",
		"<robot generator='x'>":                     "x.f is a report of Robot Framework",
		"<testng-results skipped='0'>":              "x.f is a report of TestNG",
		"<BugCollection>":                           "x.f is a report <BugCollection>",
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

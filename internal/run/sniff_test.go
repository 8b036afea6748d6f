package run

import (
	"bufio"
	"io"
	"strings"
	"testing"
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
			if got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
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
	dockets, err := OpenDockets(t.Context(), strings.NewReader(text), nil, Auto)
	if err != nil {
		t.Fatal(err)
	}
	var told []int64
	dockets.Read = func(name string, bytes int64) {
		if name != "stdin" {
			t.Errorf("of %s", name)
		}
		told = append(told, bytes>>20)
	}
	for _, err := range dockets.Entries("") {
		if err != nil {
			t.Error(err)
		}
	}
	if len(told) != 5 || told[4] != 5 {
		t.Errorf("told %v", told)
	}
}

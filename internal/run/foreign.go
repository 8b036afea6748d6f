package run

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// foreign is a well-known format that is not read.
type foreign struct {
	name string // as it follows "is"
	hint string // what to do; NAME is the input
	// report says that it has results of tests, or findings: in an archive it is not passed over.
	report bool
}

const (
	readsHint  = "Shadowcourt reads test reports (JUnit XML, go test -json, TRX of .NET, ReportPortal) and cases (JSON lines)"
	dotnetHint = "write JUnit XML with `dotnet test --logger junit` (package JunitXml.TestLogger), or TRX with `dotnet test --logger trx`"
	utf16Hint  = "convert it: `iconv -f UTF-16 -t UTF-8 NAME` (Windows PowerShell writes UTF-16 with >)"
)

// testReport is a report of tests whose runner can write JUnit XML in the way that the hint names.
func testReport(name, hint string) *foreign {
	if hint == "" {
		hint = "convert it to JUnit XML, which most test runners and their plugins can write"
	}
	return &foreign{name, hint, true}
}

// analysis is a report of a static analysis.
func analysis(name string) *foreign {
	return &foreign{name: name + ", which is not a test report", hint: readsHint}
}

// dropped are the formats that --from once took, or could be thought to take.
func dropped(name string) *foreign {
	switch name {
	case "sarif":
		return &foreign{"a SARIF log, which is not a test report", readsHint, true}
	case "bandit":
		return &foreign{"a report of Bandit, which is not a test report", readsHint, true}
	case "tap":
		return testReport("TAP, the Test Anything Protocol", "write JUnit XML with `node --test --test-reporter=junit`, `vitest --reporter=junit`, "+
			"`mocha --reporter mocha-junit-reporter`, `bats --report-formatter junit` or `prove --formatter TAP::Formatter::JUnit`")
	case "playwright":
		return testReport("the JSON of Playwright", "write JUnit XML with `PLAYWRIGHT_JUNIT_OUTPUT_NAME=FILE npx playwright test --reporter=junit`")
	case "nunit":
		return testReport("a report of NUnit", dotnetHint+"; nunit3-console writes JUnit XML with `--result=FILE;transform=nunit3-junit.xslt`")
	case "xunit":
		return testReport("a report of xUnit.net", dotnetHint)
	}
	return nil
}

// tarMagic is where "ustar" stands in a tar archive.
const tarMagic = 257

// foreignBytes knows files that are no UTF-8 text.
func foreignBytes(head []byte) *foreign {
	for _, kind := range [...]struct{ magic, name, hint string }{
		{"\xff\xfe", "text in UTF-16", utf16Hint},
		{"\xfe\xff", "text in UTF-16", utf16Hint},
		{"\x1f\x8b", "compressed (gzip)", "decompress it: `gzip -dc NAME > REPORT`"},
		{"\x28\xb5\x2f\xfd", "compressed (zstd)", "decompress it: `zstd -dc NAME > REPORT`"},
		{"BZh", "compressed (bzip2)", "decompress it: `bzip2 -dc NAME > REPORT`"},
		{"\xfd7zXZ", "compressed (xz)", "decompress it: `xz -dc NAME > REPORT`"},
		{"PK\x03\x04", "a zip archive", "extract the reports first"},
		{"%PDF-", "a PDF document", readsHint},
	} {
		if bytes.HasPrefix(head, []byte(kind.magic)) {
			return &foreign{name: kind.name, hint: kind.hint}
		}
	}
	if len(head) > tarMagic && bytes.HasPrefix(head[tarMagic:], []byte("ustar")) {
		return &foreign{name: "a tar archive", hint: "extract the reports first"}
	}
	if before, _, found := bytes.Cut(head, []byte{0}); found { // UTF-16 without a mark has zeros, too
		text := bytes.TrimSpace(bytes.TrimPrefix(before, []byte(markUTF8)))
		if len(text) > 1 && bytes.IndexByte([]byte("{[<"), text[0]) >= 0 && utf8.Valid(text) {
			return nil // one bad line is its reader's to reject
		}
		return &foreign{name: "binary data", hint: readsHint}
	}
	return nil
}

// foreignXML knows documents by their root element.
func foreignXML(root string) *foreign {
	switch strings.ToLower(root) {
	case "assemblies", "assembly":
		return dropped("xunit")
	case "test-run", "test-results":
		return dropped("nunit")
	case "html":
		return &foreign{name: "an HTML page", hint: "give the file that the page was made from"}
	case "robot":
		return testReport("a report of Robot Framework", "write JUnit XML with `robot --xunit FILE`")
	case "testng-results":
		return testReport("a report of TestNG", "")
	case "checkstyle":
		return analysis("a Checkstyle report")
	case "pmd", "pmd-cpd", "bugcollection", "issues":
		return analysis("a report <" + root + ">")
	case "coverage", "report":
		return &foreign{name: "a report of code coverage", hint: readsHint}
	}
	return nil
}

// foreignJSON knows documents by the keys of the object that they are, or of the first in the list that they are.
func foreignJSON(keys map[string]bool, list bool, text []byte) *foreign {
	has := func(all ...string) bool {
		return !slices.ContainsFunc(all, func(key string) bool { return !keys[key] })
	}
	switch {
	case list && has("filePath", "messages"):
		return analysis("a report of ESLint")
	case list && has("check_name", "fingerprint"):
		return analysis("a code quality report of GitLab")
	case list && has("keyword", "elements"):
		return testReport("a report of Cucumber", "")
	case list:
		return nil
	case has("runs", "version"), has("runs", "$schema"), sarifText.Match(text):
		return dropped("sarif")
	case has("suites", "config"):
		return dropped("playwright")
	case has("generated_at", "metrics"), has("metrics", "results"):
		return dropped("bandit")
	case has("reportFormat", "results"), has("results") && bytes.Contains(text, []byte(`"summary"`)) && bytes.Contains(text, []byte(`"tool"`)):
		return testReport("a CTRF report", "")
	case has("numFailedTests"), has("testResults"):
		return testReport("the JSON of Jest or Vitest", "have it write JUnit XML: jest-junit, or vitest --reporter=junit")
	case has("stats", "tests"), has("stats", "results"):
		return testReport("the JSON of Mocha", "have it write JUnit XML: mocha-junit-reporter")
	case has("exitcode", "tests"):
		return testReport("the JSON of pytest", "have it write JUnit XML: pytest --junit-xml=FILE")
	case has("type", "event"):
		return testReport("the JSON of cargo test", "")
	case has("protocolVersion", "runnerVersion"):
		return testReport("the JSON of dart test", "")
	case has("Issues", "Report"):
		return analysis("a report of golangci-lint")
	}
	return nil
}

var (
	// goTestLine is a line that only `go test` for people writes.
	goTestLine = regexp.MustCompile(`(?m)^(=== RUN   \S|--- (FAIL|PASS|SKIP): \S+ \(|FAIL\t\S|ok  \t\S|\?   \t\S)`)
	pytestLine = regexp.MustCompile(`(?m)^=+ test session starts =+\r?$`)
	// tapLine is one that only TAP has.
	tapLine = regexp.MustCompile(`(?m)^(TAP version \d+|1\.\.\d+( # .*)?|(not )?ok \d+\b.*)\r?$`)
	// sarifText is how a SARIF log begins: with the schema that it names, or with a run.
	sarifText = regexp.MustCompile(`^\s*\{\s*(?:"version"\s*:\s*"[^"]*"\s*,\s*)?(?:"\$schema"\s*:\s*"[^"]*sarif[^"]*"|` +
		`"runs"\s*:\s*\[\s*\{\s*"(?:tool|results|invocations|artifacts|properties)")`)
)

// foreignText knows what test runners print for people, and TAP.
func foreignText(text []byte) *foreign {
	switch {
	case pytestLine.Match(text):
		return &foreign{name: "what pytest prints for people", hint: "have it write JUnit XML: pytest --junit-xml=FILE"}
	case tapLine.Match(text):
		return dropped("tap")
	}
	return nil
}

// ForeignError says of an input what it is instead of a docket, and what to do.
type ForeignError struct {
	text string
	// report says that it has results of tests, or findings.
	report bool
}

func (e *ForeignError) Error() string { return e.text }

// fault is the error of an input that is of a format that can't be read, or nil.
func (f *foreign) fault(in *input) *ForeignError {
	if f == nil {
		return nil
	}
	path := in.name
	if in.live {
		path = "-"
	}
	return &ForeignError{in.name + " is " + f.name + "; " + strings.ReplaceAll(f.hint, " NAME", " "+path), f.report}
}

// rootElement is the name of the first element of an XML text, without its prefix, or empty while it is not known. What
// follows <!DOCTYPE is the name, too.
func rootElement(text []byte) string {
	if name := rootName.FindSubmatch(text); name != nil {
		return string(name[1])
	}
	return ""
}

var rootName = regexp.MustCompile(`^(?s:\s*(?:<\?.*?\?>|<!--.*?-->))*\s*<(?:(?i:!DOCTYPE)\s+)?(?:[\w.-]+:)?([A-Za-z_][\w.-]*)[\s/>]`)

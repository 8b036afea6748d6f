package run

import (
	"bytes"
	"regexp"
	"strings"
	"unicode/utf8"
)

// foreign is a well-known format that cannot be read.
type foreign struct {
	name string // as it follows "is"
	hint string // what to do; NAME is the input
}

// What to do with reports of tests in formats that others convert, with what tells of no tests, and with text for people.
const (
	convertHint = "convert it to JUnit XML, which most test runners and their plugins can write"
	noTestsHint = "try reads test reports (go test -json, JUnit XML, TAP, .NET, Playwright, ReportPortal), findings (SARIF), and cases (JSON lines)"
	sarifHint   = "have the tool write SARIF, which try reads"
	utf16Hint   = "convert it: `iconv -f UTF-16 -t UTF-8 NAME` (Windows PowerShell writes UTF-16 with >)"
)

func testReport(name string) *foreign { return &foreign{name, convertHint} }

func analysis(name string) *foreign {
	return &foreign{name + ", which has findings of a static analysis", sarifHint}
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
		{"%PDF-", "a PDF document", noTestsHint},
	} {
		if bytes.HasPrefix(head, []byte(kind.magic)) {
			return &foreign{kind.name, kind.hint}
		}
	}
	if len(head) > tarMagic && bytes.HasPrefix(head[tarMagic:], []byte("ustar")) {
		return &foreign{"a tar archive", "extract the reports first"}
	}
	if before, _, found := bytes.Cut(head, []byte{0}); found { // UTF-16 without a mark has zeros, too
		text := bytes.TrimSpace(bytes.TrimPrefix(before, []byte(markUTF8)))
		if len(text) > 1 && bytes.IndexByte([]byte("{[<"), text[0]) >= 0 && utf8.Valid(text) {
			return nil // one bad line is its reader's to reject
		}
		return &foreign{"binary data", noTestsHint}
	}
	return nil
}

// foreignXML knows documents by their root element.
func foreignXML(root string) *foreign {
	switch strings.ToLower(root) {
	case "html":
		return &foreign{"an HTML page", "give the file that the page was made from"}
	case "test-results":
		return testReport("a report of NUnit 2")
	case "robot":
		return testReport("a report of Robot Framework")
	case "testng-results":
		return testReport("a report of TestNG")
	case "checkstyle":
		return analysis("a Checkstyle report")
	case "pmd", "pmd-cpd", "bugcollection", "issues":
		return analysis("a report <" + root + ">")
	case "coverage", "report":
		return &foreign{"a report of code coverage", noTestsHint}
	}
	return nil
}

// foreignJSON knows documents by the keys of the object that they are, or of the first in the list that they are.
func foreignJSON(keys map[string]bool, list bool, text []byte) *foreign {
	has := func(all ...string) bool {
		for _, key := range all {
			if !keys[key] {
				return false
			}
		}
		return true
	}
	switch {
	case list && has("filePath", "messages"):
		return analysis("a report of ESLint")
	case list && has("check_name", "fingerprint"):
		return analysis("a code quality report of GitLab")
	case list && has("keyword", "elements"):
		return testReport("a report of Cucumber")
	case list:
		return nil
	case has("reportFormat", "results"), has("results") && bytes.Contains(text, []byte(`"summary"`)) && bytes.Contains(text, []byte(`"tool"`)):
		return testReport("a CTRF report")
	case has("numFailedTests"), has("testResults"):
		return &foreign{"the JSON of Jest or Vitest", "have it write JUnit XML: jest-junit, or vitest --reporter=junit"}
	case has("stats", "tests"), has("stats", "results"):
		return &foreign{"the JSON of Mocha", "have it write JUnit XML: mocha-junit-reporter"}
	case has("exitcode", "tests"):
		return &foreign{"the JSON of pytest", "have it write JUnit XML: pytest --junit-xml=FILE"}
	case has("type", "event"):
		return testReport("the JSON of cargo test")
	case has("protocolVersion", "runnerVersion"):
		return testReport("the JSON of dart test")
	case has("Issues", "Report"):
		return analysis("a report of golangci-lint")
	}
	return nil
}

var (
	// goTestLine is a line that only `go test` for people writes.
	goTestLine = regexp.MustCompile(`(?m)^(=== RUN   \S|--- (FAIL|PASS|SKIP): \S+ \(|FAIL\t\S|ok  \t\S|\?   \t\S)`)
	pytestLine = regexp.MustCompile(`(?m)^=+ test session starts =+\r?$`)
)

// foreignText knows what test runners print for people.
func foreignText(head []byte) *foreign {
	if pytestLine.Match(head) {
		return &foreign{"what pytest prints for people", "have it write JUnit XML: pytest --junit-xml=FILE"}
	}
	return nil
}

// ForeignError says of an input what it is instead of a docket, and what to do.
type ForeignError struct{ text string }

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
	return &ForeignError{in.name + " is " + f.name + "; " + strings.ReplaceAll(f.hint, "NAME", path)}
}

// rootElement is the name of the first element of an XML text, without its prefix, or empty while it is not known. What
// follows <!DOCTYPE is the name, too.
func rootElement(text []byte) string {
	for {
		text = bytes.TrimSpace(text)
		skipped := false
		for _, kind := range [][2]string{{"<?", "?>"}, {"<!--", "-->"}} {
			if !bytes.HasPrefix(text, []byte(kind[0])) {
				continue
			}
			_, after, whole := bytes.Cut(text, []byte(kind[1]))
			if !whole {
				return ""
			}
			text, skipped = after, true
		}
		if !skipped {
			break
		}
	}
	name := rootName.FindSubmatch(text)
	if name == nil {
		return ""
	}
	return string(name[1])
}

var rootName = regexp.MustCompile(`^<(?:(?i:!DOCTYPE)\s+)?(?:[\w.-]+:)?([A-Za-z_][\w.-]*)[\s/>]`)

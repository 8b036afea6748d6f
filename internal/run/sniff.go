package run

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/docket/gotest"
	"github.com/shadowcourt/shadowcourt/host/docket/junit"
	"github.com/shadowcourt/shadowcourt/host/docket/reportportal"
)

// sniffBytes is how much of an input is looked at to tell its format.
const sniffBytes = 64 << 10

// sniff tells the formats apart, and knows others that cannot be read. XML is told by its first element, an export of
// ReportPortal may begin with a list; otherwise the keys of the first line that begins with a brace tell: test events have
// an Action, cases have labels. It reads no further than it has to, so that a stream that comes slowly is not held up.
func sniff(r *bufio.Reader) (format string, other *foreign) {
	for {
		have := r.Buffered()
		_, err := r.Peek(min(have+1, sniffBytes))
		head, _ := r.Peek(r.Buffered())
		all := err != nil || len(head) == sniffBytes
		whole := head
		if !all {
			whole = head[:bytes.LastIndexByte(head, '\n')+1]
		}
		if other := foreignBytes(head); other != nil {
			return "", other
		}
		if format, other := formatOf(whole, all); format != "" || other != nil {
			return format, other
		}
		if all {
			return unknownFormat(whole)
		}
	}
}

// foreignDocument knows what can be no input of a format, by what the first read gives.
func foreignDocument(r *bufio.Reader) *foreign {
	_, _ = r.Peek(1)
	head, _ := r.Peek(r.Buffered())
	if other := foreignBytes(head); other != nil {
		return other
	}
	text := bytes.TrimSpace(bytes.TrimPrefix(head, []byte(markUTF8)))
	if first, _, _ := bytes.Cut(text, []byte("\n")); tapLine.Match(first) {
		return dropped("tap")
	}
	if !bytes.HasPrefix(text, []byte("<")) && !bytes.HasPrefix(text, []byte("{")) {
		return nil
	}
	_, other := formatOf(head, true)
	return other
}

const markUTF8 = "\xef\xbb\xbf"

// unknownFormat is that of an input whose keys tell nothing: a docket, of which every line will be rejected, unless it
// is plainly something else.
func unknownFormat(head []byte) (string, *foreign) {
	if goTestLine.Match(head) {
		return GoTest, nil
	}
	if other := foreignText(head); other != nil {
		return "", other
	}
	if text := bytes.TrimSpace(head); len(text) > 0 && text[0] != '[' && text[0] != '"' && firstObject(head) == nil {
		return "", &foreign{name: "plain text", hint: readsHint}
	}
	return JSONL, nil
}

// formatOf tells the format of an input that begins so, or nothing while that is not known; all says that no more comes.
func formatOf(head []byte, all bool) (string, *foreign) {
	head = bytes.TrimPrefix(head, []byte(markUTF8))
	text := bytes.TrimSpace(head)
	if bytes.HasPrefix(text, []byte("<")) {
		return formatOfXML(text, all)
	}
	if inner, list := bytes.CutPrefix(text, []byte("[")); list {
		if inner = bytes.TrimSpace(inner); len(inner) == 0 || inner[0] == '{' {
			return formatOfList(inner, all)
		}
	}
	if bytes.HasPrefix(text, []byte("{")) {
		if keys, _ := keysOf(text); formatOfKeys(keys) == "" {
			if other := foreignJSON(keys, false, text); other != nil {
				return "", other
			}
		}
	}
	if first, _, whole := bytes.Cut(text, []byte("\n")); whole || all {
		switch {
		case goTestLine.Match(first):
			return GoTest, nil
		case tapLine.Match(first):
			return "", dropped("tap")
		}
	}
	for rest := head; ; {
		object := firstObject(rest)
		if object == nil {
			break
		}
		keys, cut := keysOf(object)
		if format := formatOfKeys(keys); format != "" {
			return format, nil
		}
		if keys["id"] && !cut {
			return JSONL, nil
		}
		line, after, whole := bytes.Cut(object, []byte("\n"))
		if _, over := keysOf(line); over || cut || !whole {
			break // it goes on in the next line
		}
		rest = after // what another program wrote into a stream
	}
	if !all {
		return "", nil
	}
	return unknownFormat(head)
}

// formatOfXML takes every document for a report of JUnit that is not known as another: its reader says what it begins with.
func formatOfXML(text []byte, all bool) (string, *foreign) {
	root := rootElement(text)
	if root == "" && !all {
		return "", nil
	}
	if format := formatOfRoot(root); format != "" {
		return format, nil
	}
	if other := foreignXML(root); other != nil {
		return "", other
	}
	return JUnit, nil
}

// formatOfList takes every list of objects for an export of ReportPortal that is not known as another. While the first
// object is not whole, it may be one.
func formatOfList(inner []byte, all bool) (string, *foreign) {
	keys, cut := keysOf(inner)
	if other := foreignJSON(keys, true, inner); other != nil {
		return "", other
	}
	if cut && !all {
		return "", nil
	}
	return ReportPortal, nil
}

// firstObject is what begins with the first line that begins with a brace,
// or nil.
func firstObject(head []byte) []byte {
	for at := 0; at < len(head); {
		line := head[at:]
		if i := bytes.IndexByte(line, '\n'); i >= 0 {
			line = line[:i+1]
		}
		if bytes.HasPrefix(bytes.TrimSpace(line), []byte("{")) {
			return head[at:]
		}
		at += len(line)
	}
	return nil
}

// keysOf gives the keys of the object that a text begins with, as far as the
// text goes; cut says that it ends before the object.
func keysOf(text []byte) (keys map[string]bool, cut bool) {
	keys = map[string]bool{}
	decoder := json.NewDecoder(bytes.NewReader(text))
	depth, key := 0, false // key: the next string at depth 1 is one
	for {
		token, err := decoder.Token()
		if err != nil {
			return keys, errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
		}
		name, isText := token.(string)
		switch delim, isDelim := token.(json.Delim); {
		case isDelim && (delim == '{' || delim == '['):
			depth++
			key = true
			continue
		case isDelim:
			depth--
		case depth == 1 && key && isText:
			keys[name] = true
			key = false
			continue
		}
		if depth == 0 {
			return keys, false
		}
		key = true // a value at depth 1 has ended, or it does not matter
	}
}

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

// The input formats.
const (
	Auto         = "auto"
	JSONL        = "jsonl"
	GoTest       = "gotest"
	JUnit        = "junit"
	ReportPortal = "reportportal"
	DotNet       = "dotnet"
)

// Formats are the names that Open takes for a format.
func Formats() []string {
	names := []string{Auto}
	for _, f := range formats() {
		names = append(names, f.name)
	}
	return names
}

// CheckFormat is an error for what is the name of no format; it says of a dropped one what to use.
func CheckFormat(name string) error {
	if slices.Contains(Formats(), name) {
		return nil
	}
	if f := dropped(name); f != nil {
		return fmt.Errorf("%q is not read: it is %s; %s", name, f.name, f.hint)
	}
	names := Formats()
	return fmt.Errorf("%q: use %s or %s", name, strings.Join(names[:len(names)-1], ", "), names[len(names)-1])
}

// OfTests says whether a format is of reports of tests. The cases of the others bring their labels and the answers of a classifier.
func OfTests(format string) bool { return format != JSONL }

// OfRunners says whether a format is of reports of test runners in any language, in which every test stands.
func OfRunners(format string) bool { return format == JUnit || format == DotNet }

// readers are one for each format: they know the ids of all dockets.
type readers struct {
	cases   docket.Reader
	tests   gotest.Reader
	reports junit.Reader
	exports reportportal.Reader
	texts   func(name string) // is told what `go test` printed for people
}

// testCount is how many tests the reports told of.
func (r *readers) testCount() int { return r.tests.Tests + r.reports.Tests }

// format is an input format: what tells it, and its reader.
type format struct {
	name string
	// keys tell a JSON object of it, which has one of them.
	keys []string
	// roots are the root elements of its XML documents, in lower case.
	roots []string
	read  func(*readers, *input) iter.Seq2[docket.Entry, error]
}

// formats are all that can be read. Where several could be told, the first one is.
func formats() []format {
	return []format{
		{name: JSONL, keys: []string{"subject", "labels", "evidence", "documents", "light"}, read: func(r *readers, in *input) iter.Seq2[docket.Entry, error] {
			return r.cases.JSONL(in.name, in.reader)
		}},
		{name: GoTest, keys: []string{"Action"}, read: func(r *readers, in *input) iter.Seq2[docket.Entry, error] {
			return goTests(&r.tests, in, r.texts)
		}},
		{name: JUnit, roots: []string{"testsuites", "testsuite"}, read: func(r *readers, in *input) iter.Seq2[docket.Entry, error] {
			return r.reports.Read(in.name, in.reader)
		}},
		{
			name: ReportPortal, keys: []string{"content", "page", "items", "logs", "launch", "launchId", "subTypes", "statistics", "uuid", "codeRef"},
			read: func(r *readers, in *input) iter.Seq2[docket.Entry, error] { return r.exports.Read(in.name, in.reader) },
		},
		{name: DotNet, roots: []string{"testrun"}, read: func(r *readers, in *input) iter.Seq2[docket.Entry, error] {
			return r.reports.Read(in.name, in.reader)
		}},
	}
}

// entries reads an input with the reader of its format.
func (r *readers) entries(in *input) iter.Seq2[docket.Entry, error] {
	all := formats()
	i := slices.IndexFunc(all, func(f format) bool { return f.name == in.format })
	return all[max(i, 0)].read(r, in)
}

// formatOfKeys tells a format by the keys of one of its objects, or nothing.
func formatOfKeys(keys map[string]bool) string {
	return toldBy(func(f format) bool { return slices.ContainsFunc(f.keys, func(key string) bool { return keys[key] }) })
}

// formatOfRoot tells a format by the root element of an XML document, or nothing.
func formatOfRoot(root string) string {
	return toldBy(func(f format) bool { return slices.Contains(f.roots, strings.ToLower(root)) })
}

// toldBy is the name of the first format that says so, empty for none.
func toldBy(tells func(format) bool) string {
	all := formats()
	if i := slices.IndexFunc(all, tells); i >= 0 {
		return all[i].name
	}
	return ""
}

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

// The input formats. DotNet is TRX.
const (
	Auto         = "auto"
	JSONL        = "jsonl"
	GoTest       = "gotest"
	JUnit        = "junit"
	ReportPortal = "reportportal"
	DotNet       = "dotnet"
)

// Formats are the names that Open takes for a format.
func Formats() []string { return []string{Auto, JSONL, GoTest, JUnit, ReportPortal, DotNet} }

// CheckFormat is an error for what is the name of no format; it says of a dropped one what to use.
func CheckFormat(name string) error {
	names := Formats()
	if slices.Contains(names, name) {
		return nil
	}
	if f, ok := dropped[name]; ok {
		return fmt.Errorf("%q is not read: it is %s; %s", name, f.name, f.hint)
	}
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
}

// entries reads an input with the reader of its format.
func (r *readers) entries(in *input) iter.Seq2[docket.Entry, error] {
	switch in.format {
	case GoTest:
		r.tests.Live = in.live
		return r.tests.Read(in.name, in.reader)
	case JUnit, DotNet:
		return r.reports.Read(in.name, in.reader)
	case ReportPortal:
		return r.exports.Read(in.name, in.reader)
	}
	return r.cases.JSONL(in.name, in.reader)
}

// formatKeys are keys of which an object of a format has at least one. The first format that matches is taken.
var formatKeys = []struct {
	format string
	keys   []string
}{
	{JSONL, []string{"subject", "labels", "evidence", "documents", "light"}},
	{GoTest, []string{"Action"}},
	{ReportPortal, []string{"content", "page", "items", "logs", "launch", "launchId", "subTypes", "statistics", "uuid", "codeRef"}},
}

// formatOfKeys tells a format by the keys of one of its objects, or nothing.
func formatOfKeys(keys map[string]bool) string {
	for _, f := range formatKeys {
		if slices.ContainsFunc(f.keys, func(key string) bool { return keys[key] }) {
			return f.format
		}
	}
	return ""
}

// sniffBytes is how much of an input is looked at to tell its format.
const sniffBytes = 64 << 10

const markUTF8 = "\xef\xbb\xbf"

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
		return known("tap")
	}
	if goTestText.Match(head) && !eventLine.Match(head) {
		return &goText
	}
	if !bytes.HasPrefix(text, []byte("<")) && !bytes.HasPrefix(text, []byte("{")) {
		return nil
	}
	_, other := formatOf(head, true)
	return other
}

// unknownFormat is that of an input whose keys tell nothing: a docket, of which every line will be rejected, unless it
// is plainly something else.
func unknownFormat(head []byte) (string, *foreign) {
	text := bytes.TrimSpace(head)
	switch {
	case goTestText.Match(head), goTestEnd.Match(head):
		return "", &goText
	case pytestLine.Match(head):
		return "", &foreign{name: "what pytest prints for people", hint: "have it write JUnit XML: pytest --junit-xml=FILE"}
	case tapLine.Match(head):
		return "", known("tap")
	case len(text) > 0 && text[0] != '[' && text[0] != '"' && firstObject(head) == nil:
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
		case tapLine.Match(first):
			return "", known("tap")
		case !goTestText.Match(first):
		case eventLine.Match(head):
			return GoTest, nil
		case all:
			return "", &goText
		default:
			return "", nil
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
	root := rootName.FindSubmatch(text)
	if root == nil {
		if all {
			return JUnit, nil
		}
		return "", nil
	}
	name := strings.ToLower(string(root[1]))
	if other, ok := foreignRoots[name]; ok {
		return "", &other
	}
	if name == "testrun" {
		return DotNet, nil
	}
	return JUnit, nil
}

// rootName is the name of the first element of an XML text, without its prefix. What follows <!DOCTYPE is the name, too.
var rootName = regexp.MustCompile(`^(?s:\s*(?:<\?.*?\?>|<!--.*?-->))*\s*<(?:(?i:!DOCTYPE)\s+)?(?:[\w.-]+:)?([A-Za-z_][\w.-]*)[\s/>]`)

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

// firstObject is what begins with the first line that begins with a brace, or nil.
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

// keysOf gives the keys of the object that a text begins with, as far as the text goes; cut says that it ends before the object.
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
}

const (
	readsHint   = "Shadowcourt reads test reports (JUnit XML, go test -json, TRX of .NET, ReportPortal) and cases (JSON lines)"
	convertHint = "convert it to JUnit XML, which most test runners and their plugins can write"
	dotnetHint  = "write JUnit XML with `dotnet test --logger junit` (package JunitXml.TestLogger), or TRX with `dotnet test --logger trx`"
	utf16Hint   = "convert it: `iconv -f UTF-16 -t UTF-8 NAME` (Windows PowerShell writes UTF-16 with >)"
	noTests     = ", which is not a test report"
)

// dropped are the formats that --from once took, or could be thought to take.
var dropped = map[string]foreign{
	"sarif":  {"a SARIF log" + noTests, readsHint},
	"bandit": {"a report of Bandit" + noTests, readsHint},
	"tap": {"TAP, the Test Anything Protocol", "write JUnit XML with `node --test --test-reporter=junit`, `vitest --reporter=junit`, " +
		"`mocha --reporter mocha-junit-reporter`, `bats --report-formatter junit` or `prove --formatter TAP::Formatter::JUnit`"},
	"playwright": {"the JSON of Playwright", "write JUnit XML with `PLAYWRIGHT_JUNIT_OUTPUT_NAME=FILE npx playwright test --reporter=junit`"},
	"nunit":      {"a report of NUnit", dotnetHint + "; nunit3-console writes JUnit XML with `--result=FILE;transform=nunit3-junit.xslt`"},
	"xunit":      {"a report of xUnit.net", dotnetHint},
}

func known(name string) *foreign {
	f := dropped[name]
	return &f
}

var goText = foreign{"what `go test` prints for people", "run `go test -json ./...`: its events tell which test printed what, and which passed"}

// foreignRoots are documents by their root element, in lower case.
var foreignRoots = map[string]foreign{
	"assemblies":     dropped["xunit"],
	"assembly":       dropped["xunit"],
	"test-run":       dropped["nunit"],
	"test-results":   dropped["nunit"],
	"html":           {"an HTML page", "give the file that the page was made from"},
	"robot":          {"a report of Robot Framework", "write JUnit XML with `robot --xunit FILE`"},
	"testng-results": {"a report of TestNG", convertHint},
	"checkstyle":     {"a Checkstyle report" + noTests, readsHint},
	"pmd":            {"a report of PMD" + noTests, readsHint},
	"bugcollection":  {"a report of SpotBugs" + noTests, readsHint},
	"issues":         {"a report of Android Lint" + noTests, readsHint},
	"coverage":       {"a report of code coverage", readsHint},
	"report":         {"a report of code coverage", readsHint},
}

// foreignMagic are the beginnings of files that are no UTF-8 text.
var foreignMagic = [...]struct {
	magic string
	foreign
}{
	{"\xff\xfe", foreign{"text in UTF-16", utf16Hint}},
	{"\xfe\xff", foreign{"text in UTF-16", utf16Hint}},
	{"\x1f\x8b", foreign{"compressed (gzip)", "decompress it: `gzip -dc NAME > REPORT`"}},
	{"\x28\xb5\x2f\xfd", foreign{"compressed (zstd)", "decompress it: `zstd -dc NAME > REPORT`"}},
	{"BZh", foreign{"compressed (bzip2)", "decompress it: `bzip2 -dc NAME > REPORT`"}},
	{"\xfd7zXZ", foreign{"compressed (xz)", "decompress it: `xz -dc NAME > REPORT`"}},
	{"PK\x03\x04", foreign{"a zip archive", "extract the reports first, as with `unzip NAME`"}},
	{"PK\x05\x06", foreign{"an empty zip archive", readsHint}},
	{"%PDF-", foreign{"a PDF document", readsHint}},
}

// tarMagic is where "ustar" stands in a tar archive.
const tarMagic = 257

// foreignBytes knows files that are no UTF-8 text.
func foreignBytes(head []byte) *foreign {
	for _, kind := range foreignMagic {
		if bytes.HasPrefix(head, []byte(kind.magic)) {
			return &kind.foreign
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
		return &foreign{"binary data", readsHint}
	}
	return nil
}

// foreignKeys are documents by the keys of the object that they are, or of the first in the list that they are.
var foreignKeys = []struct {
	list bool
	keys []string
	foreign
}{
	{true, []string{"filePath", "messages"}, foreign{"a report of ESLint" + noTests, readsHint}},
	{true, []string{"check_name", "fingerprint"}, foreign{"a code quality report of GitLab" + noTests, readsHint}},
	{true, []string{"keyword", "elements"}, foreign{"a report of Cucumber", convertHint}},
	{false, []string{"runs", "version"}, dropped["sarif"]},
	{false, []string{"runs", "$schema"}, dropped["sarif"]},
	{false, []string{"suites", "config"}, dropped["playwright"]},
	{false, []string{"generated_at", "metrics"}, dropped["bandit"]},
	{false, []string{"metrics", "results"}, dropped["bandit"]},
	{false, []string{"reportFormat", "results"}, foreign{"a CTRF report", convertHint}},
	{false, []string{"numFailedTests"}, foreign{"the JSON of Jest or Vitest", "have it write JUnit XML: jest-junit, or vitest --reporter=junit"}},
	{false, []string{"testResults"}, foreign{"the JSON of Jest or Vitest", "have it write JUnit XML: jest-junit, or vitest --reporter=junit"}},
	{false, []string{"stats", "tests"}, foreign{"the JSON of Mocha", "have it write JUnit XML: mocha-junit-reporter"}},
	{false, []string{"stats", "results"}, foreign{"the JSON of Mocha", "have it write JUnit XML: mocha-junit-reporter"}},
	{false, []string{"exitcode", "tests"}, foreign{"the JSON of pytest", "have it write JUnit XML: pytest --junit-xml=FILE"}},
	{false, []string{"type", "event"}, foreign{"the JSON of cargo test", convertHint}},
	{false, []string{"protocolVersion", "runnerVersion"}, foreign{"the JSON of dart test", convertHint}},
	{false, []string{"Issues", "Report"}, foreign{"a report of golangci-lint" + noTests, readsHint}},
}

func foreignJSON(keys map[string]bool, list bool, text []byte) *foreign {
	if !list && sarifText.Match(text) {
		return known("sarif")
	}
	for _, f := range foreignKeys {
		if f.list == list && !slices.ContainsFunc(f.keys, func(key string) bool { return !keys[key] }) {
			return &f.foreign
		}
	}
	if !list && keys["results"] && bytes.Contains(text, []byte(`"summary"`)) && bytes.Contains(text, []byte(`"tool"`)) {
		return &foreign{"a CTRF report", convertHint}
	}
	return nil
}

var (
	// goTestText is a line that only `go test` for people writes, and goTestEnd one that it ends a package with.
	goTestText = regexp.MustCompile(`(?m)^(=== RUN   \S|--- (FAIL|PASS|SKIP): \S+ \()`)
	goTestEnd  = regexp.MustCompile(`(?m)^(FAIL\t\S|ok  \t\S|\?   \t\S)`)
	eventLine  = regexp.MustCompile(`(?m)^\{.*"Action":"`)
	pytestLine = regexp.MustCompile(`(?m)^=+ test session starts =+\r?$`)
	// tapLine is one that only TAP has.
	tapLine = regexp.MustCompile(`(?m)^(TAP version \d+|1\.\.\d+( # .*)?|(not )?ok \d+\b.*)\r?$`)
	// sarifText is how a SARIF log begins: with the schema that it names, or with a run.
	sarifText = regexp.MustCompile(`^\s*\{\s*(?:"version"\s*:\s*"[^"]*"\s*,\s*)?(?:"\$schema"\s*:\s*"[^"]*sarif[^"]*"|` +
		`"runs"\s*:\s*\[\s*\{\s*"(?:tool|results|invocations|artifacts|properties)")`)
)

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
	return &ForeignError{in.name + " is " + f.name + "; " + strings.ReplaceAll(f.hint, " NAME", " "+path)}
}

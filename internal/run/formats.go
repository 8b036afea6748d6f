package run

import (
	"iter"
	"regexp"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/docket/dotnet"
	"github.com/shadowcourt/shadowcourt/host/docket/gotest"
	"github.com/shadowcourt/shadowcourt/host/docket/junit"
	"github.com/shadowcourt/shadowcourt/host/docket/playwright"
	"github.com/shadowcourt/shadowcourt/host/docket/reportportal"
	"github.com/shadowcourt/shadowcourt/host/docket/sarif"
	"github.com/shadowcourt/shadowcourt/host/docket/tap"
)

// The input formats.
const (
	Auto         = "auto"
	JSONL        = "jsonl"
	GoTest       = "gotest"
	JUnit        = "junit"
	ReportPortal = "reportportal"
	SARIF        = "sarif"
	TAP          = "tap"
	DotNet       = "dotnet"
	Playwright   = "playwright"
)

// Formats are the names that Open takes for a format.
func Formats() []string {
	names := []string{Auto}
	for _, f := range formats() {
		names = append(names, f.name)
	}
	return names
}

// OfTests says whether a format is of reports of tests. The cases of the others bring their labels and the answers of a classifier.
func OfTests(format string) bool { return format != JSONL && format != SARIF }

// OfRunners says whether a format is of reports of test runners in any language, in which every test stands.
func OfRunners(format string) bool {
	return slices.Contains([]string{JUnit, TAP, DotNet, Playwright}, format)
}

// readers are one for each format: they know the ids of all dockets.
type readers struct {
	cases   docket.Reader
	tests   gotest.Reader
	reports junit.Reader
	exports reportportal.Reader
	logs    sarif.Reader
	texts   func(name string) // is told what `go test` printed for people
	streams tap.Reader
	dotnet  dotnet.Reader
	pages   playwright.Reader
}

// testCount is how many tests the reports told of.
func (r *readers) testCount() int {
	return r.tests.Tests + r.reports.Tests + r.streams.Tests + r.dotnet.Tests + r.pages.Tests
}

// format is an input format: what tells it, and its reader.
type format struct {
	name string
	// title is how people call its documents, where they are known without doubt; empty otherwise.
	title string
	// keys tell a JSON object of it: it has all keys of one of these lists, which are parted by spaces.
	keys []string
	// roots are the root elements of its XML documents, in lower case.
	roots []string
	// text is what only a JSON document of it has; nil for nothing.
	text *regexp.Regexp
	// line is one that only its text has; nil for none.
	line *regexp.Regexp
	read func(*readers, *input) iter.Seq2[docket.Entry, error]
}

// formats are all that can be read. Where several could be told, the first one is.
func formats() []format {
	return []format{
		{name: JSONL, keys: []string{"subject", "labels", "evidence", "documents", "light"}, read: func(r *readers, in *input) iter.Seq2[docket.Entry, error] {
			return r.cases.JSONL(in.name, in.reader)
		}},
		{name: GoTest, keys: []string{"Action"}, line: goTestLine, read: func(r *readers, in *input) iter.Seq2[docket.Entry, error] {
			return goTests(&r.tests, in, r.texts)
		}},
		{name: JUnit, roots: []string{"testsuites", "testsuite"}, read: func(r *readers, in *input) iter.Seq2[docket.Entry, error] {
			return r.reports.Read(in.name, in.reader)
		}},
		{
			name: ReportPortal, keys: []string{"content", "page", "items", "logs", "launch", "launchId", "subTypes", "statistics", "uuid", "codeRef"},
			read: func(r *readers, in *input) iter.Seq2[docket.Entry, error] { return r.exports.Read(in.name, in.reader) },
		},
		{name: SARIF, title: "a SARIF log", keys: []string{"runs version", "runs $schema"}, text: sarifText, read: func(r *readers, in *input) iter.Seq2[docket.Entry, error] {
			return r.logs.Read(in.name, in.reader)
		}},
		{name: TAP, title: "TAP, the Test Anything Protocol", line: tapLine, read: func(r *readers, in *input) iter.Seq2[docket.Entry, error] {
			return r.streams.Read(in.name, in.reader)
		}},
		{name: DotNet, title: "a report of .NET tests", roots: []string{"testrun", "assemblies", "assembly", "test-run"}, read: func(r *readers, in *input) iter.Seq2[docket.Entry, error] {
			return r.dotnet.Read(in.name, in.reader)
		}},
		{name: Playwright, title: "a report of Playwright", keys: []string{"suites config"}, read: func(r *readers, in *input) iter.Seq2[docket.Entry, error] {
			return r.pages.Read(in.name, in.reader)
		}},
	}
}

// entries reads an input with the reader of its format.
func (r *readers) entries(in *input) iter.Seq2[docket.Entry, error] {
	all := formats()
	i := slices.IndexFunc(all, func(f format) bool { return f.name == in.format })
	return all[max(i, 0)].read(r, in)
}

// another is a format of that title, given where one of another format is expected.
func another(name string) *foreign {
	for _, f := range formats() {
		if f.name == name && f.title != "" {
			return &foreign{f.title, "`shadowcourt try --from " + name + "` reads it"}
		}
	}
	return nil
}

// toldBy is the name of the first format that says so, empty for none.
func toldBy(tells func(format) bool) string {
	for _, f := range formats() {
		if tells(f) {
			return f.name
		}
	}
	return ""
}

// formatOfKeys tells a format by the keys of one of its objects, or by its text, or nothing.
func formatOfKeys(keys map[string]bool, text []byte) string {
	return toldBy(func(f format) bool {
		return f.text != nil && f.text.Match(text) || slices.ContainsFunc(f.keys, func(list string) bool {
			return !slices.ContainsFunc(strings.Fields(list), func(key string) bool { return !keys[key] })
		})
	})
}

// formatOfRoot tells a format by the root element of an XML document, or nothing.
func formatOfRoot(root string) string {
	return toldBy(func(f format) bool { return slices.Contains(f.roots, strings.ToLower(root)) })
}

// formatOfLines tells a format by a line of a text, or nothing.
func formatOfLines(text []byte) string {
	return toldBy(func(f format) bool { return f.line != nil && f.line.Match(text) })
}

// tapLine is one that only TAP has.
var tapLine = regexp.MustCompile(`(?m)^(TAP version \d+|1\.\.\d+( # .*)?|(not )?ok \d+\b.*)\r?$`)

// sarifText is how a SARIF log begins: with the schema that it names, or with a run.
var sarifText = regexp.MustCompile(`^\s*\{\s*(?:"version"\s*:\s*"[^"]*"\s*,\s*)?(?:"\$schema"\s*:\s*"[^"]*sarif[^"]*"|` +
	`"runs"\s*:\s*\[\s*\{\s*"(?:tool|results|invocations|artifacts|properties)")`)

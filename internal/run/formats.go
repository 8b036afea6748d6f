package run

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/docket/dotnet"
	"github.com/shadowcourt/shadowcourt/host/docket/gotest"
	"github.com/shadowcourt/shadowcourt/host/docket/junit"
	"github.com/shadowcourt/shadowcourt/host/docket/reportportal"
)

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
	dotnet  dotnet.Reader
}

// testCount is how many tests the reports told of.
func (r *readers) testCount() int { return r.tests.Tests + r.reports.Tests + r.dotnet.Tests }

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
			return r.dotnet.Read(in.name, in.reader)
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

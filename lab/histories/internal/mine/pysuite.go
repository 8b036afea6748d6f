package mine

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/shadowcourt/shadowcourt/host/docket/junit"
	"github.com/shadowcourt/shadowcourt/host/experiment/isolate"
	"github.com/shadowcourt/shadowcourt/host/lab/internal/history"
)

// fileTime is how long the tests of a file may take.
const fileTime = 90 * time.Second

// pySuite runs test files of pytest.
type pySuite struct {
	environments pyEnvironments
	scratch      string
	ids          map[string]string // of pytest, by unit and test
}

func newPySuite(r *history.Repository, folder string) (*pySuite, error) {
	scratch := filepath.Join(folder, "scratch")
	p := &pySuite{environments: pyEnvironments{repository: r, folder: filepath.Join(folder, "python"), broken: map[string]error{}}, scratch: scratch, ids: map[string]string{}}
	return p, os.MkdirAll(scratch, 0o755)
}

func (p *pySuite) name() string { return "pytest" }

func (p *pySuite) install(ctx context.Context, folder string) error {
	return p.environments.put(ctx, folder)
}

func (p *pySuite) declares(test string) string {
	function, _, _ := strings.Cut(test, "[")
	return "def " + function + "("
}

// units are the test files among the paths, and those that are named after a file of the product.
func (p *pySuite) units(folder string, paths []string) []string {
	var list []string
	add := func(name string) {
		if info, err := os.Stat(filepath.Join(folder, filepath.FromSlash(name))); err == nil && info.Mode().IsRegular() && !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	for _, name := range paths {
		base := path.Base(name)
		if path.Ext(base) != ".py" {
			continue
		}
		if strings.HasPrefix(base, "test_") || strings.HasSuffix(base, "_test.py") {
			add(name)
			continue
		}
		for _, tests := range []string{"tests", "test", "testing", path.Join(path.Dir(name), "tests")} {
			add(path.Join(tests, "test_"+strings.TrimPrefix(base, "_")))
		}
	}
	return list
}

func (p *pySuite) run(ctx context.Context, folder, unit string, in surroundings) (*outcome, error) {
	if _, err := os.Stat(filepath.Join(folder, filepath.FromSlash(unit))); err != nil {
		return &outcome{problem: "no tests"}, nil // the tree does not have the file
	}
	scratch := filepath.Join(p.scratch, "run")
	if err := errors.Join(removeAll(scratch), os.MkdirAll(scratch, 0o755)); err != nil {
		return nil, err
	}
	defer func() { _ = removeAll(scratch) }()
	target := "./" + unit
	if id := p.ids[unit+" "+in.only]; in.only != "" && id != "" {
		target = id
	}
	args := append(slices.Clone(in.launcher), filepath.Join(folder, ".venv", "bin", "pytest"), "--junitxml="+filepath.Join(scratch, "report.xml"), target)
	result, err := p.isolated(ctx, folder, scratch, args)
	if err != nil {
		return nil, err
	}
	if result.Ending != isolate.Exited && result.Ending != isolate.Signaled {
		return &outcome{problem: "ended by its limit of " + string(result.Ending)}, nil
	}
	report, err := os.ReadFile(filepath.Join(scratch, "report.xml"))
	if err != nil {
		return &outcome{problem: "no report: " + lastLine(result.Output)}, nil // pytest could not begin, or crashed
	}
	o, classes := readXML("pytest", unit, report, outcomes)
	for test, class := range classes {
		p.ids[unit+" "+test] = "./" + unit + inFile(unit, class) + "::" + test
	}
	o.wall = result.Wall
	return o, nil
}

// notProduct are the names at the top of a tree that tests and tools have.
var notProduct = []string{"tests", "test", "testing", "docs", "examples", "example", "conftest", "setup", "noxfile", "benchmark", "benchmarks", "scripts", "tools"}

// hasModule says whether a tree has a module or package of a name, at its top or below src.
func hasModule(folder, name string) bool {
	for _, at := range []string{name + ".py", name, filepath.Join("src", name+".py"), filepath.Join("src", name)} {
		at = filepath.Join(folder, at)
		if files, _ := filepath.Glob(filepath.Join(at, "*.py")); len(files) > 0 {
			return true
		}
		if info, err := os.Stat(at); err == nil && info.Mode().IsRegular() {
			return true
		}
	}
	return false
}

// isolated runs a command in a tree that is checked out, as experiments run theirs.
func (p *pySuite) isolated(ctx context.Context, folder, scratch string, args []string) (*isolate.Result, error) {
	python, err := filepath.EvalSymlinks(filepath.Join(folder, ".venv", "bin", "python"))
	if err != nil {
		return nil, err
	}
	list := []string{"PATH=" + os.Getenv("PATH"), "PWD=" + folder}
	for _, name := range []string{"LANG", "TZ", "USER", "SHELL", "TERM"} {
		if value, ok := os.LookupEnv(name); ok {
			list = append(list, name+"="+value)
		}
	}
	return isolate.Run(ctx, isolate.Command{
		Args: args, Dir: folder, Env: list, Scratch: scratch, Overlays: []string{folder},
		Show:   []string{filepath.Dir(filepath.Dir(python))},
		Limits: isolate.Limits{Time: fileTime, Memory: 2 * isolate.DefaultMemory},
	})
}

// xmlReport is what of a report of pytest is kept.
type xmlReport struct {
	Cases []xmlCase `xml:"testsuite>testcase"`
}

type xmlSuiteReport struct {
	Cases []xmlCase `xml:"testcase"`
}

type xmlCase struct {
	Class    string       `xml:"classname,attr"`
	Name     string       `xml:"name,attr"`
	Time     string       `xml:"time,attr"`
	File     string       `xml:"file,attr"`
	Failures []xmlFailure `xml:"failure"`
	Errors   []xmlFailure `xml:"error"`
}

type xmlFailure struct {
	Message string `xml:"message,attr"`
	Text    string `xml:",chardata"`
}

// readXML reads the report of a file, of whose failures some text is kept, and gives the classes of tests by their names. Tests of one name
// in several classes are left out: the outcomes have names alone.
func readXML(runner, unit string, report []byte, kept func(string) string) (o *outcome, classes map[string]string) {
	o, classes = &outcome{passed: map[string]bool{}, failed: map[string]history.Report{}}, map[string]string{}
	ambiguous := map[string]bool{}
	reader := junit.Reader{Ended: func(test junit.Test, end junit.End) {
		if class, ok := classes[test.Name]; ok && class != test.Class {
			ambiguous[test.Name] = true
		}
		classes[test.Name] = test.Class
		o.passed[test.Name] = o.passed[test.Name] || end == junit.Passed
	}}
	for _, err := range reader.Read(unit, bytes.NewReader(report)) {
		if err != nil {
			break
		}
	}
	var all xmlReport
	if err := xml.Unmarshal(report, &all); err != nil {
		o.problem = "the report can't be read"
		return o, classes
	}
	var lone xmlSuiteReport // Surefire writes one suite at the top
	if xml.Unmarshal(report, &lone) == nil {
		all.Cases = append(all.Cases, lone.Cases...)
	}
	for i := range all.Cases {
		c := &all.Cases[i]
		if len(c.Failures)+len(c.Errors) == 0 {
			continue
		}
		delete(o.passed, c.Name)
		r := history.Report{Runner: runner, Group: c.Class, Test: c.Name, Text: c.withoutSource(runner, kept)}
		if _, err := r.Entry(); err == nil && len(r.Text) <= mostReport {
			o.failed[c.Name] = r
		}
	}
	for test := range classes {
		if ambiguous[test] || !o.passed[test] {
			delete(o.passed, test)
		}
		if ambiguous[test] {
			delete(o.failed, test)
		}
	}
	return o, classes
}

// inFile are the classes of a test within its file, each behind two colons.
func inFile(unit, class string) string {
	rest := strings.TrimPrefix(class, strings.ReplaceAll(strings.TrimSuffix(unit, ".py"), "/", "."))
	return strings.ReplaceAll(rest, ".", "::")
}

// withoutSource is a report of the test alone, with the outcomes of its failure and no lines of code.
func (c *xmlCase) withoutSource(runner string, kept func(string) string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<testsuites><testsuite name=%s tests=\"1\"><testcase classname=%s name=%s time=%s", quoted(runner), quoted(c.Class), quoted(c.Name), quoted(c.Time))
	if c.File != "" {
		fmt.Fprintf(&b, " file=%s", quoted(c.File))
	}
	b.WriteString(">")
	for _, f := range c.Failures {
		fmt.Fprintf(&b, "<failure message=%s>%s</failure>", quoted(saidOf(f.Message)), escaped(kept(f.Text)))
	}
	for _, f := range c.Errors {
		fmt.Fprintf(&b, "<error message=%s>%s</error>", quoted(saidOf(f.Message)), escaped(kept(f.Text)))
	}
	b.WriteString("</testcase></testsuite></testsuites>\n")
	return b.String()
}

func escaped(text string) string {
	var b bytes.Buffer
	_ = xml.EscapeText(&b, []byte(text))
	return b.String()
}

func quoted(text string) string { return `"` + escaped(text) + `"` }

// saidOf is the first line of a message: the others may be code.
func saidOf(message string) string {
	line, _, _ := strings.Cut(message, "\n")
	return line
}

// Lines of a failure that tell of outcomes: what an assertion or an error says, places, and headings.
var (
	said    = regexp.MustCompile(`^E(?:\s|$)`)
	placed  = regexp.MustCompile(`^\S+:\d+: ?`)
	heading = regexp.MustCompile(`^[_ ]*_{2,}[_ ]*[\w.\[\] -]*[_ ]*$`)
	// syntax is a place in what a syntax error says; the two lines behind it are code.
	syntax = regexp.MustCompile(`^E\s+File ".*", line \d+`)
)

// outcomes are the lines of a failure that tell of outcomes.
func outcomes(text string) string {
	var b strings.Builder
	skip := 0
	for line := range strings.Lines(text) {
		if skip--; skip >= 0 || !said.MatchString(line) && !placed.MatchString(line) && !heading.MatchString(line) {
			continue
		}
		b.WriteString(line)
		if syntax.MatchString(line) {
			skip = 2
		}
	}
	return b.String()
}

func lastLine(out []byte) string {
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	return lines[len(lines)-1]
}

package testcmd

import (
	"bufio"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// formatJest is the JSON of jest's own, which becomes JUnit XML.
const formatJest = "jest"

// maxJestBytes is the longest JSON of jest that is read.
const maxJestBytes = 128 << 20

// jestFile is what jest tells of a file of tests.
type jestFile struct {
	Name    string     `json:"name"`
	Status  string     `json:"status"`
	Message string     `json:"message"`
	Tests   []jestTest `json:"assertionResults"`
}

type jestTest struct {
	Ancestors []string `json:"ancestorTitles"`
	Title     string   `json:"title"`
	Status    string   `json:"status"`
	Duration  float64  `json:"duration"` // ms
	Failures  []string `json:"failureMessages"`
	Retried   []string `json:"retryReasons"` // failures of runs before the last
}

type junitSuite struct {
	XMLName xml.Name    `xml:"testsuite"`
	Name    string      `xml:"name,attr"`
	Tests   []junitTest `xml:"testcase"`
}

type junitTest struct {
	Class   string   `xml:"classname,attr"`
	Name    string   `xml:"name,attr"`
	File    string   `xml:"file,attr"`
	Time    string   `xml:"time,attr"`
	Error   []string `xml:"error"`
	Failure []string `xml:"failure"`
	Flaky   []string `xml:"flakyFailure"`
	Rerun   []string `xml:"rerunFailure"`
	Skipped []string `xml:"skipped"`
}

// convertJest writes the JSON of jest as JUnit XML, a suite for each file of tests. Of the JSON it holds one file's tests at a time.
func convertJest(to, from, dir string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(out)
	err = writeJest(w, bufio.NewReader(in), dir)
	if err != nil {
		err = fmt.Errorf("the report of jest, %s, can't be read: %w", from, err)
	}
	return errors.Join(err, w.Flush(), out.Close())
}

func writeJest(w io.Writer, in io.Reader, dir string) error {
	if resolved, err := filepath.EvalSymlinks(dir); err == nil { // as jest names files
		dir = resolved
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	decoder := json.NewDecoder(in)
	if token, err := decoder.Token(); err != nil || token != json.Delim('{') {
		return errors.Join(errors.New("it is no JSON object"), err)
	}
	if _, err = io.WriteString(w, "<testsuites>\n"); err != nil {
		return err
	}
	encoder := xml.NewEncoder(w)
	for decoder.More() {
		key, err := decoder.Token()
		if err != nil {
			return err
		}
		if key != "testResults" {
			if err := skipValue(decoder); err != nil {
				return err
			}
			continue
		}
		if token, err := decoder.Token(); err != nil || token != json.Delim('[') {
			return errors.Join(errors.New("testResults is no list"), err)
		}
		for decoder.More() {
			var file jestFile
			if err := decoder.Decode(&file); err != nil {
				return err
			}
			if err := encoder.Encode(file.suite(dir)); err != nil {
				return err
			}
		}
		if _, err := decoder.Token(); err != nil {
			return err
		}
	}
	if _, err := decoder.Token(); err != nil {
		return err
	}
	_, err = io.WriteString(w, "\n</testsuites>\n")
	return err
}

// skipValue passes over a value. Of a long one nothing is held but its longest text.
func skipValue(decoder *json.Decoder) error {
	for depth := 0; ; {
		token, err := decoder.Token()
		if err != nil {
			return err
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth == 0 {
			return nil
		}
	}
}

// suite is the file as a suite of JUnit. What fails beside its tests, as a file that does not load
// and a hook behind all tests, is one test, called as jest-junit calls it.
func (f *jestFile) suite(dir string) *junitSuite {
	name := f.Name
	if rel, err := filepath.Rel(dir, name); err == nil && filepath.IsLocal(rel) {
		name = filepath.ToSlash(rel)
	}
	s := &junitSuite{Name: name}
	for i := range f.Tests {
		s.Tests = append(s.Tests, f.Tests[i].test(name))
	}
	if failing := func(t junitTest) bool { return len(t.Failure) > 0 }; f.Status == "failed" &&
		(!slices.ContainsFunc(s.Tests, failing) || strings.Contains(color.ReplaceAllString(f.Message, ""), "● Test suite failed to run")) {
		s.Tests = append(s.Tests, junitTest{Class: "Test suite failed to run", Name: name, File: name, Error: withoutColors([]string{f.Message})})
	}
	return s
}

func (t *jestTest) test(file string) junitTest {
	c := junitTest{Class: strings.Join(t.Ancestors, " "), Name: t.Title, File: file, Time: fmt.Sprintf("%.3f", t.Duration/1000)}
	switch retried := withoutColors(t.Retried); t.Status {
	case "failed":
		c.Failure, c.Rerun = withoutColors(t.Failures), retried
		if len(c.Failure) == 0 {
			c.Failure = []string{"failed"}
		}
	case "passed", "focused":
		c.Flaky = retried
	default:
		c.Skipped = []string{""}
	}
	return c
}

// color is what sets colors in a terminal.
var color = regexp.MustCompile("\x1b\\[[0-9;]*m")

func withoutColors(texts []string) []string {
	clean := make([]string, len(texts))
	for i, text := range texts {
		clean[i] = color.ReplaceAllString(text, "")
	}
	return clean
}

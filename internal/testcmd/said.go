package testcmd

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/host/casebook"
	"github.com/shadowcourt/shadowcourt/host/docket"
)

var (
	// always are lines that runners print of any run: its end, and what it measured and wrote.
	always = regexp.MustCompile(`^(?:FAIL|PASS)$|^(?:FAIL|ok)\t|^exit status \d|^coverage: |^[-=_⎯\s]*$|^=+ tests coverage =+$|^_+ coverage: .* _+$|` +
		`^Name +(?:Stmts|\(time)|^\S+(?: +\d+)+ +[\d.]+%|^\S+ +[\d.,]+ \([\d.]+\) |^Coverage \w+ written to |^\d+ (?:empty )?files? skipped |` +
		`^Required test coverage of .* reached\b|^-+ Generated html report: |^ *% Coverage report from|\|.*\|.*\||^JUNIT report written to |` +
		`^Test results written to: |^Ran all test suites|^ +(?:Test Files|Duration) |^⎯+ Unhandled Errors |` +
		`^npm |^::(?:error|warning|notice) |^\[INFO\] BUILD |^(?:error:?|info|Done) (?:Command failed|Visit|script|in) |^\W*(?:ELIFECYCLE|ERR_PNPM)`)
	// varies is what differs between two runs: times, addresses, numbers of processes and ports. Other numbers may count what is left open.
	varies = regexp.MustCompile(`0x[0-9a-f]+|\d{4}[-/]\d\d[-/]\d\d|\d+:\d\d(?::\d\d)?(?:[.,]\d+)?|\b(?:\d+(?:\.\d+)? ?(?:h|m|s|[mnuµμ]s|seconds?))+\b|\d+\.\d+|\d{4,}|\b(?i:pid|node|process)\b\W{0,2}\d+`)
)

// maxSaid is how much is kept of what a package of Go says behind its tests.
const maxSaid = 64 << 10

// said are the lines that a run printed beside its tests, of Go by package: behind the end of the tests, and where the runner tells of errors outside
// of them. known: they can be told from what tests printed.
func (c *Command) said(output, report string) (lines map[string][]string, known bool, err error) {
	output = strings.ReplaceAll(output, "\r\n", "\n")
	switch lines, known = map[string][]string{}, true; {
	case c.Runner == runnerGo:
		lines, err = goSaid(report)
	case c.Runner == runnerPytest:
		lines[""], known = pytestSaid(strings.Split(output, "\n"))
	case c.line.runner.beside != nil:
		found := c.line.runner.beside.FindAllString(output, -1)
		lines[""], known = strings.Split(strings.Join(found, "\n"), "\n"), len(found) > 0
	}
	for p := range lines {
		lines[p] = slices.DeleteFunc(lines[p], always.MatchString)
	}
	return lines, known, err
}

// goSaid reads what the test binaries printed after their last test.
func goSaid(report string) (map[string][]string, error) {
	file, err := os.Open(report)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, over := map[string]string{}, map[string]bool{}
	for in := bufio.NewReaderSize(file, maxGoLine); ; {
		line, err := in.ReadSlice('\n')
		var e struct {
			Action  string `json:"Action"`
			Package string `json:"Package"`
			Output  string `json:"Output"`
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull): // the rest of the line is no event either
		case err != nil && !errors.Is(err, io.EOF):
			return nil, err
		case bytes.Contains(line, []byte(`"Test":"`)) || json.Unmarshal(line, &e) != nil || e.Action != "output":
		case over[e.Package] && len(text[e.Package]) < maxSaid:
			text[e.Package] += e.Output
		case e.Output == "FAIL\n" || e.Output == "PASS\n":
			over[e.Package] = true
		}
		if errors.Is(err, io.EOF) {
			break
		}
	}
	lines := map[string][]string{}
	for p := range text {
		lines[p] = strings.Split(text[p], "\n")
	}
	return lines, nil
}

var (
	pytestTitle = regexp.MustCompile(`^=+ (.+?) =+$`)
	pytestOwn   = regexp.MustCompile(`^(?:test session starts|ERRORS|FAILURES|X?PASSES|XFAILURES|warnings summary.*|(?:short|rerun) test summary info|slowest .*durations|.* in [\d.]+s)$`)
	// pytestLast ends the tests, pytestPlugin what pytest itself tells of them before other plugins do, and pytestEnd all of it.
	pytestLast   = regexp.MustCompile(`^(?:(?:\S+ )?[.FEsxXR]+ +\[ *\d+[%/]\d*\][.FEsxXR]*|\S+::.* \[ *\d+[%/]\d*\]|\[gw\d+\] \[ *\d+[%/]\d*\] \S+ \S+ ?)`)
	pytestPlugin = regexp.MustCompile(`^-+ (?:generated xml file|coverage): .* -+$`)
	pytestEnd    = regexp.MustCompile(`^(?:=+ )?(?:\d+ \w+(?:, \d+ \w+)*|no tests ran) in [\d.]+s\b`)
)

// pytestSaid leaves the sections of pytest itself out. Where it does not show how far the tests are, as with -s, nobody knows where they end.
func pytestSaid(lines []string) (said []string, known bool) {
	last, end, runs := -1, len(lines), true
	for i, line := range lines {
		title := pytestTitle.FindStringSubmatch(line)
		if runs = runs && (title == nil || title[1] == "test session starts"); runs && pytestLast.MatchString(line) {
			last = i
		}
		if pytestEnd.MatchString(line) {
			end = i
		}
	}
	own := true
	for i, line := range lines {
		switch title := pytestTitle.FindStringSubmatch(line); {
		case i == end || pytestPlugin.MatchString(line):
			own = false
			continue
		case i == last:
			own, line = false, pytestLast.ReplaceAllString(line, "")
		case i < end && title != nil:
			own = pytestOwn.MatchString(title[1])
		}
		if !own {
			said = append(said, line)
		}
	}
	return said, last >= 0
}

// Unexplained is what the run said beside its tests and a passing run of these packages without the failing tests did not: they may have caused it, or
// hid it. It is no failure where that run said it, too. ok: there is something.
func (r *Ran) Unexplained(rest *Ran, packages []string) (b docket.Beside, lines []string, ok bool) {
	plain := func(line string) string {
		return varies.ReplaceAllString(casebook.Portable(strings.TrimSpace(line)), "0")
	}
	for _, p := range slices.Sorted(maps.Keys(r.said)) {
		known := map[string]bool{}
		for _, line := range rest.said[p] {
			known[plain(line)] = true
		}
		for _, line := range r.said[p] {
			switch {
			case known[plain(line)]:
			case p == "":
				lines = append(lines, line)
			case slices.Contains(packages, p):
				lines = append(lines, p+": "+line)
			}
		}
	}
	if len(lines) == 0 {
		return b, nil, false
	}
	return docket.Beside{
		What: "outside of its tests the command printed what it does not print without those that have an alibi: " + shorten(strings.TrimSpace(lines[0])), Next: docket.OnBase,
	}, lines, true
}

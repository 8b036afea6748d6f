package gotest

import (
	"regexp"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket/internal/testlog"
)

// cut cuts the evidence out of a log, in the order of the rules.
func cut(pack, log string) []abi.Evidence {
	c := testlog.NewCutter()
	c.Open(logName, log)
	for _, r := range systemRules() {
		c.Apply(r)
	}
	c.Release() // an assertion may quote the environment, and both are evidence
	frames(c, pack)
	for _, r := range symptomRules(c.Races(pack)) {
		c.Apply(r)
	}
	if !slices.ContainsFunc(c.Items(), func(e abi.Evidence) bool { return e.Element != abi.Air }) {
		lastWords(c)
	}
	return c.Items()
}

// maxLastWords is how many lines are cut from the end of a log of which no rule knows a line.
const maxLastWords = 5

// frameText is a line that the testing package or the go command puts around the output of tests.
var frameText = regexp.MustCompile(`^\s*$|^\s*(===|---) |^(PASS|FAIL|ok)\b|^exit status |^coverage: `)

// lastWords cuts what a test or a package printed last, as before os.Exit.
func lastWords(c *testlog.Cutter) {
	end := len(c.Lines)
	for end > 0 && frameText.MatchString(c.Lines[end-1]) {
		end--
	}
	first := end
	for first > max(0, end-maxLastWords) && !frameText.MatchString(c.Lines[first-1]) {
		first--
	}
	if first < end {
		c.Add(first, end, testlog.Rule{Confidence: 0.4, Element: abi.Water})
	}
}

// crashLines goes on to the goroutines of a crash.
func crashLines(lines []string, first int) int {
	end := first + 1
	for end < len(lines) && strings.TrimSpace(lines[end]) != "" && !strings.HasPrefix(lines[end], "goroutine ") {
		end++
	}
	return end
}

// message goes on while the lines are indented deeper than the first, as the lines of one message are. What an example
// printed and should have printed goes to the end.
func message(lines []string, first int) int {
	end := first + 1
	example := lines[first] == "got:"
	for margin := testlog.Indent(lines[first]); end < len(lines) && (example || testlog.Indent(lines[end]) > margin); {
		end++
	}
	return end
}

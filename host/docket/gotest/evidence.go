package gotest

import (
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
	return c.Items()
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

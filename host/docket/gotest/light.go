package gotest

import (
	"regexp"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket/internal/report"
)

// Light is a first simple classification of a failure, by the first of a few rules on its log that applies. Its
// confidences are stated by hand, and not fitted to any docket. It looks at the symptom alone, and so it takes a test
// that expects the wrong thing for a product that does the wrong thing.
//
// It is frozen: the court is measured against it. That is why it has its own patterns, though the rules that cut evidence
// have similar ones, and reads nothing but the log and the group of the case. A better classifier is another function.
//
//	the environment speaks (permission, disk, network, ...)   si001  0.78
//	a data race or a concurrent map access                     nd001  0.80
//	a timeout or a deadlock                                    nd001  0.62
//	a test file doesn't compile                                ab001  0.86
//	a product file doesn't compile                             pb001  0.88
//	a crash, first frame of the module in a test file          ab001  0.58
//	a crash, first frame of the module in the product          pb001  0.72
//	an assertion compares                                      pb001  0.60
//	any other message of a test                                pb001  0.52
//	nothing of these                                           si001  0.40
func Light(c abi.Case) abi.LightAnswer {
	var log string
	for _, d := range c.Documents {
		if d.Name == logName {
			log = d.Text
		}
	}
	return report.Answer(lightRules(), c.Group, strings.Split(log, "\n"))
}

// The patterns of Light.
var (
	lightSystem = regexp.MustCompile(`connection (refused|reset)|(network|host) is unreachable|no route to host|` +
		`no such host|cannot assign requested address|address already in use|failed to listen on a port|` +
		`permission denied|operation not permitted|read-only file system|no space left on device|disk quota exceeded|` +
		`file too large|input/output error|too many open files|cannot allocate memory|resource temporarily unavailable|` +
		`failed to create new OS thread|^signal: killed|out of memory|executable file not found in|unknown time zone|` +
		`\$HOME is not defined`)
	lightRace    = regexp.MustCompile(`^WARNING: DATA RACE|^fatal error: concurrent map|race detected during execution of test`)
	lightTimeout = regexp.MustCompile(`(?i)deadline exceeded|\btimed? ?out\b|^fatal error: all goroutines are asleep`)
	lightTest    = regexp.MustCompile(`^\S*_test\.go:\d+:(\d+:)? `)
	lightProduct = regexp.MustCompile(`^\S+\.go:\d+:\d+: `)
	lightCrash   = regexp.MustCompile(`^(panic: |fatal error: )`)
	lightFrame   = regexp.MustCompile(`^\t(\S.*\.go):\d+`)
	lightMessage = regexp.MustCompile(`^ +\S+\.go:\d+: `)
	lightCompare = regexp.MustCompile(`(?i)\b(got|want|expect(ed|ing)?|actual|should|mismatch|not equal)\b|!=|==`)
)

func lightRules() []report.LightRule {
	rule := func(applies func(string, []string) bool, label string, confidence float64, reason string) report.LightRule {
		return report.LightRule{Applies: applies, Label: label, Confidence: confidence, Reason: reason}
	}
	return []report.LightRule{
		rule(aLine(lightSystem), SystemIssue, 0.78, "An error of the environment stands in the log."),
		rule(aLine(lightRace), NoDefect, 0.80, "The race detector or the runtime found concurrent access."),
		rule(aLine(lightTimeout), NoDefect, 0.62, "Something took too long or never came."),
		rule(aLine(lightTest), AutomationBug, 0.86, "A test file does not compile."),
		rule(aLine(lightProduct), ProductBug, 0.88, "A file of the product does not compile."),
		rule(crashIn(true), AutomationBug, 0.58, "It crashed, and the first frame of the module is in a test file."),
		rule(crashIn(false), ProductBug, 0.72, "It crashed, and the first frame of the module is in the product."),
		rule(aLine(lightMessage, lightCompare), ProductBug, 0.60, "The result is not the one that the test compares it with."),
		rule(aLine(lightMessage), ProductBug, 0.52, "The test reports a failure."),
	}
}

// aLine applies when all the patterns match one line.
func aLine(all ...*regexp.Regexp) func(string, []string) bool {
	return func(_ string, lines []string) bool {
		return slices.ContainsFunc(lines, func(line string) bool {
			return !slices.ContainsFunc(all, func(p *regexp.Regexp) bool { return !p.MatchString(line) })
		})
	}
}

// crashIn applies when the log tells of a crash whose first frame in the module of the case is in a test file, or not.
func crashIn(test bool) func(string, []string) bool {
	return func(group string, lines []string) bool {
		crash := slices.IndexFunc(lines, lightCrash.MatchString)
		if crash < 0 {
			return false
		}
		for i := crash; i+1 < len(lines); i++ {
			file := lightFrame.FindStringSubmatch(lines[i+1])
			if file != nil && report.InGoModule(lines[i], group) {
				return strings.HasSuffix(file[1], "_test.go") == test
			}
		}
		return false
	}
}

package gotest

import (
	"regexp"

	"github.com/shadowcourt/shadowcourt/abi"
)

// rule cuts the lines that match it out of a log. supports is the label that the rule speaks for, or empty; confidence is
// how much such an excerpt bears on the cause, in [0, 1].
type rule struct {
	match      *regexp.Regexp
	supports   string
	confidence float64
	element    abi.Element
	// block is how far the excerpt goes beyond its first line; nil for that line alone.
	block func(lines []string, first int) (end int)
}

// The texts of Go's runtime, compiler, testing package and of the system's errors, by what they tell. They are the
// operating system's and the standard library's words, not those of any test.
var (
	raceText    = regexp.MustCompile(`^WARNING: DATA RACE|^fatal error: concurrent map|race detected during execution of test`)
	timeoutText = regexp.MustCompile(`^panic: test timed out after|(?i)context deadline exceeded|\btimed? ?out\b|deadline exceeded`)
	hangText    = regexp.MustCompile(`^fatal error: all goroutines are asleep`)
	networkText = regexp.MustCompile(`connection (refused|reset)|(network|host) is unreachable|no route to host|no such host|` +
		`cannot assign requested address|address already in use|failed to listen on a port|server misbehaving`)
	accessText = regexp.MustCompile(`permission denied|operation not permitted|read-only file system`)
	spaceText  = regexp.MustCompile(`no space left on device|disk quota exceeded|file too large|input/output error`)
	limitText  = regexp.MustCompile(`too many open files|cannot allocate memory|resource temporarily unavailable|` +
		`failed to create new OS thread|^signal: killed|out of memory`)
	missingToolText = regexp.MustCompile(`executable file not found in`)
	localeText      = regexp.MustCompile(`unknown time zone|\$HOME is not defined|user: (unknown|lookup)`)
	missingFileText = regexp.MustCompile(`no such file or directory`)
	testCompileText = regexp.MustCompile(`^\S*_test\.go:\d+:\d+: |^\S*_test\.go:\d+: `)
	compileText     = regexp.MustCompile(`^\S+\.go:\d+:\d+: `)
	crashText       = regexp.MustCompile(`^\s*(panic: |fatal error: |unexpected fault address)|\bpanic serving `)
	assertionText   = regexp.MustCompile(`^ +\S+\.go:\d+: |^got:$`)
	comparisonText  = regexp.MustCompile(`(?im)\b(got|want|expect(ed|ing)?|actual|should|mismatch|not equal)\b|^\s+[-+]\s|!=|==`)
	summaryText     = regexp.MustCompile(`^--- FAIL: |^FAIL\t|^exit status |^signal: `)
)

// systemRules cut what the environment said: they stand before all others, and speak for a system issue.
func systemRules() []rule {
	return []rule{
		{match: networkText, supports: SystemIssue, confidence: 0.75, element: abi.Earth},
		{match: accessText, supports: SystemIssue, confidence: 0.8, element: abi.Earth},
		{match: spaceText, supports: SystemIssue, confidence: 0.85, element: abi.Earth},
		{match: limitText, supports: SystemIssue, confidence: 0.8, element: abi.Earth},
		{match: missingToolText, supports: SystemIssue, confidence: 0.85, element: abi.Earth},
		{match: localeText, supports: SystemIssue, confidence: 0.75, element: abi.Earth},
		{match: missingFileText, confidence: 0.5, element: abi.Earth},
	}
}

// symptomRules cut what the test did.
func symptomRules() []rule {
	return []rule{
		{match: raceText, supports: NoDefect, confidence: 0.85, element: abi.Water, block: race},
		{match: timeoutText, supports: NoDefect, confidence: 0.6, element: abi.Water},
		{match: hangText, supports: NoDefect, confidence: 0.5, element: abi.Water},
		{match: crashText, confidence: 0.6, element: abi.Water, block: crashLines},
		{match: testCompileText, supports: AutomationBug, confidence: 0.75, element: abi.Earth},
		{match: compileText, supports: ProductBug, confidence: 0.75, element: abi.Earth},
		{match: assertionText, confidence: 0.55, element: abi.Fire, block: message},
		{match: summaryText, confidence: 0.3, element: abi.Air},
	}
}

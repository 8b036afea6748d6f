package gotest

import (
	"regexp"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket/internal/testlog"
)

// The texts of Go's runtime, compiler, testing package and of the system's errors, by what they tell. They are the
// operating system's and the standard library's words, not those of any test.
var (
	raceText       = regexp.MustCompile(`race detected during execution of test`)
	concurrentText = regexp.MustCompile(`^fatal error: concurrent map`)
	timeoutText    = regexp.MustCompile(`^panic: test timed out after|^\*\*\* Test killed with quit: ran too long|(?i)context deadline exceeded|\btimed? ?out\b|deadline exceeded`)
	hangText       = regexp.MustCompile(`^fatal error: all goroutines are asleep`)
	networkText    = regexp.MustCompile(`connection (refused|reset)|(network|host) is unreachable|no route to host|no such host|` +
		`connection timed out|actively refused|cannot assign requested address|address already in use|i/o timeout|TLS handshake timeout|failed to listen on a port|server misbehaving`)
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
func systemRules() []testlog.Rule {
	return append([]testlog.Rule{
		{Match: networkText, Supports: SystemIssue, Confidence: 0.75, Element: abi.Earth},
		{Match: accessText, Supports: SystemIssue, Confidence: 0.8, Element: abi.Earth},
		{Match: spaceText, Supports: SystemIssue, Confidence: 0.85, Element: abi.Earth},
		{Match: limitText, Supports: SystemIssue, Confidence: 0.8, Element: abi.Earth},
		{Match: missingToolText, Supports: SystemIssue, Confidence: 0.85, Element: abi.Earth},
		{Match: localeText, Supports: SystemIssue, Confidence: 0.75, Element: abi.Earth},
		{Match: missingFileText, Confidence: 0.5, Element: abi.Earth},
	}, testlog.EnvironmentRules()...)
}

// symptomRules cut what the test did; race is the label that the reports of races speak for, and how sure.
func symptomRules(race string, sure float64) []testlog.Rule {
	return []testlog.Rule{
		{Match: raceText, Supports: race, Confidence: sure, Element: abi.Water},
		{Match: concurrentText, Supports: NoDefect, Confidence: 0.85, Element: abi.Water},
		{Match: timeoutText, Supports: NoDefect, Confidence: 0.6, Element: abi.Water},
		{Match: hangText, Supports: NoDefect, Confidence: 0.5, Element: abi.Water},
		{Match: crashText, Confidence: 0.6, Element: abi.Water, Block: crashLines},
		{Match: testCompileText, Supports: AutomationBug, Confidence: 0.75, Element: abi.Earth},
		{Match: compileText, Supports: ProductBug, Confidence: 0.75, Element: abi.Earth},
		{Match: assertionText, Confidence: 0.55, Element: abi.Fire, Block: message, Judge: compares},
		{Match: summaryText, Confidence: 0.3, Element: abi.Air},
	}
}

// compares speaks for the product where a message sets one value against another.
func compares(content string) string {
	if comparisonText.MatchString(content) {
		return ProductBug
	}
	return ""
}

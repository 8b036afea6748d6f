package testlog

import (
	"regexp"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
)

// What operating systems, runtimes and test frameworks print, by what it tells. These are their words, not those of any
// test.
var (
	networkText = words(`[Cc]onnection (refused|reset)|\b([Nn]etwork|[Hh]ost) is unreachable|[Nn]o route to host|[Nn]o such host|`+
		`UnknownHostException|name resolution|[Nn]ame or service not known|nodename nor servname|getaddrinfo failed|[Cc]annot assign requested address|`+
		`[Cc]onnection timed out|actively refused|`+
		`[Aa]ddress already in use|i/o timeout|TLS handshake timeout|\b(ECONNREFUSED|ECONNRESET|ENOTFOUND|EAI_AGAIN|EADDRINUSE|EHOSTUNREACH|ENETUNREACH)\b`,
		"onnection re", "onnection timed", "actively re", "nodename nor", "getaddrinfo", "unreachable", "o route to", "o such host", "UnknownHost", "name resol", "service not known",
		"ssign requested", "ddress already", "i/o timeout", "handshake timeout", "ECONN", "ENOTFOUND", "EAI_AGAIN", "EADDRINUSE", "EHOSTUNREACH", "ENETUNREACH")
	accessText = words(`[Pp]ermission denied|[Oo]peration not permitted|[Rr]ead-only file system|`+
		`AccessDeniedException|\b(EACCES|EPERM|EROFS)\b`,
		"ermission denied", "not permitted", "ead-only", "AccessDenied", "EACCES", "EPERM", "EROFS")
	spaceText = words(`[Nn]o space left on device|[Dd]isk quota exceeded|[Ff]ile too large|[Ii]nput/output error|\b(ENOSPC|EDQUOT)\b`,
		"o space left", "quota", "too large", "/output error", "ENOSPC", "EDQUOT")
	limitText = words(`[Tt]oo many open files|[Cc]annot allocate memory|[Rr]esource temporarily unavailable|`+
		`unable to create (new )?native thread|failed to create new OS thread|^signal: killed|[Oo]ut of memory|OutOfMemoryError|`+
		`\b(EMFILE|ENFILE|ENOMEM)\b`,
		"oo many open", "annot allocate", "temporarily unavail", "native thread", "new OS thread", "signal: killed", "of memory",
		"OutOfMemory", "EMFILE", "ENFILE", "ENOMEM")
	missingToolText = words(`executable file not found in|Cannot run program "|command not found|\bspawn \S+ ENOENT\b|`+
		`^\S*subprocess\.py:\d+: FileNotFoundError|subprocess\.py", line \d+, in _execute_child`,
		"executable file", "Cannot run program", "command not found", "ENOENT", "subprocess.py")
	missingFileText = words(`[Nn]o such file or directory|\bENOENT\b|NoSuchFileException`, "o such file", "ENOENT", "NoSuchFile")

	raceText = words(`^WARNING: (DATA RACE|ThreadSanitizer: data race)|^fatal error: concurrent map|race detected during execution of test`,
		"DATA RACE", "ThreadSanitizer", "concurrent map", "race detected")
	timeoutText = words(`\b[Tt]imed out\b|\b[Tt]ime-?out of \d|[Ee]xceeded timeout|[Dd]eadline exceeded|`+
		`\bTimeout(Error|Exception|Expired)\b|\bETIMEDOUT\b|all goroutines are asleep`,
		"imed out", "imeout", "ime-out", "eadline exceeded", "ETIMEDOUT", "asleep")
	flakyText = words(`^flaky(Failure|Error):`, "flaky")

	// setupText tells where a test failed, and not why.
	setupText = words(`[Ff]ailed on (setup|teardown) with`, "ailed on ")
	// loadText tells of a test that never ran, since it can't be loaded.
	loadText = words(`^ImportError while importing test module|^E\s+fixture '.*' not found|Test suite failed to run|`+
		`InvalidTestClassError|ParameterResolutionException|^\S*_test\.go:\d+:(\d+:)? `,
		"importing test", "fixture", "Test suite failed", "InvalidTestClass", "ParameterResolution", "_test.go:")
	compileText = words(`^\S+\.go:\d+:\d+: `, ".go:")
	buildText   = words(`\[(build|setup) failed\]|BUILD FAILED|COMPILATION ERROR`, " failed]", "BUILD FAILED", "COMPILATION ERROR")

	// assertionText is a test's own word that something is not as it should be.
	assertionText = words(`AssertionError:|^(E\s+)?([\w.]+\.)?AssertionError$|AssertionFailedError|ComparisonFailure|`+
		`MultipleFailuresError|\bexpect\(.*\)\.|^E\s+assert\b|^assert\b|^ +\S+_test\.go:\d+: |`+
		`[Ee]xpected:? ?<.*> but was|\b[Aa]ssertion failed\b`,
		"Assertion", "assert", "ComparisonFailure", "MultipleFailures", "expect(", "xpected", "_test.go:")
	comparisonText = regexp.MustCompile(`(?im)\b(got|want|expect(ed|ing)?|received|actual|but was|should|mismatch|not equal)\b|^E?\s+[-+?]\s|!=|==`)

	// crashText is an exception or a crash; that of an assertion counts as assertion.
	crashText = words(`^\s*(panic: |fatal error: |unexpected fault address)|`+
		`^(E\s+|Caused by: |Uncaught |\w+: )?([\w$]+[./])*[A-Z][\w$]*(Error|Exception|Fault)\b(:|$| \[)|^(E\s+|Uncaught )?Error: |`+
		`^Exception in thread|^(E\s+)?(KeyboardInterrupt|StopIteration|SystemExit)\b`,
		"panic: ", "fatal error: ", "unexpected fault", "Error", "Exception", "Fault", "KeyboardInterrupt", "StopIteration", "SystemExit")
	summaryText = words(`^--- FAIL: |^FAIL\t|^exit status |^signal: `, "--- FAIL", "FAIL\t", "exit status ", "signal: ")
)

// systemRules cut what the environment said; they stand before all others.
func systemRules() []Rule {
	return append([]Rule{
		{Match: networkText, Supports: SystemIssue, Confidence: 0.75, Element: abi.Earth},
		{Match: accessText, Supports: SystemIssue, Confidence: 0.8, Element: abi.Earth},
		{Match: spaceText, Supports: SystemIssue, Confidence: 0.85, Element: abi.Earth},
		{Match: limitText, Supports: SystemIssue, Confidence: 0.8, Element: abi.Earth},
		{Match: missingToolText, Supports: SystemIssue, Confidence: 0.85, Element: abi.Earth},
		{Match: missingFileText, Confidence: 0.5, Element: abi.Earth},
	}, EnvironmentRules()...)
}

// symptomRules cut what the test did. An assertion stands before a crash, since most are exceptions. That it was being set
// up speaks for the test, unless something else than the test broke there;
// race is the label that the reports of races speak for, and how sure.
func symptomRules(setup, race string, sure float64) []Rule {
	return []Rule{
		{Match: flakyText, Supports: NoDefect, Confidence: 0.85, Element: abi.Air, Block: twoLines},
		{Match: raceText, Supports: race, Confidence: sure, Element: abi.Water},
		{Match: timeoutText, Supports: NoDefect, Confidence: 0.6, Element: abi.Water},
		{Match: setupText, Supports: setup, Confidence: 0.75, Element: abi.Earth},
		{Match: loadText, Supports: AutomationBug, Confidence: 0.75, Element: abi.Earth},
		{Match: compileText, Supports: ProductBug, Confidence: 0.75, Element: abi.Earth},
		{Match: buildText, Confidence: 0.5, Element: abi.Earth},
		{Match: assertionText, Confidence: 0.55, Element: abi.Fire, Block: message, Judge: compares},
		{Match: crashText, Confidence: 0.6, Element: abi.Water},
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

func twoLines(lines []string, first int) int { return min(first+2, len(lines)) }

// message goes on to the end of what an assertion says: pytest marks its lines, Go indents them, and others write on to
// the frames of the stack, or where there are none to an empty line.
func message(lines []string, first int) int {
	end, last := first+1, min(first+MaxExcerptLines, len(lines))
	switch {
	case strings.HasPrefix(lines[first], "E "):
		for end < last && strings.HasPrefix(lines[end], "E ") {
			end++
		}
	case strings.HasPrefix(lines[first], " "):
		for end < last && Indent(lines[end]) > Indent(lines[first]) {
			end++
		}
	default:
		for end < last && !isFrame(lines[end]) {
			end++
		}
		if end == last {
			for end = first + 1; end < last && strings.TrimSpace(lines[end]) != ""; {
				end++
			}
		}
		for end > first+1 && strings.TrimSpace(lines[end-1]) == "" {
			end--
		}
	}
	return end
}

// Indent is how far a line is indented, a tab counting as eight; 0 for one of blanks alone.
func Indent(line string) int {
	n := 0
	for _, r := range line {
		switch r {
		case ' ':
			n++
		case '\t':
			n += 8
		default:
			return n
		}
	}
	return 0
}

package testlog

import (
	"regexp"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
)

// What operating systems, runtimes and test frameworks print, by what it tells. These are their words, not those of any
// test.
var (
	networkText = regexp.MustCompile(`(?i)connection (refused|reset)|\b(network|host) is unreachable|no route to host|no such host|` +
		`UnknownHostException|name resolution|name or service not known|cannot assign requested address|address already in use|` +
		`\b(ECONNREFUSED|ECONNRESET|ENOTFOUND|EAI_AGAIN|EADDRINUSE|EHOSTUNREACH|ENETUNREACH)\b`)
	accessText = regexp.MustCompile(`(?i)permission denied|operation not permitted|read-only file system|` +
		`AccessDeniedException|\b(EACCES|EPERM|EROFS)\b`)
	spaceText = regexp.MustCompile(`(?i)no space left on device|disk quota exceeded|file too large|input/output error|\b(ENOSPC|EDQUOT)\b`)
	limitText = regexp.MustCompile(`(?i)too many open files|cannot allocate memory|resource temporarily unavailable|` +
		`unable to create (new )?native thread|failed to create new OS thread|^signal: killed|out of memory|OutOfMemoryError|` +
		`\b(EMFILE|ENFILE|ENOMEM)\b`)
	missingToolText = regexp.MustCompile(`executable file not found in|Cannot run program "|command not found|` +
		`\bspawn \S+ ENOENT\b`)
	missingFileText = regexp.MustCompile(`(?i)no such file or directory|\bENOENT\b|NoSuchFileException`)

	raceText    = regexp.MustCompile(`^WARNING: (DATA RACE|ThreadSanitizer: data race)|^fatal error: concurrent map|race detected during execution of test`)
	timeoutText = regexp.MustCompile(`(?i)\btimed out\b|\btime-?out of \d|exceeded timeout|deadline exceeded|\bTimeout(Error|Exception|Expired)\b|` +
		`\bETIMEDOUT\b|all goroutines are asleep`)
	flakyText = regexp.MustCompile(`^flaky(Failure|Error):`)

	// loadText tells of a test that never ran, since it can't be loaded or set up.
	loadText = regexp.MustCompile(`^ImportError while importing test module|^E\s+fixture '.*' not found|Test suite failed to run|` +
		`(?i)failed on (setup|teardown) with|InvalidTestClassError|ParameterResolutionException|` +
		`^\S*_test\.go:\d+:(\d+:)? `)
	compileText = regexp.MustCompile(`^\S+\.go:\d+:\d+: `)
	buildText   = regexp.MustCompile(`\[(build|setup) failed\]|BUILD FAILED|COMPILATION ERROR`)

	// assertionText is a test's own word that something is not as it should be.
	assertionText = regexp.MustCompile(`AssertionError:|^(E\s+)?([\w.]+\.)?AssertionError$|AssertionFailedError|ComparisonFailure|MultipleFailuresError|` +
		`\bexpect\(.*\)\.|^E\s+assert\b|^assert\b|^ +\S+_test\.go:\d+: |` +
		`(?i:expected:? ?<.*> but was|\bassertion failed\b)`)
	comparisonText = regexp.MustCompile(`(?im)\b(got|want|expect(ed|ing)?|received|actual|but was|should|mismatch|not equal)\b|^E?\s+[-+?]\s|!=|==`)

	// crashText is an exception or a crash; that of an assertion counts as assertion.
	crashText = regexp.MustCompile(`^\s*(panic: |fatal error: |unexpected fault address)|` +
		`^(E\s+|Caused by: |Uncaught |\w+: )?([\w$]+[./])*[A-Z][\w$]*(Error|Exception|Fault)\b(:|$| \[)|^Exception in thread|` +
		`^(E\s+)?(KeyboardInterrupt|StopIteration|SystemExit)\b`)
	summaryText = regexp.MustCompile(`^--- FAIL: |^FAIL\t|^exit status |^signal: `)
)

// systemRules cut what the environment said; they stand before all others.
func systemRules() []Rule {
	return []Rule{
		{Match: networkText, Supports: SystemIssue, Confidence: 0.75, Element: abi.Earth},
		{Match: accessText, Supports: SystemIssue, Confidence: 0.8, Element: abi.Earth},
		{Match: spaceText, Supports: SystemIssue, Confidence: 0.85, Element: abi.Earth},
		{Match: limitText, Supports: SystemIssue, Confidence: 0.8, Element: abi.Earth},
		{Match: missingToolText, Supports: SystemIssue, Confidence: 0.85, Element: abi.Earth},
		{Match: missingFileText, Confidence: 0.5, Element: abi.Earth},
	}
}

// symptomRules cut what the test did. An assertion stands before a crash, since most are exceptions.
func symptomRules() []Rule {
	return []Rule{
		{Match: flakyText, Supports: NoDefect, Confidence: 0.85, Element: abi.Air, Block: twoLines},
		{Match: raceText, Supports: NoDefect, Confidence: 0.85, Element: abi.Water},
		{Match: timeoutText, Supports: NoDefect, Confidence: 0.6, Element: abi.Water},
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

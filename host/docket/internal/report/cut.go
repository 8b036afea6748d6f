package report

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/sourcefile"
)

// The bounds of what is cut: of one excerpt, and of how often one rule speaks about one log.
const (
	MaxExcerptBytes = 1200
	MaxExcerptLines = 16
	MaxPerRule      = 3
)

// Matcher says whether a line is one that a rule is about, as a *regexp.Regexp does.
type Matcher interface{ MatchString(line string) bool }

// Rule cuts the lines that match it out of a log.
type Rule struct {
	Match Matcher
	// Supports is the label that the rule speaks for, or empty.
	Supports string
	// Confidence is how much such an excerpt bears on the cause, in [0, 1].
	Confidence float64
	Element    abi.Element
	// Block is how far the excerpt goes beyond its first line; nil for that line alone.
	Block func(lines []string, first int) (end int)
	// Judge gives the label that an excerpt speaks for, or empty to leave it at Supports; nil for Supports always.
	Judge func(content string) string
}

// Cutter cuts evidence out of logs, word for word. A line is cut once; what repeats an earlier excerpt, of this log or of
// another, is left out. Not safe for concurrent use.
type Cutter struct {
	// Lines are those of the open log.
	Lines []string

	// whole: what repeats itself is cut again, and no bound holds: excerpts of a rule, and lines of one.
	whole           bool
	perRule, length int

	name  string
	taken map[int]bool
	seen  map[string]bool
	items []abi.Evidence
}

// NewCutter makes a cutter without a log.
func NewCutter() *Cutter {
	return &Cutter{perRule: MaxPerRule, length: MaxExcerptLines, taken: map[int]bool{}, seen: map[string]bool{}, items: []abi.Evidence{}}
}

// Open continues with another log; name is the document that it is.
func (c *Cutter) Open(name, log string) {
	c.name, c.Lines = name, strings.Split(strings.TrimSuffix(log, "\n"), "\n")
	clear(c.taken)
}

// Release lets the lines that were cut be cut again.
func (c *Cutter) Release() { clear(c.taken) }

// Items are all excerpts so far, never nil.
func (c *Cutter) Items() []abi.Evidence { return c.items }

// Apply cuts what a rule matches. Of more matches than [MaxPerRule] those come first that the rule's Judge gives a label, and then the
// last ones: a test that logs its steps says why it failed at the end.
func (c *Cutter) Apply(r Rule) {
	matches := c.matches(r)
	if r.Judge != nil && len(matches) > c.perRule {
		var judged, others []excerpt
		for _, m := range matches {
			if r.Judge(strings.Join(c.Lines[m.first:m.end], "\n")) != "" {
				judged = append(judged, m)
			} else {
				others = append(others, m)
			}
		}
		slices.Reverse(others)
		matches = slices.Concat(judged, others)
	}
	found := 0
	for _, m := range matches {
		if found < c.perRule && c.Add(m.first, m.end, r) {
			found++
		}
	}
}

// excerpt are lines from first to before end.
type excerpt struct{ first, end int }

// matches are the excerpts of a rule, in the log's order, without lines that were cut.
func (c *Cutter) matches(r Rule) []excerpt {
	var list []excerpt
	for i := 0; i < len(c.Lines); i++ {
		if c.taken[i] || !r.Match.MatchString(c.Lines[i]) {
			continue
		}
		m := excerpt{i, i + 1}
		if r.Block != nil {
			m.end = r.Block(c.Lines[:min(i+c.length, len(c.Lines))], i)
		}
		list, i = append(list, m), m.end-1
	}
	return list
}

// Add cuts the lines from first to before end as the rule says, whether it matches or not, and notes that they are taken.
// It says whether the excerpt is new.
func (c *Cutter) Add(first, end int, r Rule) bool {
	for i := first; i < end; i++ {
		c.taken[i] = true
	}
	content := strings.Join(c.Lines[first:end], "\n")
	if !c.whole {
		content = bound(content)
	}
	key := strings.TrimSpace(content)
	if key == "" || c.seen[key] && !c.whole {
		return false
	}
	c.seen[key] = true
	supports := r.Supports
	if r.Judge != nil {
		if label := r.Judge(content); label != "" {
			supports = label
		}
	}
	c.items = append(c.items, abi.Evidence{
		SourceRef: c.name + ":L" + strconv.Itoa(first+1), Content: content,
		RelevanceConfidence: r.Confidence, Supports: supports, Element: r.Element,
	})
	return true
}

// bound shortens an excerpt at a line's or a character's end.
func bound(text string) string {
	if len(text) <= MaxExcerptBytes {
		return text
	}
	text = text[:MaxExcerptBytes]
	if i := strings.LastIndexByte(text, '\n'); i > 0 {
		return text[:i]
	}
	for len(text) > 0 {
		if r, size := utf8.DecodeLastRuneInString(text); r != utf8.RuneError || size != 1 {
			return text
		}
		text = text[:len(text)-1]
	}
	return text
}

// pattern is a regular expression that is asked only about lines with one of some words: the expressions here take a
// microsecond for ten bytes, and most lines have none of the words.
type pattern struct {
	*regexp.Regexp

	words []string
}

// words makes a pattern. Every line that the expression matches has to have one of the words, as it is written.
func words(expression string, words ...string) pattern {
	return pattern{regexp.MustCompile(expression), words}
}

func (p pattern) has(line string) bool {
	return slices.ContainsFunc(p.words, func(word string) bool { return strings.Contains(line, word) })
}

// MatchString says whether the expression matches.
func (p pattern) MatchString(line string) bool { return p.has(line) && p.Regexp.MatchString(line) }

// FindStringSubmatch gives the groups of the first match, or nil.
func (p pattern) FindStringSubmatch(line string) []string {
	if !p.has(line) {
		return nil
	}
	return p.Regexp.FindStringSubmatch(line)
}

// What operating systems, compilers, runtimes and test frameworks print, by what it tells. All readers share this one table.
var (
	networkText = words(`[Cc]onnection (refused|reset)|\b([Nn]etwork|[Hh]ost) is unreachable|[Nn]o route to host|[Nn]o such host|`+
		`UnknownHostException|name resolution|[Nn]ame or service not known|nodename nor servname|getaddrinfo failed|[Cc]annot assign requested address|`+
		`[Cc]onnection timed out|actively refused|`+
		`[Aa]ddress already in use|i/o timeout|TLS handshake timeout|failed to listen on a port|server misbehaving|\b(ECONNREFUSED|ECONNRESET|ENOTFOUND|EAI_AGAIN|EADDRINUSE|EHOSTUNREACH|ENETUNREACH)\b`,
		"onnection re", "onnection timed", "actively re", "nodename nor", "getaddrinfo", "unreachable", "o route to", "o such host", "UnknownHost", "name resol", "service not known",
		"ssign requested", "ddress already", "i/o timeout", "handshake timeout", "listen on a port", "misbehaving", "ECONN", "ENOTFOUND", "EAI_AGAIN", "EADDRINUSE", "EHOSTUNREACH", "ENETUNREACH")
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
	localeText      = words(`unknown time zone|\$HOME is not defined|user: (unknown|lookup)`, "time zone", "$HOME", "user: ")
	missingFileText = words(`[Nn]o such file or directory|\bENOENT\b|NoSuchFileException`, "o such file", "ENOENT", "NoSuchFile")

	// raceText leaves out the reports of Go's race detector, which have a reader of their own, see [Cutter.Races].
	raceText = words(`^WARNING: ThreadSanitizer: data race|race detected during execution of test`, "ThreadSanitizer", "race detected")
	// concurrentText is the Go runtime's own check of maps. It crashes the test, but the fault is a race.
	concurrentText = words(`^fatal error: concurrent map`, "concurrent map")
	// timeoutText has to leave out code and settings, such as "timeout=2".
	timeoutText = words(`(?i:\btimed?[ -]out\b|\bdeadline exceeded)|\b[Tt]ime-?out of \d|[Ee]xceeded (execution )?timeout|`+
		`\b[Tt]imeout( (waiting|exceeded|expired|after|while|reached)\b|: [a-z]|["']?$)|^\*\*\* Test killed with quit: ran too long|`+
		`\bTimeout(Error|Exception|Expired)\b|\bETIMEDOUT\b`,
		"imeout", "imed out", "ime out", "ime-out", "imed-out", "IMED OUT", "IME OUT", "eadline", "DEADLINE", "ran too long", "ETIMEDOUT")
	// deadlockText is the Go runtime's. A deadlock is often the product's, so it says less for a flaky test than a timeout.
	deadlockText = words(`^fatal error: all goroutines are asleep`, "are asleep")
	flakyText    = words(`^flaky(Failure|Error):`, "flaky")

	// setupText tells where a test failed, and not why.
	setupText = words(`[Ff]ailed on (setup|teardown) with`, "ailed on ")
	// loadText tells of a test that never ran, since it can't be loaded.
	loadText = words(`^ImportError while importing test module|^E\s+fixture '.*' not found|Test suite failed to run|`+
		`InvalidTestClassError|ParameterResolutionException|^\S*_test\.go:\d+:(\d+:)? `,
		"importing test", "fixture", "Test suite failed", "InvalidTestClass", "ParameterResolution", "_test.go:")
	compileText = words(`^\S+\.go:\d+:\d+: `, ".go:")
	buildText   = words(`\[(build|setup) failed\]|BUILD FAILED|COMPILATION ERROR`, " failed]", "BUILD FAILED", "COMPILATION ERROR")

	// assertionText is a test's own word that something is not as it should be. "got:" begins what a Go example printed.
	assertionText = words(`^got:$|AssertionError( \[\w+\])?:|^(E\s+)?([\w.]+\.)?AssertionError$|AssertionFailedError|ComparisonFailure|`+
		`MultipleFailuresError|\bexpect\(.*\)\.|^E\s+assert\b|^assert\b|^ +\S+\.go:\d+: |`+
		`[Ee]xpected:? ?<.*> but was|\b[Aa]ssertion failed\b|\bAssert\.\w+(\(.*\) Failure\b| failed\b)|^\s+(Expected|But was): |^expected: |`+
		"^\\s*`.+' failed( with status \\d+)?$|"+`^\s*Failed test\b|^--- expected$`,
		"got:", "Assertion", "Assert.", "But was", "ailed", "--- e", "assert", "ComparisonFailure", "MultipleFailures", "expect(", "xpected", ".go:")
	comparisonText = regexp.MustCompile(`(?im)\b(got|want|expect(ed|ing)?|received|actual|but was|should|mismatch|not equal)\b|^E?\s+[-+?]\s|!=|==`)

	// goCrashText is a crash of a Go program, in the test or in a server that it runs.
	goCrashText = words(`^\s*(panic: |fatal error: |unexpected fault address)|\bpanic serving `,
		"panic: ", "fatal error: ", "unexpected fault", "panic serving")
	// crashText is an exception or a crash; that of an assertion counts as assertion.
	crashText = words(`^\s*(panic: |fatal error: |unexpected fault address)|\bpanic serving |`+
		`^(E\s+|Caused by: |Uncaught |\w+: )?([\w$]+[./])*[A-Z][\w$]*(Error|Exception|Fault)\b( ?:|$| \[)|^(E\s+|Uncaught )?Error: |`+
		`^Exception in thread|^(E\s+)?(KeyboardInterrupt|StopIteration|SystemExit)\b`,
		"panic: ", "fatal error: ", "unexpected fault", "panic serving", "Error", "Exception", "Fault", "KeyboardInterrupt", "StopIteration", "SystemExit")
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
		{Match: localeText, Supports: SystemIssue, Confidence: 0.75, Element: abi.Earth},
		{Match: missingFileText, Confidence: 0.5, Element: abi.Earth},
	}, environmentRules()...)
}

// symptomRules cut what the test did. A Go crash stands before an assertion, and an assertion before an exception, since most
// assertions are exceptions. A failed setup speaks for the test, unless something else than the test broke there. race is
// the label that the reports of races speak for, and how sure.
func symptomRules(setup, race string, sure float64) []Rule {
	return []Rule{
		{Match: flakyText, Supports: NoDefect, Confidence: 0.85, Element: abi.Air, Block: twoLines},
		{Match: raceText, Supports: race, Confidence: sure, Element: abi.Water},
		{Match: concurrentText, Supports: NoDefect, Confidence: 0.85, Element: abi.Water},
		{Match: timeoutText, Supports: NoDefect, Confidence: 0.6, Element: abi.Water},
		{Match: deadlockText, Supports: NoDefect, Confidence: 0.5, Element: abi.Water},
		{Match: goCrashText, Confidence: 0.6, Element: abi.Water, Block: toGoroutines},
		{Match: setupText, Supports: setup, Confidence: 0.75, Element: abi.Earth},
		{Match: loadText, Supports: AutomationBug, Confidence: 0.75, Element: abi.Earth},
		{Match: compileText, Supports: ProductBug, Confidence: 0.75, Element: abi.Earth},
		{Match: assertionText, Confidence: 0.55, Element: abi.Fire, Block: message, Judge: compares},
		{Match: crashText, Confidence: 0.6, Element: abi.Water},
		{Match: summaryText, Confidence: 0.3, Element: abi.Air},
		{Match: buildText, Confidence: 0.5, Element: abi.Earth},
	}
}

// compares speaks for the product where a message sets one value against another.
func compares(content string) string {
	if comparisonText.MatchString(content) {
		return ProductBug
	}
	return ""
}

// toGoroutines continues with the goroutines of a crash.
func toGoroutines(lines []string, first int) int {
	end := first + 1
	for end < len(lines) && strings.TrimSpace(lines[end]) != "" && !strings.HasPrefix(lines[end], "goroutine ") {
		end++
	}
	return end
}

func twoLines(lines []string, first int) int { return min(first+2, len(lines)) }

// mostMessage is how many lines of a message, at most, are looked at for the frames that end it.
const mostMessage = 200

// message continues with the end of what an assertion says: pytest marks its lines, Go indents them, and others write on to
// the frames of the stack, or where there are none to an empty line.
func message(lines []string, first int) int {
	end, last := first+1, len(lines)
	switch {
	case lines[first] == "got:":
		return last
	case strings.HasPrefix(lines[first], "E "):
		for end < last && strings.HasPrefix(lines[end], "E ") {
			end++
		}
	case strings.HasPrefix(lines[first], " "):
		for end < last && Indent(lines[end]) > Indent(lines[first]) {
			end++
		}
	default:
		far := min(first+mostMessage, last)
		for end < far && !isFrame(lines[end]) {
			end++
		}
		if end == far {
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

// maxFrames is how many frames of the user's code are cut from a crash.
const maxFrames = 3

// The frames of a stack, with the file as the last group. Java's, JavaScript's, .NET's and Go's stacks begin with the innermost
// frame, Python's end with it.
var (
	javaFrame = words(`^\s*at ([\w$.<>/@-]+)\(([\w$]+\.(?:java|kt|kts|scala|groovy)):\d+\)`,
		".java:", ".kt:", ".kts:", ".scala:", ".groovy:")
	scriptFrame = words(`^\s*at (?:.*\()?([^()\s][^()]*\.[cm]?[jt]sx?):\d+:\d+\)?$`,
		".js:", ".ts:", ".jsx:", ".tsx:", ".mjs:", ".cjs:", ".mts:", ".cts:")
	pythonFrame = words(`^(?:  File "(.+\.py)", line \d+|(\S+\.py):\d+: )`, ".py:", `.py", line`)
	dotnetFrame = words(`^\s*at .+ in (\S.*\.(?:cs|fs|vb)):line \d+$`, ".cs:line", ".fs:line", ".vb:line")
	goFrame     = words(`^\t(\S.*\.go):\d+( \+0x[0-9a-f]+)?$`, ".go:")

	javaLibrary = regexp.MustCompile(`^(java|javax|jdk|sun|com\.sun|junit|kotlin|scala|groovy|` +
		`org\.(junit|testng|opentest4j|assertj|hamcrest|mockito|codehaus\.groovy|apache\.maven|gradle|springframework))\.`)
)

func isTest(file string) bool { return sourcefile.KindOf(file) == abi.SourceTest }

// language is that of a stack.
type language int

const (
	inJava language = iota + 1
	inScript
	inPython
	inGo
	inDotNet
)

// frame is a frame of a stack that lies in the user's code.
type frame struct {
	first, end int // its lines
	test       bool
}

// userFrames are the frames of the user's code, the innermost first. group is the Go package of the failure, if it is one.
func userFrames(lines []string, group string) []frame {
	var frames, python []frame
	for i, line := range lines {
		file, kind := frameFile(lines, i, group)
		if file == "" || sourcefile.Installed(file) {
			continue
		}
		f := frame{first: i, end: i + 1, test: isTest(file)}
		switch kind {
		case inGo:
			f.first = i - 1
			frames = append(frames, f)
		case inPython:
			if strings.HasPrefix(line, "  File ") && i+1 < len(lines) && strings.HasPrefix(lines[i+1], "    ") {
				f.end++
			}
			python = append([]frame{f}, python...)
		default:
			frames = append(frames, f)
		}
	}
	return append(frames, python...)
}

// frameFile is the file of the frame in a line, empty when there is none in the user's code.
func frameFile(lines []string, i int, group string) (file string, kind language) {
	line := lines[i]
	if m := javaFrame.FindStringSubmatch(line); m != nil {
		function := m[1][strings.LastIndexByte(m[1], '/')+1:] // behind the name of a module
		if javaLibrary.MatchString(function) {
			return "", inJava
		}
		return m[2], inJava
	}
	if m := scriptFrame.FindStringSubmatch(line); m != nil {
		return m[1], inScript
	}
	if m := dotnetFrame.FindStringSubmatch(line); m != nil {
		return strings.ReplaceAll(m[1], `\`, "/"), inDotNet
	}
	if m := pythonFrame.FindStringSubmatch(line); m != nil {
		return m[1] + m[2], inPython
	}
	if m := goFrame.FindStringSubmatch(line); m != nil && i > 0 && OwnGoFrame(lines[i-1], m[1], group) {
		return m[1], inGo
	}
	return "", 0
}

func isFrame(line string) bool {
	return javaFrame.MatchString(line) || scriptFrame.MatchString(line) || pythonFrame.MatchString(line) ||
		goFrame.MatchString(line) || dotnetFrame.MatchString(line) || strings.HasPrefix(line, "\tat ")
}

// cutFrames cuts the innermost frames of a crash that lie in the user's code. One in a test file speaks for the test, any
// other for the product; the innermost most. What an assertion raised has its frames in the test whoever is wrong, so
// nothing is cut from it.
func (c *Cutter) cutFrames(group string) {
	if first := slices.IndexFunc(c.Lines, goCrashText.MatchString); first >= 0 {
		c.cutGoFrames(first, group)
		return
	}
	if !crashed(c.Lines) {
		return
	}
	confidence := 0.65
	if anyLine(c.Lines, timeoutText) || environment(c.Lines) {
		confidence = 0.35 // where a test waits, or asks the machine for something, says less than where it crashes
	}
	found := 0
	for _, f := range userFrames(c.Lines, group) {
		supports := ProductBug
		if f.test {
			supports = AutomationBug
		}
		if c.Add(f.first, f.end, Rule{Supports: supports, Confidence: confidence, Element: abi.Water}) {
			found++
			confidence = min(confidence, 0.4)
		}
		if found == maxFrames {
			return
		}
	}
}

// cutGoFrames cuts the first frames of the crashed goroutine that lie in the code under test.
func (c *Cutter) cutGoFrames(crash int, group string) {
	confidence := 0.65
	if timeoutText.MatchString(c.Lines[crash]) {
		confidence = 0.35 // where a test waits says less than where it crashes
	}
	found := 0
	for i := crash; i+1 < len(c.Lines) && found < max(maxFrames, c.perRule); i++ {
		if found > 0 && c.Lines[i] == "" {
			return // the end of this goroutine
		}
		file := goFrame.FindStringSubmatch(c.Lines[i+1])
		if file == nil || !OwnGoFrame(c.Lines[i], file[1], group) {
			continue
		}
		supports := ProductBug
		if isTest(file[1]) {
			supports = AutomationBug
		}
		if c.Add(i, i+2, Rule{Supports: supports, Confidence: confidence, Element: abi.Water}) {
			found++
			confidence = min(confidence, 0.4)
		}
		i++
	}
}

// crashed says whether a log tells of an exception or a crash that is no assertion.
func crashed(lines []string) bool {
	return anyLine(lines, crashText) && !anyLine(lines, assertionText)
}

func anyLine(lines []string, p Matcher) bool {
	return slices.ContainsFunc(lines, p.MatchString)
}

// InGoModule says whether a frame's function, as "example.com/a/b.(*T).Method(0x1)", belongs to the module of the package.
// A module's path is not in the output: packages count as one module when they share the first three elements of their
// paths, or all of the shorter one.
func InGoModule(function, pack string) bool {
	f, p := strings.Split(functionPackage(function), "/"), strings.Split(pack, "/")
	n := min(3, len(f), len(p))
	if n < min(3, len(p)) {
		return false
	}
	for i := range n {
		if f[i] != p[i] {
			return false
		}
	}
	return true
}

// functionPackage cuts a function's package path; the package of external tests counts as the one it tests.
func functionPackage(function string) string {
	function = strings.TrimPrefix(strings.TrimSpace(function), "created by ")
	slash := strings.LastIndexByte(beforeArguments(function), '/') + 1
	dot := strings.IndexByte(function[slash:], '.')
	if dot < 0 {
		return function
	}
	path := strings.ReplaceAll(function[:slash+dot], "%2e", ".")
	return strings.TrimSuffix(path, "_test")
}

// beforeArguments cuts the arguments and the type parameters off, which may hold slashes.
func beforeArguments(function string) string {
	if i := strings.IndexAny(function, "(["); i >= 0 {
		return function[:i]
	}
	return function
}

// OwnGoFrame says whether a frame lies in the code under test: in the module of the package, or in a file that is no
// dependency's, since a module with a path of two elements has packages that look like other modules'.
func OwnGoFrame(function, file, pack string) bool {
	if InGoModule(function, pack) {
		return true
	}
	domain, _, _ := strings.Cut(functionPackage(function), "/")
	local := !sourcefile.Installed(file) && !strings.Contains(file, "@v")
	return strings.Contains(domain, ".") && strings.Contains(pack, "/") && local
}

package report

import (
	"regexp"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/sourcefile"
)

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
	for i := crash; i+1 < len(c.Lines) && found < maxFrames; i++ {
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

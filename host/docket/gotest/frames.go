package gotest

import (
	"regexp"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
)

// maxFrames is how many frames of the user's module are cut from a crash.
const maxFrames = 3

// fileOfFrame is the second line of a frame: a tab, the file and its line.
var fileOfFrame = regexp.MustCompile(`^\t(\S.*\.go):\d+( \+0x[0-9a-f]+)?$`)

// frames cuts the first frames of the crashed goroutine that lie in the user's module. A frame in a test file speaks for
// the test, any other for the product; the first frame most.
func (c *cutter) frames(pack string) {
	first := firstCrash(c.lines)
	if first < 0 {
		return
	}
	confidence := 0.65
	if timeoutText.MatchString(c.lines[first]) {
		confidence = 0.35 // where a test waits says less than where it crashes
	}
	found := 0
	for i := first; i+1 < len(c.lines) && found < maxFrames; i++ {
		if found > 0 && c.lines[i] == "" {
			return // the end of this goroutine
		}
		file := fileOfFrame.FindStringSubmatch(c.lines[i+1])
		if file == nil || !inModule(c.lines[i], pack) {
			continue
		}
		supports := ProductBug
		if strings.HasSuffix(file[1], "_test.go") {
			supports = AutomationBug
		}
		if c.add(i, i+2, c.lines[i]+"\n"+c.lines[i+1], supports, confidence, abi.Water) {
			found++
			confidence = min(confidence, 0.4)
		}
		i++
	}
}

func firstCrash(lines []string) int {
	for i, line := range lines {
		if crashText.MatchString(line) {
			return i
		}
	}
	return -1
}

// inModule says whether a frame's function, as "example.com/a/b.(*T).Method(0x1)", belongs to the module of the package.
// A module's path is not in the output: packages count as one module when they share the first three elements of their
// paths, or all of the shorter one.
func inModule(function, pack string) bool {
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

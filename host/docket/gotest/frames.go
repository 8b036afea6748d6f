package gotest

import (
	"regexp"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket/internal/testlog"
)

// maxFrames is how many frames of the user's module are cut from a crash.
const maxFrames = 3

// fileOfFrame is the second line of a frame: a tab, the file and its line.
var fileOfFrame = regexp.MustCompile(`^\t(\S.*\.go):\d+( \+0x[0-9a-f]+)?$`)

// frames cuts the first frames of the crashed goroutine that lie in the user's module. A frame in a test file speaks for
// the test, any other for the product; the first frame most.
func frames(c *testlog.Cutter, pack string) {
	first := firstCrash(c.Lines)
	if first < 0 {
		return
	}
	confidence := 0.65
	if timeoutText.MatchString(c.Lines[first]) {
		confidence = 0.35 // where a test waits says less than where it crashes
	}
	found := 0
	for i := first; i+1 < len(c.Lines) && found < maxFrames; i++ {
		if found > 0 && c.Lines[i] == "" {
			return // the end of this goroutine
		}
		file := fileOfFrame.FindStringSubmatch(c.Lines[i+1])
		if file == nil || !testlog.OwnGoFrame(c.Lines[i], file[1], pack) {
			continue
		}
		supports := ProductBug
		if strings.HasSuffix(file[1], "_test.go") {
			supports = AutomationBug
		}
		if c.Add(i, i+2, testlog.Rule{Supports: supports, Confidence: confidence, Element: abi.Water}) {
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

package testlog

import (
	"regexp"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
)

// Cut cuts the evidence out of the documents of a failure, word for word. group is the package, if it is one of Go.
func Cut(group string, documents []abi.Document) []abi.Evidence {
	c := NewCutter()
	for _, d := range documents {
		c.Open(d.Name, d.Text)
		for _, r := range systemRules() {
			c.Apply(r)
		}
		c.Release() // an assertion may quote the environment, and both are evidence
		c.cutFrames(group)
		race, sure := c.Races(group)
		for _, r := range symptomRules(ofSetup(c.Lines, group), race, sure) {
			c.Apply(r)
		}
	}
	if len(documents) > 0 && !slices.ContainsFunc(c.Items(), func(e abi.Evidence) bool { return e.Element != abi.Air || e.Supports != "" }) {
		c.Open(documents[0].Name, documents[0].Text)
		c.lastWords()
	}
	return c.Items()
}

// maxLastWords is how many lines are cut from the end of a log in which no rule matches a line.
const maxLastWords = 5

// goTestFrame is a line that Go's testing package, the go command or gotestsum puts around the output of tests.
var goTestFrame = regexp.MustCompile(`^\s*$|^\s*(===|---) |^(PASS|FAIL|ok)\b|^Failed$|^exit status |^coverage: `)

// lastWords cuts what a test or a package printed last, as before os.Exit.
func (c *Cutter) lastWords() {
	end := len(c.Lines)
	for end > 0 && goTestFrame.MatchString(c.Lines[end-1]) {
		end--
	}
	first := end
	for first > max(0, end-maxLastWords) && !goTestFrame.MatchString(c.Lines[first-1]) {
		first--
	}
	if first < end {
		c.Add(first, end, Rule{Confidence: 0.4, Element: abi.Water})
	}
}

// ofSetup is the label that a failed setup speaks for: that of the test, or none where the environment speaks or the product
// crashed.
func ofSetup(lines []string, group string) string {
	if environment(lines) || crashIn(false)(group, lines) {
		return ""
	}
	return AutomationBug
}

// Classify is a first simple classification of a failure, by the first of a few rules that applies to what the test
// reported, or else to what it printed. Its confidences are stated by hand, and not fitted to any docket. It looks at the
// symptom alone, and so it takes a test that expects the wrong thing for a product that does the wrong thing.
//
//	it passed when it ran again                                nd001  0.90
//	the environment speaks (permission, disk, network, ...)   si001  0.78
//	a data race                                                nd001  0.80
//	a timeout or a deadlock                                    nd001  0.62
//	the test can't be loaded or set up                         ab001  0.74
//	the product doesn't compile                                pb001  0.80
//	something doesn't build                                    pb001  0.55
//	an assertion compares                                      pb001  0.60
//	any other assertion                                        pb001  0.52
//	a crash, innermost frame of the user's in a test file      ab001  0.58
//	a crash, innermost frame of the user's in the product      pb001  0.72
//	any other crash                                            pb001  0.52
//	nothing of these                                           si001  0.40
func Classify(group string, reported, printed []abi.Document) abi.LightAnswer {
	var texts [2][]string
	for i, documents := range [...][]abi.Document{reported, printed} {
		for _, d := range documents {
			texts[i] = append(texts[i], strings.Split(d.Text, "\n")...)
		}
	}
	return Answer(lightRules(), group, texts[:]...)
}

// Answer is that of the first rule that applies to the lines of the first text to which any does.
func Answer(rules []LightRule, group string, texts ...[]string) abi.LightAnswer {
	for _, lines := range texts {
		for _, r := range rules {
			if r.Applies(group, lines) {
				return abi.LightAnswer{Classification: r.Label, Confidence: r.Confidence, Reasoning: r.Reason}
			}
		}
	}
	return abi.LightAnswer{
		Classification: SystemIssue, Confidence: 0.40,
		Reasoning: "The log names no assertion, no crash and no error that is known.",
	}
}

// Flaky is what [Classify] says of a test that passed when it ran again.
func Flaky() abi.LightAnswer {
	return abi.LightAnswer{Classification: NoDefect, Confidence: 0.90, Reasoning: "It failed, and passed when it ran again."}
}

// What [Classify] takes for a race and for a timeout.
var (
	anyRaceText = words(`^WARNING: (DATA RACE|ThreadSanitizer: data race)|^fatal error: concurrent map|race detected during execution of test`,
		"DATA RACE", "ThreadSanitizer", "concurrent map", "race detected")
	anyTimeoutText = words(`\b[Tt]imed out\b|\b[Tt]ime-?out of \d|[Ee]xceeded (execution )?timeout|[Dd]eadline exceeded|`+
		`\bTimeout(Error|Exception|Expired)\b|\bETIMEDOUT\b|all goroutines are asleep`,
		"imed out", "imeout", "ime-out", "eadline exceeded", "ETIMEDOUT", "asleep")
)

// LightRule gives a label to a log of a test of a group.
type LightRule struct {
	Applies    func(group string, lines []string) bool
	Label      string
	Confidence float64
	Reason     string
}

func lightRules() []LightRule {
	return []LightRule{
		{aLine(flakyText.MatchString), Flaky().Classification, Flaky().Confidence, Flaky().Reasoning},
		{func(_ string, lines []string) bool { return environment(lines) }, SystemIssue, 0.78, "An error of the environment stands in the log."},
		{aLine(anyRaceText.MatchString), NoDefect, 0.80, "The race detector or the runtime found concurrent access."},
		{aLine(anyTimeoutText.MatchString), NoDefect, 0.62, "Something took too long or never came."},
		{aLine(loadText.MatchString), AutomationBug, 0.74, "The test could not be loaded or set up."},
		{aLine(setupText.MatchString), AutomationBug, 0.74, "The test could not be loaded or set up."},
		{aLine(compileText.MatchString), ProductBug, 0.80, "The product does not compile."},
		{aLine(buildText.MatchString), ProductBug, 0.55, "It does not build."},
		{assertion(true), ProductBug, 0.60, "The result is not the one that the test compares it with."},
		{assertion(false), ProductBug, 0.52, "The test reports a failure."},
		{crashIn(true), AutomationBug, 0.58, "It crashed, and the innermost frame of the user's code is in a test file."},
		{crashIn(false), ProductBug, 0.72, "It crashed, and the innermost frame of the user's code is in the product."},
		{aLine(crashText.MatchString), ProductBug, 0.52, "It crashed, and no frame of the user's code is in the log."},
	}
}

// environment says whether an error of the environment stands in a log.
func environment(lines []string) bool {
	for _, r := range systemRules() {
		if r.Supports == SystemIssue && anyLine(lines, r.Match) {
			return true
		}
	}
	return false
}

func aLine(matches func(string) bool) func(string, []string) bool {
	return func(_ string, lines []string) bool { return slices.ContainsFunc(lines, matches) }
}

// assertion applies when an assertion failed, and with compares when its message sets one value against another.
func assertion(compare bool) func(string, []string) bool {
	return func(_ string, lines []string) bool {
		for i, line := range lines {
			if !assertionText.MatchString(line) {
				continue
			}
			end := min(message(lines, i), i+MaxExcerptLines)
			if !compare || compares(strings.Join(lines[i:end], "\n")) != "" {
				return true
			}
		}
		return false
	}
}

// crashIn applies when the log tells of a crash whose innermost frame of the user's code is in a test file, or not.
func crashIn(test bool) func(string, []string) bool {
	return func(group string, lines []string) bool {
		if !crashed(lines) {
			return false
		}
		frames := userFrames(lines, group)
		return len(frames) > 0 && frames[0].test == test
	}
}

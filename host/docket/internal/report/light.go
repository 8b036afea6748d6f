// Package report has what the readers of test reports share: XML in bounded memory, cases of tests that failed with their ids, subjects and
// documents, one table of rules that cut evidence out of a log word for word, and a first simple classification of a log.
//
// The rules know what operating systems, runtimes and test frameworks print, for Go, Java and its kin, .NET, Python and JavaScript. All readers
// use [Cut], so that a log gives the same evidence whatever format it comes in.
package report

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/sourcefile"
)

// The labels that a case may get, in ReportPortal's terms.
const (
	ProductBug    = "pb001"
	AutomationBug = "ab001"
	SystemIssue   = "si001"
	NoDefect      = "nd001"
)

// Labels are all labels, in the order in which every case has them.
func Labels() []string { return []string{ProductBug, AutomationBug, SystemIssue, NoDefect} }

// IDs gives every case an id of its own. The zero value is ready. Not safe for concurrent use.
type IDs struct {
	given map[string]int // how often
}

// Unique gives id, or where it was given before id#2 and so on, as several failures of one test have it. An empty id is "unknown".
func (i *IDs) Unique(id string) string {
	id = cmp.Or(id, "unknown")
	if i.given == nil {
		i.given = map[string]int{}
	}
	i.given[id]++
	if n := i.given[id]; n > 1 {
		return i.Unique(id + "#" + strconv.Itoa(n))
	}
	return id
}

// Cut cuts the evidence out of the documents of a failure, word for word. group is the package, if it is one of Go.
func Cut(group string, documents []abi.Document) []abi.Evidence {
	c := NewCutter()
	for _, d := range documents {
		c.Open(d.Name, d.Text)
		for _, r := range systemRules() {
			c.Apply(r)
		}
		c.Release() // an assertion may quote the environment, and both are evidence
		c.cutSymptoms(group)
	}
	if len(documents) > 0 && !slices.ContainsFunc(c.Items(), func(e abi.Evidence) bool { return e.Element != abi.Air || e.Supports != "" }) {
		c.Open(documents[0].Name, documents[0].Text)
		c.lastWords()
	}
	return c.Items()
}

func (c *Cutter) cutSymptoms(group string) {
	c.cutFrames(group)
	race, sure := c.Races(group)
	for _, r := range symptomRules(ofSetup(c.Lines, group), race, sure) {
		c.Apply(r)
	}
}

var (
	// goText is a line of the log of a test of Go; pytestText one in which pytest says what failed, and pytestPlace where.
	goText      = words(`^\s*(=== RUN |--- FAIL: |panic: |fatal error: )|^ +\S+\.go:\d+: |^\S+\.go:\d+:\d+: `, "=== RUN", "--- FAIL", "panic: ", "fatal error: ", ".go:")
	pytestText  = regexp.MustCompile(`^E\s`)
	pytestPlace = regexp.MustCompile(`^\S+\.py:\d+: `)
	// emptyText are empty lines of a message of Go: with a blank that is none of its indentation they are part of it.
	emptyText = regexp.MustCompile(`(?m)^[ \t]+$`)
	stackLine = regexp.MustCompile(`^\s*(?:at|❯) |^\s*\.\.\. \d+ more$`)
)

// Symptoms are the excerpts of a failure that say what failed, and where, in full, and as often as they come. Left out is what a test of Go printed
// beside, code that pytest shows, and frames of libraries.
func Symptoms(group string, documents []abi.Document) (list []string) {
	for _, d := range documents {
		lines := strings.Split(d.Text, "\n")
		tells := func(i int) bool {
			return strings.TrimSpace(lines[i]) != "" && (!stackLine.MatchString(lines[i]) || isOwn(lines, i))
		}
		switch {
		case anyLine(lines, goText):
			c := NewCutter()
			c.whole, c.perRule, c.length = true, math.MaxInt32, math.MaxInt32
			c.Open(d.Name, emptyText.ReplaceAllString(d.Text, "$0\u00a0"))
			c.cutSymptoms(group)
			for _, e := range c.Items() {
				if e.Element != abi.Air { // no summary
					list = append(list, e.Content)
				}
			}
			continue
		case anyLine(lines, pytestText):
			tells = func(i int) bool {
				return pytestText.MatchString(lines[i]) || pytestPlace.MatchString(lines[i]) && isOwn(lines, i)
			}
		}
		for i := 0; i < len(lines); i++ {
			first := i
			for i < len(lines) && tells(i) {
				i++
			}
			if i > first {
				list = append(list, strings.Join(lines[first:i], "\n"))
			}
		}
	}
	return list
}

// isOwn says whether a frame of a stack lies in no library.
func isOwn(lines []string, i int) bool {
	p, ok := sourcefile.Find(lines[i])
	file, kind := frameFile(lines, i, "")
	return ok && !sourcefile.Installed(p.Path) && (kind == 0 || file != "")
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

// ofSetup is the label that a failed setup speaks for: that of the test, or none where the environment speaks or the product crashed.
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
	return slices.ContainsFunc(systemRules(), func(r Rule) bool { return r.Supports == SystemIssue && anyLine(lines, r.Match) })
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
			end := message(lines[:min(i+MaxExcerptLines, len(lines))], i)
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

// environmentRules cut what programs say of their environment in words of their own: that a variable is not set, and that a
// service is not there. They stand beside the rules for the words of operating systems.
func environmentRules() []Rule {
	return []Rule{
		{Match: told{settingWords, settingText}, Supports: SystemIssue, Confidence: 0.75, Element: abi.Earth},
		{Match: told{serviceWords, serviceText}, Supports: SystemIssue, Confidence: 0.65, Element: abi.Earth},
	}
}

var (
	// settingWords are in lower case.
	settingWords = words(
		`\benv(ironment)?[ _-]?(variable|var)s?\b.{0,80}(\bnot|n't|\bnever) (been )?(set|found|defined|present|provided|specified|configured)\b|`+
			`\benv(ironment)?[ _-]?(variable|var)s?\b.{0,80}\b(missing|unset|undefined|required|needed|(to|must|should) be (set|provided|defined|present))\b|`+
			`\b(missing|undefined|unset|required|requires?|needs?) ([\w'"]+ ){0,2}env(ironment)?[ _-]?(variable|var)s?\b`,
		"env")
	// settingText is what is written like a variable of the environment, and where Python looks for one.
	settingText = words(
		`\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\b['"\x60)\]]*( is| are| was)?( not set| unset|n't set|( must| should| has to| needs to) be set)\b|`+
			`^(.*[/\\]os\.py|<frozen os>):\d+: KeyError|File "(.*[/\\]os\.py|<frozen os>)", line \d+, in __getitem__`,
		"set", "os.py", "<frozen os>")

	serviceWords = words(
		`\b(cannot|can't|can not|could not|couldn't|unable to|failed to) (connect|reach|(open|establish) an? connection)\b|`+
			`\bis the (server|docker daemon) running\b|valid docker environment|communications link failure|`+
			`\b(database|server|service|daemon|broker|cluster|container|host|endpoint|backend)( \S+){0,4} (is|was|are) `+
			`(not (reachable|running|available|up)|unreachable|unavailable|down|offline)\b`,
		"connect", "reach", "running", "docker env", "communications", "avail", "down", "offline", "not up")
	serviceText = words(`\b(502 Bad Gateway|503 Service Unavailable|504 Gateway Time-?out)\b`, "502 ", "503 ", "504 ")

	comparedText = regexp.MustCompile(`(?i)\b(got|want|wanted|but was)\b|!=|==`)
)

// told matches lines in lower case by one pattern, or as they stand by another. What a message sets against a wanted value
// is what the test is about, and no word of its environment.
type told struct{ lower, asIs pattern }

// MatchString says whether a line tells it.
func (t told) MatchString(line string) bool {
	return (t.asIs.MatchString(line) || t.lower.MatchString(strings.ToLower(line))) && !comparedText.MatchString(line)
}

// raceReport begins a report of Go's race detector, and raceEnd ends it.
const (
	raceReport = "WARNING: DATA RACE"
	raceEnd    = "====="
)

// How sure a race is one of the product where both accesses are in it: surer if it started one of the goroutines, since
// otherwise the test may share what nobody promised to be shared. That a test races itself makes it flaky.
const (
	ownRace    = 0.8
	calledRace = 0.6
	flakyRace  = 0.85
)

// Races cuts the reports of Go's race detector. If both accesses of a report lie in the product, the product has the race, even where the
// test starts the goroutines; any other report makes the test flaky. group is the package of the test. It gives the label that all reports
// support, or nd001, and the lowest confidence among them.
func (c *Cutter) Races(group string) (supports string, least float64) {
	supports, least = NoDefect, flakyRace
	found, mixed := 0, false
	for i := 0; i < len(c.Lines); i++ {
		if strings.TrimSpace(c.Lines[i]) != raceReport {
			continue
		}
		end := i + 1
		for end < len(c.Lines) && !strings.HasPrefix(strings.TrimSpace(c.Lines[end]), raceEnd) {
			end++
		}
		label, confidence := whoRaces(c.Lines[i+1:end], group)
		switch {
		case label == NoDefect:
			supports, least, mixed = NoDefect, flakyRace, true
		case !mixed:
			supports, least = label, min(least, confidence)
		}
		if found < c.perRule && c.Add(i, min(end, i+c.length), Rule{Supports: label, Confidence: confidence, Element: abi.Water}) {
			found++
		}
		i = end - 1
	}
	return supports, least
}

// whoRaces reads a report: its parts are two accesses, and where the goroutines were started.
func whoRaces(lines []string, group string) (label string, confidence float64) {
	product, started := 0, false
	for i := range lines {
		heading := strings.TrimSpace(lines[i])
		access := strings.Contains(heading, " at 0x") && strings.HasSuffix(heading, ":")
		if !access && !strings.HasSuffix(heading, "created at:") {
			continue
		}
		file := firstOwnFile(lines[i+1:], group)
		own := file != "" && !isTest(file)
		switch {
		case own && access:
			product++
		case own:
			started = true
		}
	}
	switch {
	case product < 2:
		return NoDefect, flakyRace
	case started:
		return ProductBug, ownRace
	default:
		return ProductBug, calledRace
	}
}

// firstOwnFile is the file of the first frame in the code under test, of those up to an empty line.
func firstOwnFile(lines []string, group string) string {
	for i := 0; i+1 < len(lines) && strings.TrimSpace(lines[i]) != ""; i++ {
		file, _, found := strings.Cut(strings.TrimSpace(lines[i+1]), ".go:")
		if found && OwnGoFrame(lines[i], file, group) {
			return file + ".go"
		}
	}
	return ""
}

// runsName is the document that tells of the runs of one test.
const runsName = "runs"

// How sure it is that a test is flaky which passed and failed in one report.
const (
	// bothWays: nobody changed anything between two runs of one report.
	bothWays = 0.9
	// passedFirst: it passed once or more, and from its first failure on never again, as a test does, too, that leaves
	// something behind which the next run stumbles over.
	passedFirst = 0.7
)

// Runs is how the runs of one test in one report ended, in their order. The zero value is of a test that never ran.
type Runs struct {
	passed, failed int
	again, last    bool // it passed after it had failed, and the last time
}

// Add notes the end of one more run.
func (r *Runs) Add(passed bool) {
	r.last = passed
	if passed {
		r.passed++
		r.again = r.again || r.failed > 0
	} else {
		r.failed++
	}
}

// Mixed says whether some runs passed and some failed.
func (r *Runs) Mixed() bool { return r.passed > 0 && r.failed > 0 }

// Retried says whether the test failed until it passed, and did not run again then, as those who run a test again until it passes leave it.
func (r *Runs) Retried() bool { return r.again && r.passed == 1 && r.last }

// Tell adds to a case a document "runs" and an item that quotes it, of runs that ended in both ways; nothing of others. It
// says whether it did. No figure stands there but those that casebooks pass over, so that a flake is known again.
func (r *Runs) Tell(c *abi.Case) bool {
	if !r.Mixed() {
		return false
	}
	said := "In this report the test ran " + strconv.Itoa(r.passed+r.failed) + " times: it failed in " + strconv.Itoa(r.failed) +
		" and passed in " + strconv.Itoa(r.passed) + "."
	confidence := bothWays
	if r.again {
		said += " It passed after it had failed."
	} else {
		said += " It passed first, and never again after it had failed."
		confidence = passedFirst
	}
	c.Documents = append(c.Documents, abi.Document{Name: runsName, Text: said + "\n"})
	c.Evidence = append(c.Evidence, abi.Evidence{
		SourceRef: runsName + ":L1", Content: said, RelevanceConfidence: confidence, Supports: NoDefect, Element: abi.Water,
	})
	return true
}

// pytestFile ends the file in a node id of pytest.
const pytestFile = ".py"

// PytestName gives the class and the name of a test of pytest in one form, that of its own reports: tests.test_cart.TestTotal
// and test_sum[1-2]. Others take over its node ids, as tests/test_cart.py::TestTotal::test_sum[1-2], as the name or cut
// somewhere. What is no node id stays as it is.
func PytestName(class, name string) (string, string) {
	if base, _, _ := strings.Cut(name, "["); strings.Contains(base, pytestFile+"::") {
		path, rest, _ := strings.Cut(base, "::")
		parameters := name[len(base):]
		module := dotted(path)
		if i := strings.LastIndex(rest, "::"); i >= 0 {
			return module + "." + strings.ReplaceAll(rest[:i], "::", "."), rest[i+2:] + parameters
		}
		return module, rest + parameters
	}
	if path, rest, found := strings.Cut(class, "::"); strings.HasSuffix(path, pytestFile) {
		class = dotted(path)
		if found {
			class += "." + strings.ReplaceAll(rest, "::", ".")
		}
	}
	return class, name
}

// dotted is the module of a file.
func dotted(path string) string {
	path = strings.TrimPrefix(strings.ReplaceAll(strings.TrimSuffix(path, pytestFile), `\`, "/"), "./")
	return strings.ReplaceAll(strings.Trim(path, "/"), "/", ".")
}

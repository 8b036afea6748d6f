package testlog

import (
	"regexp"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
)

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

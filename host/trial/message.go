package trial

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
)

// The most that is read of a failure's text, and that is said of it.
const (
	maxReadBytes  = 32 << 10
	maxReadLines  = 400
	maxSaidBytes  = 400
	maxSaidLines  = 8
	maxPairValues = 4 // lines of one value
	nearLines     = 3 // an excerpt from one of these lines leaves out no more than a heading
)

// Message is what the failure says of itself, on one line of at most 400 bytes: the assertion's expected and actual values, the
// exception, the panic, without what test frameworks print around them. Empty where nothing tells it.
func (t *Trial) Message() string {
	return message(t.FailureText())
}

// reportedDocument is the name of a document with what a report says of a failure; output of the test has other names.
var reportedDocument = regexp.MustCompile(`(?i)(failure|error)(-\d+)?$`)

// FailureText is the text that tells most of the failure, from its headline on; empty where there is none. Where the report itself says what
// failed, in words from which no evidence was cut, that is the text: what the test printed says less.
func (t *Trial) FailureText() string {
	best := headline(t.Case.Evidence)
	documents := t.Case.Documents
	name, line := "", 0
	if best != nil {
		name, line = placeIn(best.SourceRef)
	}
	if len(documents) > 0 && reportedDocument.MatchString(documents[0].Name) {
		first := strings.TrimSpace(documents[0].Text)
		if first != "" && (name != documents[0].Name || saysFirst(first) || !goOutput.MatchString(first) && (line <= nearLines || best.RelevanceConfidence < enough)) {
			return documents[0].Text
		}
	}
	if best == nil {
		return ""
	}
	for i := range documents {
		if documents[i].Name != name || line == 0 {
			continue
		}
		if rest, ok := fromLine(documents[i].Text, line-1); ok && strings.HasPrefix(rest, best.Content) {
			return rest
		}
	}
	return best.Content
}

var (
	// errorHead begins a text with the class of an error, or with what a framework puts before one.
	errorHead = regexp.MustCompile(`^(?:(?:flaky|rerun)(?:Failure|Error):\s+)?(?:Uncaught )?(?:[\w$]+[./])*[\w$]*(?:Error|Exception|Failure|Failed)(?: \[\w+\])?:|^\[?Error(?: \[\w+\])?: |^thread '.*panicked at|^Traceback \(`)
	// titleLine is one of a test's name, as Playwright prints it above the error.
	titleLine = regexp.MustCompile(`^.*[─━═]{5,}$`)
	// goOutput begins the output of a test of Go.
	goOutput = regexp.MustCompile(`^(?:Failed\s+)?(?:=== |--- |FAIL\b)`)
)

// saysFirst says whether what a report tells of a failure begins with the error itself, or with code and what pytest marks, so that it is
// read from its beginning.
func saysFirst(text string) bool {
	first, _, _ := strings.Cut(text, "\n")
	return errorHead.MatchString(text) || titleLine.MatchString(first) || strings.Contains(text, "\nE  ") || strings.HasPrefix(text, "E  ")
}

// fromLine is a text from a line on, counted from 0.
func fromLine(text string, line int) (string, bool) {
	for range line {
		i := strings.IndexByte(text, '\n')
		if i < 0 {
			return "", false
		}
		text = text[i+1:]
	}
	return text, true
}

// colour is a sequence that colours a terminal, whose first character a report may have replaced.
var colour = regexp.MustCompile(`[\x1b\x{9b}\x{fffd}]\[[0-9;]*[mK]`)

// linesOf are the first lines of a text, without colours and without the first of errors that led to others, which Python prints first.
func linesOf(text string) []string {
	if len(text) > maxReadBytes {
		text = text[:maxReadBytes]
	}
	for _, mark := range []string{"The above exception was the direct cause of the following exception:\n", "During handling of the above exception, another exception occurred:\n"} {
		if i := strings.LastIndex(text, mark); i >= 0 {
			text = text[i+len(mark):]
		}
	}
	lines := strings.SplitN(colour.ReplaceAllString(text, ""), "\n", maxReadLines+1)
	return lines[:min(len(lines), maxReadLines)]
}

// message is what a text of a failure says, on one line.
func message(text string) string {
	place, lines := unwrap(linesOf(text))
	said := strings.Join(strings.Fields(place+" "+summary(lines)), " ")
	if len(said) > maxSaidBytes {
		said = said[:maxSaidBytes]
	}
	return strings.ToValidUTF8(said, "")
}

// summary is what the lines of a message say, which begin with its first line.
func summary(lines []string) string {
	head, rest := beginning(lines)
	if m := matcher.FindStringSubmatch(head); m != nil {
		return m[1] + expectation(m[2], rest)
	}
	if strings.HasPrefix(head, "panic: ") || strings.HasPrefix(head, "fatal error: ") {
		return recovered.ReplaceAllString(head, "")
	}
	if diagnostic.MatchString(head) {
		return joined(head, deeper(rest, 0))
	}
	if values := pairs(append([]string{head}, rest...)); len(values) > 0 {
		if label.MatchString(head) {
			head = ""
		}
		return phrase(head, values)
	}
	if strings.HasSuffix(head, ":") || !compared.MatchString(head) {
		if values := difference(rest); len(values) > 0 {
			return phrase(strings.TrimSuffix(opening.ReplaceAllString(head, ""), ","), values)
		}
	}
	return joined(head, rest)
}

var (
	// assertionClass is a class of an error, in front of its message, that says no more than that something was asserted.
	assertionClass = regexp.MustCompile(`^\[?(?:Uncaught )?(?:[\w$]+[./])*(?:Assertion(?:Error|FailedError|FailedException|Exception)?|ComparisonFailure|Error|Xunit\.Sdk\.\w+)(?: \[\w+\])?:(?:\s+|$)`)
	// emptyHead is a first line that says nothing but that there is a failure, or where.
	emptyHead = regexp.MustCompile(`^(?:FAILED:?|\w*(?:Failed|Failure|Error):?|(?:flaky|rerun)(?:Failure|Error):|● Test suite failed to run|Test method \S+ threw exception:|\(?(?:in|from) .* line \d+[,)])$|^\S+\.\w+[:(]\d+\)?(?::\d+)?:?(?: (?:Failure|FAILED:?|error))?$`)
	// matcher is an assertion of jest and its kin, with what was said of it before.
	matcher = regexp.MustCompile(`^(.*?)\b(expect(?:\.\w+)?\(.*\)(?:\.\w+)*\.\w+\(.*?\)|expect\(.*\))(?:\s+// .*)?$`)
	// recovered ends the panic of a test of Go.
	recovered = regexp.MustCompile(` \[recovered[^\]]*\]$`)
	// diagnostic is a compiler's.
	diagnostic = regexp.MustCompile(`^\S+\.\w+:\d+:\d+: `)
	// compared tells that a line has both values.
	compared = regexp.MustCompile(`(?i)==|!=|\bexpected .*\bto\b|\bgot\b.*\bwant|\bnot? equal`)
	// opening ends a line with which go-cmp begins to show a value.
	opening = regexp.MustCompile(`[\w.*\[\]{}]*[({]$`)
)

// beginning is the first line that says something, without the class of an assertion, and those behind it.
func beginning(lines []string) (head string, rest []string) {
	for i, line := range lines {
		line = strings.TrimSpace(line)
		line = strings.TrimSpace(line[len(assertionClass.FindString(line)):])
		if shown, found := strings.CutSuffix(line, "] {"); found { // an error of Node.js with its fields
			return shown, nil
		}
		if assertion, _, found := strings.Cut(line, " // "); found && compared.MatchString(assertion) {
			line = assertion
		}
		if line != "" && (!emptyHead.MatchString(line) || i+1 == len(lines)) {
			return line, lines[i+1:]
		}
	}
	for _, line := range lines { // nothing says more
		if line = strings.TrimSpace(line); line != "" {
			return line, nil
		}
	}
	return "", nil
}

// expectation is what an assertion of jest compares: both values, or with one of them or none the assertion.
func expectation(assertion string, rest []string) string {
	values := pairs(rest)
	if len(values) == 0 {
		values = difference(rest)
	}
	for _, line := range rest {
		if line = strings.TrimSpace(line); len(values) == 1 && strings.HasPrefix(line, "Received ") && !label.MatchString(line) {
			values = append(values, value{label: line})
		}
	}
	if len(values) >= 2 {
		return phrase("", values)
	}
	return phrase(assertion, values)
}

// value is one of those that a message sets against each other.
type value struct{ label, text string }

func (v value) String() string {
	if v.text == "" {
		return v.label
	}
	return v.label + " " + v.text
}

// label begins a line with one of the values.
var label = regexp.MustCompile(`(?i)^((?:expected|actual|received|but was|got|want|wanted|left|right|in chain|found|value of)(?: (?:substring|pattern|message|constructor|name|path|value|length|array|has value|is|type|number of \w+|[a-z]+ length))?)\s*:(?:\s+(.*)|\s*)$`)

// pairs are the values that lines name, in their order: expected, actual and so on. Their first ones count.
func pairs(lines []string) []value {
	var all []value
	most := 0 // lines that the last value may still get
	for _, line := range lines {
		line = strings.TrimSpace(line)
		switch m := label.FindStringSubmatch(line); {
		case m != nil:
			if slices.ContainsFunc(all, func(v value) bool { return strings.EqualFold(v.label, m[1]+":") }) {
				return all
			}
			most = 0
			if m[2] == "" {
				most = maxPairValues
			}
			all = append(all, value{m[1] + ":", strings.Trim(m[2], " \t,")})
		case line == "":
			if len(all) > 0 && all[len(all)-1].text != "" {
				most = 0
			}
		case strings.HasPrefix(line, "Diff:"), strings.HasPrefix(line, "--- "), strings.HasPrefix(line, "+++ "):
			return all
		case most > 0:
			last := &all[len(all)-1]
			last.text = strings.TrimSpace(last.text + " " + line)
			most--
		}
	}
	return all
}

// difference is the first pair of lines of a difference, one that is missing and one that is too much.
func difference(lines []string) []value {
	minus, plus := "-", "+"
	var removed, added, first string
	for _, line := range lines {
		if len(line) < 2 || line[0] != '-' && line[0] != '+' {
			line = strings.TrimSpace(line)
		}
		text := ""
		if len(line) > 1 {
			text = strings.Trim(line[1:], " \t\u00a0,")
		}
		word, _, _ := strings.Cut(strings.ToLower(text), " ")
		switch {
		case strings.HasPrefix(line, "--- ") || strings.HasPrefix(line, "+++ "):
			switch word = strings.ToLower(strings.TrimSpace(line[4:])); {
			case word == "expected" && line[0] == '-', word == "want" && line[0] == '-':
				minus = word + ": "
			case word == "actual" && line[0] == '+', word == "got" && line[0] == '+':
				plus = word + ": "
			}
		case text == "":
		case strings.HasPrefix(line, "+ actual - expected"):
			plus, minus = "actual: ", "expected: "
		case line[0] == '-' && (word == "expected" || word == "want"):
			minus = word + ": "
		case line[0] == '+' && (word == "received" || word == "actual" || word == "got"):
			plus = word + ": "
		case line[0] == '-' && removed == "":
			removed = text
			first = cmp.Or(first, minus)
		case line[0] == '+' && added == "":
			added = text
			first = cmp.Or(first, plus)
		}
	}
	if removed == "" || added == "" {
		return nil
	}
	values := []value{{minus + removed, ""}, {plus + added, ""}}
	if first == plus && minus == "-" {
		slices.Reverse(values)
	}
	return values
}

// phrase joins what a message begins with and its values.
func phrase(head string, values []value) string {
	head = strings.TrimSpace(head)
	var said strings.Builder
	said.WriteString(head)
	for i, v := range values {
		text := v.String()
		switch {
		case i > 0 || head != "" && !strings.HasSuffix(head, ":"):
			text = ", " + lower(text)
		case head != "":
			text = " " + lower(text)
		}
		said.WriteString(text)
	}
	return said.String()
}

// lower begins a text with a small letter.
func lower(text string) string {
	return strings.ToLower(text[:1]) + text[1:]
}

// typeName is in front of a value that gomega shows.
var typeName = regexp.MustCompile(`^<[^<>]*>: ?`)

// differs begins a line of a difference.
var differs = regexp.MustCompile(`^[-+?](?: |\x{a0})`)

// joined is a message that names no values: its lines up to an empty one, those of a list parted by commas.
func joined(head string, rest []string) string {
	said, count, indented := head, 1, false
	for _, line := range rest {
		text := strings.TrimSpace(line)
		deep := strings.TrimLeft(line, " \t") != line
		switch {
		case text == "" && strings.HasSuffix(said, ":") && count < maxSaidLines:
			continue
		case text == "" || count == maxSaidLines || differs.MatchString(text) && !strings.HasSuffix(said, ":"):
			return said
		}
		if text = strings.TrimSpace(text[len(typeName.FindString(text)):]); text == "" {
			continue
		}
		shown, ends := strings.CutSuffix(text, "] {") // an error of Node.js with its fields
		if ends {
			return strings.TrimSpace(said + " " + shown)
		}
		if indented && deep {
			said += ","
		}
		said += " " + text
		indented, count = deep, count+1
	}
	return said
}

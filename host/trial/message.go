package trial

import (
	"regexp"
	"slices"
	"strings"
)

// message is what an excerpt of a failure says, in one line and without the frame that test libraries print around it: testify's
// "Not equal: expected 3, actual 2" without its error trace, jest's expected and received values without its comments.
func message(content string) string {
	lines := strings.Split(content, "\n")
	for _, read := range []func([]string) string{testify, jest, pytest} {
		if said := read(lines); said != "" {
			return said
		}
	}
	return strings.Join(strings.Fields(content), " ")
}

// testifyField begins a part of a failure as testify prints it, under the line that names the place.
var testifyField = regexp.MustCompile(`^\s*(Error Trace|Error|Messages|Test):(\s.*)?$`)

func testify(lines []string) string {
	parts := map[string][]string{}
	place, field := "", ""
	for _, line := range lines {
		if m := testifyField.FindStringSubmatch(line); m != nil {
			field, line = m[1], m[2]
		}
		line = strings.TrimSpace(line)
		switch {
		case field == "" && place == "":
			place = line
		case line == "Diff:":
			field = "Diff"
		case line != "" && field != "":
			parts[field] = append(parts[field], line)
		}
	}
	if len(parts["Error Trace"]) == 0 || len(parts["Error"]) == 0 {
		return ""
	}
	said := phrase(parts["Error"])
	if strings.HasSuffix(place, ":") {
		said = place + " " + said
	}
	if m := parts["Messages"]; len(m) > 0 {
		said += " (" + strings.Join(m, " ") + ")"
	}
	return said
}

// pair is a line with one of two values that are compared.
var pair = regexp.MustCompile(`^(?i)(expected|actual|received)\s*:\s*(.+)$`)

// phrase joins lines, values that are compared by commas.
func phrase(lines []string) string {
	said := ""
	for _, line := range lines {
		m := pair.FindStringSubmatch(line)
		if m != nil {
			line = strings.ToLower(m[1]) + " " + m[2]
		}
		switch {
		case said == "":
		case m != nil && !strings.HasSuffix(said, ":"):
			said += ", "
		default:
			said += " "
		}
		said += line
	}
	return said
}

// jestHead is the first line of an assertion of jest, without the class of the error and the comment behind it.
var jestHead = regexp.MustCompile(`^(?:\w*Error: )?(expect\(.*?)(?:\s+// .*)?$`)

func jest(lines []string) string {
	m := jestHead.FindStringSubmatch(strings.TrimSpace(lines[0]))
	if m == nil {
		return ""
	}
	var values, expected, received []string
	for _, line := range lines[1:] {
		line = strings.TrimSpace(line)
		switch {
		case pair.MatchString(line):
			values = append(values, line)
		case strings.HasPrefix(line, "- Expected"), strings.HasPrefix(line, "+ Received"):
		case strings.HasPrefix(line, "- "):
			expected = append(expected, strings.Trim(line[1:], " ,"))
		case strings.HasPrefix(line, "+ "):
			received = append(received, strings.Trim(line[1:], " ,"))
		}
	}
	if len(values) == 0 {
		for name, list := range map[string][]string{"expected: ": expected, "received: ": received} {
			if len(list) > 0 {
				values = append(values, name+strings.Join(list, " "))
			}
		}
		slices.Sort(values)
	}
	if len(values) == 0 {
		return ""
	}
	return m[1] + ": " + phrase(values)
}

// pytest marks the lines of a message with an E; the comparison at length comes behind them.
func pytest(lines []string) string {
	var said []string
	for _, line := range lines {
		text, ok := strings.CutPrefix(line, "E ")
		text = strings.TrimSpace(text)
		if !ok || strings.HasPrefix(text, "Full diff:") || strings.HasPrefix(text, "Use -v ") {
			break
		}
		if text = strings.TrimPrefix(text, "+  "); text != "" {
			said = append(said, text)
		}
	}
	return strings.Join(said, ", ")
}

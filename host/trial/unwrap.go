package trial

import (
	"regexp"
	"strings"
)

// unwrap takes the lines of a failure's message out of what its framework prints around them. place is what a test of Go puts before
// its message, or empty.
func unwrap(lines []string) (place string, inner []string) {
	for len(lines) > 0 && strings.TrimSpace(lines[0]) == "" {
		lines = lines[1:]
	}
	if len(lines) == 0 {
		return "", nil
	}
	if marked := pytest(lines); marked != nil {
		return "", marked
	}
	if m := goPlaced.FindStringSubmatch(lines[0]); m != nil {
		place, lines = m[2], append([]string{m[3]}, dedent(deeper(lines[1:], indent(m[1])))...)
	}
	if titleLine.MatchString(lines[0]) && len(lines) > 1 {
		lines = dedent(lines[1:])
	}
	if fields := testify(lines); fields != nil {
		return place, fields
	}
	return place, thrown(lines)
}

// goPlaced is what a test of Go prints: where, and its message.
var goPlaced = regexp.MustCompile(`^(\s+)(\S+\.go:\d+:)(?:\s(.*))?$`)

// deeper are the lines of Go's output that continue a message: each is indented more than its first line.
func deeper(lines []string, than int) []string {
	end := 0
	for end < len(lines) && (indent(lines[end]) > than || strings.TrimSpace(lines[end]) == "") {
		end++
	}
	return lines[:end]
}

// dedent takes away what all lines are indented by.
func dedent(lines []string) []string {
	least := maxReadBytes
	for _, line := range lines {
		if strings.TrimSpace(line) != "" {
			least = min(least, indent(line))
		}
	}
	shifted := make([]string, len(lines))
	for i, line := range lines {
		for left := least; left > 0 && line != "" && indent(line[:1]) > 0; line = line[1:] {
			left -= indent(line[:1])
		}
		shifted[i] = line
	}
	return shifted
}

// indent is how far a line is indented, a tab counting as eight.
func indent(line string) int {
	blanks := line[:len(line)-len(strings.TrimLeft(line, " \t"))]
	return len(blanks) + 7*strings.Count(blanks, "\t")
}

// testifyField begins a part of a failure as testify prints it.
var testifyField = regexp.MustCompile(`^\s*(Error Trace|Error|Messages|Test):(?:\s+(.*))?$`)

// testify gives the lines of testify's error, without its trace, and then its message; nil where it printed none.
func testify(lines []string) []string {
	parts := map[string][]string{}
	field := ""
	for _, line := range lines {
		if m := testifyField.FindStringSubmatch(line); m != nil {
			field, line = m[1], m[2]
		}
		if line = strings.TrimSpace(line); field != "" && (line != "" || len(parts[field]) > 0) {
			parts[field] = append(parts[field], line)
		}
	}
	if len(parts["Error Trace"]) == 0 || len(parts["Error"]) == 0 {
		return nil
	}
	said := parts["Error"]
	if more := parts["Messages"]; len(more) > 0 {
		said = []string{summary(said) + " (" + strings.Join(more, " ") + ")"}
	}
	return said
}

// pytestObject is in a line that says where a value is from that nobody can read.
const pytestObject = " at 0x"

// pytest gives what pytest marks with an E, on one line; nil where it marks nothing. Code and frames may stand before it.
func pytest(lines []string) []string {
	first := 0
	for first < len(lines) && !strings.HasPrefix(lines[first], "E  ") {
		first++
	}
	if first == len(lines) {
		return nil
	}
	var marked []string
	for _, line := range lines[first:] {
		if !isMarked(line) {
			break
		}
		marked = append(marked, line[min(2, len(line)):])
	}
	said, _ := beginning(marked)
	for _, line := range marked[min(1, len(marked)):] {
		text := strings.TrimSpace(line)
		switch from := strings.TrimSpace(strings.TrimPrefix(text, "+")); {
		case strings.HasPrefix(text, "assert ") && !strings.Contains(said, text), strings.HasPrefix(from, "where ") && !strings.Contains(from, pytestObject):
			said += ", " + from
		case strings.HasPrefix(from, "where "):
		case compared.MatchString(said) || text == "" || strings.HasPrefix(text, "Full diff:"):
			return []string{said}
		case text != said:
			said += " " + text
		}
	}
	return []string{said}
}

func isMarked(line string) bool { return strings.HasPrefix(line, "E ") || line == "E" }

var (
	// frameLine is one of a stack, or the line of a runtime in front of one.
	frameLine = regexp.MustCompile(`^\s*(?:at\s.*|❯ .*|in \S+:\d+.*|File ".*", line \d+.*|\S+\.\w+:\d+:in .*|\.\.\. \d+ more)$|^\s*(?:stack backtrace:|note: run with|goroutine \d+ |\[signal |--- (?:FAIL|PASS|SKIP)|=== )|^(?:FAIL|ok)(?:\t|  )|^(?:FAIL|PASS)$|^exit status \d`)
	// rustPanic is the line before the message of a panic, or in older versions with it.
	rustPanic = regexp.MustCompile(`^thread '.*' (?:\(\d+\) )?panicked at (?:'(.*?)(?:', \S+:\d+:\d+)?|\S+:\d+:\d+:?)$`)
	// perlPlace is a line of Perl's that names a place, before the values.
	perlPlace = regexp.MustCompile(`^\s*at \S+ line \d+\.$`)
	// codeLine is one of an excerpt of the code that jest and Playwright print.
	codeLine = regexp.MustCompile(`^\s*>?\s*\d* \|( |$)`)
)

// thrown gives the lines of an error up to its stack; of a traceback of Python, which ends with it, those behind the stack.
func thrown(lines []string) []string {
	if strings.HasPrefix(lines[0], "Traceback (most recent call last)") {
		last := 0
		for i, line := range lines {
			if strings.HasPrefix(line, " ") && frameLine.MatchString(line) {
				last = i
			}
		}
		for i := last + 1; i < len(lines); i++ {
			if lines[i] != "" && indent(lines[i]) == 0 {
				return thrown(append([]string{""}, lines[i:]...))
			}
		}
	}
	var kept []string
	for _, line := range lines {
		if m := rustPanic.FindStringSubmatch(line); m != nil {
			if kept = nil; m[1] != "" {
				kept = append(kept, m[1])
			}
			continue
		}
		if frameLine.MatchString(line) {
			if len(kept) > 0 && !perlPlace.MatchString(line) {
				break
			}
			continue
		}
		if codeLine.MatchString(line) {
			continue
		}
		kept = append(kept, line)
	}
	if strings.TrimSpace(strings.Join(kept, "")) == "" {
		return lines
	}
	return kept
}

package source

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

const (
	maxComparisons = 20
	maxValueBytes  = 300
	// leastTelling is how long a word must be to tell something where it stands alone.
	leastTelling = 4
)

// comparison is what a test got and what it wanted, and the words of either that the other does not have.
type comparison struct {
	got, want           []string
	gotValue, wantValue string
}

// Ways in which tests report that a value is not the wanted one.
var (
	quotedOr   = "(\"(?:[^\"\\\\\n]|\\\\.)*\"|`[^`\n]*`|'[^'\n]*'|<[^>\n]*>|[^\n]*?)"
	gotWant    = regexp.MustCompile(`(?i)(?:\b(?:got|actual|received|was)\b[:=]?|\) =)[ \t]*` + quotedOr + `[ \t]*[,;.(]?[ \t]*(?:but )?\b(?:want(?:ed|s)?|expect(?:ed|s)?)\b[:=]?[ \t]*` + quotedOr + `[ \t]*\)?[.;]?$`)
	wantGot    = regexp.MustCompile(`(?i)\b(?:want(?:ed|s)?|expect(?:ed|s)?)\b[:=]?[ \t]*` + quotedOr + `[ \t]*[,;.(]?[ \t]*(?:but )?\b(?:got|actual|received|was)\b[:=]?[ \t]*` + quotedOr + `[ \t]*\)?[.;]?$`)
	wantedLine = regexp.MustCompile(`(?i)^\W*(?:want(?:ed)?|expected)[ \t]*:[ \t]*(.*)$`)
	gotLine    = regexp.MustCompile(`(?i)^\W*(?:got|actual|received)[ \t]*:[ \t]*(.*)$`)
	unequal    = regexp.MustCompile(`(?:^|[: ])(\S[^\n]*?) (?:!=|==) ([^\n]*\S)$`)
)

// comparisons finds what tests got and wanted, by the words of many test frameworks. "got" is what the program gave.
func comparisons(text string) []comparison {
	var found []comparison
	add := func(got, want string) {
		if len(found) == maxComparisons || len(got) > maxValueBytes || len(want) > maxValueBytes {
			return
		}
		a, b := valueWords(got), valueWords(want)
		c := comparison{without(a, b), without(b, a), got, want}
		if len(c.got)+len(c.want) > 0 {
			found = append(found, c)
		}
	}
	lines := splitLines(text)
	for i, line := range lines {
		line = strings.TrimRight(line, " \t")
		if m := gotWant.FindStringSubmatch(line); m != nil {
			add(m[1], m[2])
			continue
		}
		if m := wantGot.FindStringSubmatch(line); m != nil {
			add(m[2], m[1])
			continue
		}
		// One below the other, in either order.
		for _, next := range lines[i+1 : min(i+3, len(lines))] {
			want, got := wantedLine.FindStringSubmatch(line), gotLine.FindStringSubmatch(next)
			if want == nil || got == nil {
				want, got = wantedLine.FindStringSubmatch(next), gotLine.FindStringSubmatch(line)
			}
			if want != nil && got != nil {
				add(got[1], want[1])
			}
		}
		if m := unequal.FindStringSubmatch(line); m != nil && !strings.Contains(line, " want ") {
			add(m[1], m[2])
		}
	}
	return found
}

var valueWord = regexp.MustCompile(`[\pL_][\pL\d_]*|\d[\d.]*\d|\d|[^\s\pL\d"'` + "`" + `]+`)

// valueWords are the words of a value; numbers in hexadecimal digits are written in decimal ones, as they stand in most code.
func valueWords(value string) []string {
	words := valueWord.FindAllString(hexadecimal.ReplaceAllStringFunc(value, func(digits string) string {
		n, err := strconv.ParseUint(digits[2:], 16, 64)
		if err != nil {
			return digits
		}
		return strconv.FormatUint(n, 10)
	}), 200)
	return slices.DeleteFunc(words, func(w string) bool { return strings.IndexByte("()[]{}:;,", w[0]) >= 0 })
}

var hexadecimal = regexp.MustCompile(`\b0x[0-9a-fA-F]{1,16}\b`)

// without are the words of a list that another does not have, each once.
func without(list, other []string) []string {
	var out []string
	for _, w := range list {
		if !slices.Contains(other, w) && !slices.Contains(out, w) {
			out = append(out, w)
		}
	}
	return out
}

// telling are words that are not in every other line of code.
func telling(words []string) []string {
	var out []string
	for _, w := range words {
		switch strings.ToLower(w) {
		case "true", "false", "null", "none", "error", "nil", "string", "float64", "int64", "undefined", "interface":
			continue
		}
		if len(w) >= leastTelling {
			out = append(out, w)
		}
	}
	return out
}

// standIn says whether all words stand in a line, each by itself.
func standIn(words []string, line string) bool {
	if len(words) == 0 {
		return false
	}
	in := valueWords(line)
	for _, w := range words {
		if !slices.Contains(in, w) {
			return false
		}
	}
	return true
}

// anyLine gives the first line in which the words stand, or -1.
func anyLine(words, lines []string) int {
	return slices.IndexFunc(lines, func(line string) bool { return standIn(words, line) })
}

var literal = regexp.MustCompile("\"((?:[^\"\\\\\n]|\\\\.){2,200})\"|'([^'\\n]{2,200})'|`([^`\\n]{2,200})`")

// literals are the strings of some lines that others do not have.
func literals(lines, others []string) []string {
	var list []string
	for _, line := range lines {
		for _, m := range literal.FindAllStringSubmatch(line, 50) {
			text := m[1] + m[2] + m[3]
			quoted := m[0]
			if strings.TrimSpace(text) != "" && !slices.ContainsFunc(others, func(other string) bool { return strings.Contains(other, quoted) }) {
				list = append(list, text)
			}
		}
	}
	return list
}

var plainValue = regexp.MustCompile(`\b(?:0x[0-9a-fA-F]+|\d[\d.]*|true|false|nil|null|None|True|False)\b`)

// plainValues are the numbers and truth values in some lines.
func plainValues(lines []string) []string {
	var list []string
	for _, line := range lines {
		for _, value := range plainValue.FindAllString(line, 50) {
			list = append(list, valueWords(value)...)
		}
	}
	return list
}

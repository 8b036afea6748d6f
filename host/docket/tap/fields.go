package tap

import (
	"regexp"
	"strconv"
	"strings"
)

// The bounds of what is looked at of the YAML of a point.
const (
	maxFields = 64
	maxDepth  = 4
)

// yamlField is a key with what stands behind it on its line.
var yamlField = regexp.MustCompile(`^( *)([\w$-]+|"[^"]{1,80}"|'[^']{1,80}'): *(.*)$`)

// fieldsOf reads the scalars in the YAML of a point, by their paths, as at.lineNumber. It reads the forms that runners write, which are
// no YAML in all cases: a quoted text of vitest goes over lines that are not indented. What it does not know it passes over.
func fieldsOf(text string) map[string]string {
	fields := map[string]string{}
	lines := strings.Split(text, "\n")
	type parent struct {
		indent int
		path   string
	}
	var parents []parent
	for i := 0; i < len(lines) && len(fields) < maxFields; i++ {
		m := yamlField.FindStringSubmatch(lines[i])
		if m == nil {
			continue
		}
		indent, path, value := len(m[1]), strings.Trim(m[2], `"'`), strings.TrimSpace(m[3])
		for len(parents) > 0 && parents[len(parents)-1].indent >= indent {
			parents = parents[:len(parents)-1]
		}
		if len(parents) > 0 {
			path = parents[len(parents)-1].path + "." + path
		}
		switch {
		case value == "" || strings.HasPrefix(value, "!"):
			if len(parents) < maxDepth {
				parents = append(parents, parent{indent, path})
			}
			continue
		case value[0] == '|' || value[0] == '>':
			value, i = block(lines, i+1, indent)
		case value[0] == '"':
			value, i = quoted(lines, i, value)
		case value[0] == '\'' && len(value) > 1:
			value = strings.ReplaceAll(strings.TrimSuffix(value[1:], "'"), "''", "'")
		}
		if _, twice := fields[path]; !twice {
			fields[path] = value
		}
	}
	return fields
}

// block reads the lines of a text that are indented further than its key, and gives the last of them.
func block(lines []string, first, than int) (string, int) {
	end, least := first, -1
	for end < len(lines) && (strings.TrimSpace(lines[end]) == "" || indentOf(lines[end]) > than) {
		if n := indentOf(lines[end]); strings.TrimSpace(lines[end]) != "" && (least < 0 || n < least) {
			least = n
		}
		end++
	}
	var b strings.Builder
	for _, line := range lines[first:end] {
		b.WriteString(line[min(max(least, 0), indentOf(line)):] + "\n")
	}
	return strings.TrimRight(b.String(), "\n"), end - 1
}

// quoted reads a text in double quotes, which may go over lines, and gives the last of them.
func quoted(lines []string, at int, value string) (string, int) {
	var b strings.Builder
	b.WriteString(value)
	last := at
	for !closed(value, last == at) {
		if last+1 == len(lines) {
			return strings.TrimPrefix(b.String(), `"`), last
		}
		last++
		value = strings.TrimRight(lines[last], " ")
		b.WriteString("\n" + value)
	}
	text := b.String()
	if plain, err := strconv.Unquote(strings.ReplaceAll(text, "\n", `\n`)); err == nil {
		return plain, last
	}
	return strings.ReplaceAll(strings.TrimSuffix(text[1:], `"`), `\"`, `"`), last
}

// closed says whether a line ends with the quote that ends its text; the first line begins with one, too.
func closed(line string, first bool) bool {
	rest, ok := strings.CutSuffix(line, `"`)
	if !ok || first && line == `"` {
		return false
	}
	escapes := len(rest) - len(strings.TrimRight(rest, `\`))
	return escapes%2 == 0
}

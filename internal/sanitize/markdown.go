package sanitize

import (
	"strings"
)

// Markdown makes text fit for a line of prose in Markdown: nothing in it is markup, a link, an HTML tag, a mention or a
// reference. Line breaks become spaces. What renderers turn into links by themselves (addresses, @names, #numbers) is
// broken by putting its telling sign into a code span, since no escape stops that.
func Markdown(s string) string {
	s = Line(strings.Join(strings.Fields(Block(s)), " "))
	var b strings.Builder
	b.Grow(len(s) + len(s)/8)
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case strings.HasPrefix(s[i:], "://"):
			b.WriteString("`://`")
			i += len("://") - 1
		case c == '@' || c == '#':
			end := i + 1
			for end < len(s) && (s[end] == '@' || s[end] == '#') {
				end++
			}
			b.WriteString("`" + s[i:end] + "`")
			i = end - 1
		case c == '.' && i >= 3 && strings.EqualFold(s[i-3:i], "www"):
			b.WriteString("`.`")
		case c == '<':
			b.WriteString("&lt;")
		case c == '>':
			b.WriteString("&gt;")
		case c == '&':
			b.WriteString("&amp;")
		case strings.IndexByte("\\`*_{}[]()+-.!|~$:^=\"'", c) >= 0 && markdownNeeds(s, i):
			b.WriteByte('\\')
			b.WriteByte(c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// markdownNeeds says whether the sign at i could be markup. Common signs of prose stay bare where they can't, so that the
// source of a report can be read too.
func markdownNeeds(s string, i int) bool {
	switch s[i] {
	case '\'', '"':
		return false
	case '.', ')', '(', '+', '-', '=': // lists, rules and headings stand at the beginning of a line
		return i < 10
	case ':': // :names: are pictures
		word, _, _ := strings.Cut(s[i+1:], " ")
		return strings.Contains(word, ":")
	}
	return true
}

// MarkdownCode makes text fit for a line and puts it into a code span, which nothing in it can close. An empty text gives
// nothing. In a cell of a table it must go through [MarkdownCell] too.
func MarkdownCode(s string) string {
	s = strings.Join(strings.Fields(Line(strings.Join(strings.Fields(Block(s)), " "))), " ")
	if s == "" {
		return ""
	}
	fence := strings.Repeat("`", longestRun(s, '`')+1)
	pad := ""
	if s[0] == '`' || s[len(s)-1] == '`' {
		pad = " "
	}
	return fence + pad + s + pad + fence
}

// MarkdownBlock puts text into a fenced code block, which nothing in it can close.
func MarkdownBlock(s string) string {
	fence := strings.Repeat("`", max(3, longestRun(s, '`')+1))
	return fence + "text\n" + strings.TrimRight(Block(s), "\n") + "\n" + fence
}

// MarkdownCell makes a piece of Markdown fit for a cell of a table, where a bar that no backslash escapes ends the cell,
// even inside a code span.
func MarkdownCell(s string) string {
	var b strings.Builder
	backslashes := 0
	for i := range len(s) {
		if s[i] == '|' && backslashes%2 == 0 {
			b.WriteByte('\\')
		}
		if backslashes++; s[i] != '\\' {
			backslashes = 0
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

func longestRun(s string, c byte) int {
	longest, run := 0, 0
	for i := range len(s) {
		if run++; s[i] != c {
			run = 0
		}
		longest = max(longest, run)
	}
	return longest
}

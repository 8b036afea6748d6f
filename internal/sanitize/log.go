package sanitize

import "strings"

// Log escapes text for the log of a CI platform: no line of it is a command to GitHub Actions, which takes "::" after blanks at the beginning of
// a line for one, and "##[" anywhere.
func Log(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if strings.HasPrefix(strings.TrimSpace(line), "::") {
			b.WriteString("| ")
		}
		b.WriteString(strings.ReplaceAll(line, "##[", "# #["))
	}
	return b.String()
}

// Cut shortens a text to so many bytes, behind which an ellipsis says that there was more.
func Cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.TrimRight(strings.ToValidUTF8(s[:most], ""), " \n") + "…"
}

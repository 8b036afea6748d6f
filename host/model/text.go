package model

import (
	"strings"
	"unicode/utf8"

	"github.com/shadowcourt/shadowcourt/internal/sanitize"
)

// oneLine makes a text of others fit for a line of a message.
func oneLine(text string) string {
	if len(text) > 64<<10 {
		text = text[:64<<10]
	}
	return sanitize.Line(strings.Join(strings.Fields(strings.ToValidUTF8(text, "\uFFFD")), " "))
}

// cutMark ends a text that was shortened.
const cutMark = "..."

// cut shortens a text to at most so many bytes, and the mark.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most] + cutMark
}

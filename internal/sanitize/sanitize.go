// Package sanitize makes untrusted text safe to display. Terminal escapes, bidirectional controls, invisible characters and
// broken UTF-8 become visible placeholders: ␛ for an escape, <U+202E> for a right-to-left override, <0x9B> for a stray byte.
// All other text stays as it is. Further functions cut text, escape it for Markdown, JSON and CI logs, and reject JSON with repeated keys.
//
// The functions are safe for concurrent use.
package sanitize

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Line sanitizes text for one line of a table, a list or a message. Line breaks and tabs are shown too, as ␊ and ␉.
func Line(s string) string { return clean(s, false) }

// Block sanitizes text of several lines. Line breaks and tabs stay; a carriage return before a line break is dropped,
// any other is shown, since it lets text overwrite what stands before it.
func Block(s string) string { return clean(s, true) }

// Visible says whether a character is shown as it is. It is false for controls, for everything that has no glyph of its
// own (format characters, bidirectional controls, fillers, tags, private use) and for line and paragraph separators.
func Visible(r rune) bool {
	if r < utf8.RuneSelf {
		return r >= 0x20 && r != 0x7f
	}
	return unicode.IsGraphic(r) && !isBlank(r)
}

// isBlank names the characters that Unicode counts as letters or marks and that yet show nothing.
func isBlank(r rune) bool {
	switch {
	case r == 0x034f, r == 0x115f, r == 0x1160, r == 0x3164, r == 0xffa0, r == 0x17b4, r == 0x17b5:
		return true // grapheme joiner, Hangul fillers, inherent Khmer vowels
	case r >= 0x180b && r <= 0x180f, r >= 0xfe00 && r <= 0xfe0e, r >= 0xe0100 && r <= 0xe01ef:
		return true // variation selectors; U+FE0F stays, it only asks for the coloured form of a sign
	}
	return false
}

func clean(s string, lines bool) string {
	i := firstHidden(s, lines)
	if i < 0 {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 16)
	b.WriteString(s[:i])
	for i < len(s) {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size <= 1:
			fmt.Fprintf(&b, "<0x%02X>", s[i])
		case lines && (r == '\n' || r == '\t'):
			b.WriteByte(s[i])
		case lines && r == '\r' && strings.HasPrefix(s[i+1:], "\n"):
		case Visible(r):
			b.WriteString(s[i : i+size])
		default:
			b.WriteString(Placeholder(r))
		}
		i += size
	}
	return b.String()
}

// firstHidden is the offset of the first character that needs work, -1 for none.
func firstHidden(s string, lines bool) int {
	for i, r := range s {
		if lines && (r == '\n' || r == '\t') {
			continue
		}
		if r == utf8.RuneError || !Visible(r) {
			return i
		}
	}
	return -1
}

// Placeholder is what stands for a character that does not show.
func Placeholder(r rune) string {
	switch {
	case r >= 0 && r < 0x20:
		return string(rune(0x2400) + r)
	case r == 0x7f:
		return "␡"
	}
	return fmt.Sprintf("<U+%04X>", r)
}

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

// EncodeJSON encodes a value with a line break behind it, indented unless that is empty. `<`, `>` and `&` stay, since JSON is not HTML.
func EncodeJSON(v any, indent string) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", indent)
	err := encoder.Encode(v)
	return b.Bytes(), err
}

// JSON escapes the characters of a JSON text that are not [Visible] as \uXXXX, so that the text is safe to print and any
// JSON reader gets the same value.
func JSON(data []byte) []byte {
	start := 0
	var out []byte
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		if r < utf8.RuneSelf && r != 0x7f || Visible(r) {
			i += size
			continue
		}
		out = append(out, data[start:i]...)
		if high, low := utf16.EncodeRune(r); high != utf8.RuneError {
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		} else {
			out = fmt.Appendf(out, `\u%04x`, r)
		}
		i += size
		start = i
	}
	if out == nil {
		return data
	}
	return append(out, data[start:]...)
}

// MsgDuplicateKey ends what is said of a key that an object has twice.
const MsgDuplicateKey = "occurs twice"

// maxPath is the most bytes of a path to a key that are kept; messages show 80 characters.
const maxPath = 400

// CountValues counts what separates or begins values in a JSON text, outside of strings: one less than the most values that it can have.
func CountValues(text []byte) int {
	n, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case !quoted && (c == ',' || c == '[' || c == '{'):
			n++
		}
	}
	return n
}

// UniqueKeys reads a value that is JSON, and rejects keys that an object of it has twice: encoding/json would take the last. With anyCase, keys
// that only the case of letters tells apart are one, as encoding/json has it for fields.
func UniqueKeys(d *json.Decoder, anyCase bool) error {
	twice, err := uniqueKeys(d, anyCase)
	if err == nil && twice != "" {
		err = fmt.Errorf("the key %.80q %s", strings.TrimPrefix(twice, "."), MsgDuplicateKey)
	}
	return err
}

// uniqueKeys gives the path of a repeated key, empty for none. The path is made on the way back: made for each value, a long key around many
// values would cost the product of both.
func uniqueKeys(d *json.Decoder, anyCase bool) (twice string, err error) {
	t, err := d.Token()
	open, ok := t.(json.Delim)
	if err != nil || !ok {
		return "", err
	}
	seen := map[string]bool{}
	for i := 0; d.More(); i++ {
		key := ""
		if open == '{' {
			t, err := d.Token()
			if err != nil {
				return "", err
			}
			key, _ = t.(string)
			folded := key
			if anyCase {
				folded = strings.ToLower(strings.ToUpper(key)) // encoding/json takes ſ for s
			}
			key = "." + Cut(key, maxPath)
			if seen[folded] {
				return key, nil
			}
			seen[folded] = true
		}
		if twice, err := uniqueKeys(d, anyCase); err != nil || twice != "" {
			return cmp.Or(key, "["+strconv.Itoa(i)+"]") + Cut(twice, maxPath), err
		}
	}
	_, err = d.Token()
	return "", err
}

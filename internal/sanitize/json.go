package sanitize

import (
	"fmt"
	"unicode/utf16"
	"unicode/utf8"
)

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

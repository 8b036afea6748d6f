package text

import (
	"strings"

	"github.com/shadowcourt/shadowcourt/abi/odds"
)

// Words splits a text into runs of letters and digits, in lower case.
func Words(s string) []string {
	var out []string
	for i := 0; i < len(s); {
		end := WordEnd(s, i)
		if end > i {
			out = append(out, strings.ToLower(s[i:end]))
		}
		i = end + 1
	}
	return out
}

// WordEnd is where the word ends that begins at i.
func WordEnd(s string, i int) int {
	for i < len(s) && IsWordByte(s[i]) {
		i++
	}
	return i
}

// IsWordByte says whether a byte is part of a word: an ASCII letter or digit, or a part of any other character.
func IsWordByte(c byte) bool {
	c = odds.Fold(c)
	return 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || c >= 0x80
}

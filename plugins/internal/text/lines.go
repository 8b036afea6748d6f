package text

import (
	"strings"

	"github.com/shadowcourt/shadowcourt/abi/odds/phrase"
)

// substantiveBytes is the length from which a line says enough that two items
// which share it say the same thing; "FAIL" or "panic:" alone do not.
const substantiveBytes = 24

// Substance gives the lines of a content by which it is recognised elsewhere:
// lower case, with runs of digits as one '#' and runs of other signs as one
// space, so that times, addresses and counters make no difference. Short lines
// are left out, but for a content that has no other. Bytes beyond ASCII stay.
func Substance(content string) []string {
	var long []string
	var short []byte
	for line := range strings.SplitSeq(content, "\n") {
		n := normalise(line)
		if len(n) >= substantiveBytes {
			long = append(long, string(n))
		} else if len(n) > 0 {
			short = append(append(short, n...), '\n')
		}
	}
	if len(long) == 0 && len(short) > 0 {
		return []string{string(short)}
	}
	return long
}

func normalise(line string) []byte {
	out := make([]byte, 0, len(line))
	for i := range len(line) {
		c := phrase.Fold(line[i])
		switch {
		case isDigit(c):
			if len(out) == 0 || out[len(out)-1] != '#' {
				out = append(out, '#')
			}
		case isLetter(c):
			out = append(out, c)
		default:
			if len(out) > 0 && out[len(out)-1] != ' ' {
				out = append(out, ' ')
			}
		}
	}
	if len(out) > 0 && out[len(out)-1] == ' ' {
		out = out[:len(out)-1]
	}
	return out
}

func isDigit(c byte) bool  { return '0' <= c && c <= '9' }
func isLetter(c byte) bool { return 'a' <= c && c <= 'z' || c >= 0x80 }

// Blank says whether a content holds nothing that could be read.
func Blank(content string) bool { return strings.TrimSpace(content) == "" }

package text

import (
	"strings"

	"github.com/shadowcourt/shadowcourt/abi/odds"
)

// substantiveBytes is the length from which a line says enough that two items
// which share it say the same thing; "FAIL" or "panic:" alone do not.
const substantiveBytes = 24

// Substance gives the lines of a content by which it is recognised elsewhere:
// lower case, with runs of digits as one '#' and runs of other signs as one
// space, so that times, addresses and counters make no difference. Short lines
// are left out, but for a content that has no other. Bytes beyond ASCII stay.
func Substance(content string) []string {
	all, ends := normalise(content)
	var long []string
	var short []byte
	from := 0
	for _, to := range ends {
		switch line := all[from:to]; {
		case len(line) >= substantiveBytes:
			long = append(long, line)
		case len(line) > 0:
			short = append(append(short, line...), '\n')
		}
		from = to
	}
	if len(long) == 0 && len(short) > 0 {
		return []string{string(short)}
	}
	return long
}

// normalise gives the lines of a content behind each other, and where each
// of them ends: all in one piece, since that is faster than one by one.
func normalise(content string) (lines string, ends []int) {
	out := make([]byte, len(content)) // no line gets longer
	ends = make([]int, 0, 8)
	n, start := 0, 0 // where out and its last line stand
	last := byte(' ')
	for i := range len(content) {
		c := signs[content[i]]
		switch {
		case c == '\n':
			if last == ' ' && n > start {
				n--
			}
			ends = append(ends, n)
			start, last = n, ' '
			continue
		case c == last && (c == ' ' || c == '#'):
			continue
		}
		out[n] = c
		n++
		last = c
	}
	if last == ' ' && n > start {
		n--
	}
	return string(out[:n]), append(ends, n)
}

// signs says what a byte of a line is taken for: a letter for itself in lower
// case, a digit for '#', all else but the end of the line for a space.
var signs = signTable()

func signTable() (table [256]byte) {
	for i := range table {
		switch c := odds.Fold(byte(i)); {
		case '0' <= c && c <= '9':
			table[i] = '#'
		case 'a' <= c && c <= 'z' || c >= 0x80 || c == '\n':
			table[i] = c
		default:
			table[i] = ' '
		}
	}
	return table
}

// Blank says whether a content holds nothing that could be read.
func Blank(content string) bool { return strings.TrimSpace(content) == "" }

// Package text renders figures and reads lines without fmt.
package text

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
	"unsafe"

	"github.com/shadowcourt/shadowcourt/abi/odds"
)

// substantiveBytes is the length from which a line says enough that two items
// which share it say the same thing; "FAIL" or "panic:" alone do not.
const substantiveBytes = 24

// Substance gives the lines of a content by which it is recognised elsewhere: lower case, with runs of digits as one '#' and runs of other
// signs as one space, so that times, addresses and counters make no difference. Short lines are left out, but for a content that has no
// other. Bytes beyond ASCII stay.
func Substance(content string) []string {
	var room [16]int
	all, ends := normalise(content, room[:0])
	long := make([]string, 0, len(ends))
	var short []byte
	from := 0
	for _, to := range ends {
		switch line := all[from:to]; {
		case len(line) >= substantiveBytes:
			long = append(long, line)
		case len(line) > 0 && len(long) == 0:
			short = append(append(short, line...), '\n')
		}
		from = to
	}
	if len(long) == 0 && len(short) > 0 {
		return []string{string(short)}
	}
	return long
}

// normalise gives the lines of a content behind each other, and appends to ends where each
// of them ends: all in one piece, since that is faster than one by one.
func normalise(content string, ends []int) (string, []int) {
	out := make([]byte, len(content)) // no line gets longer
	n, start := 0, 0                  // where out and its last line stand
	last := byte(' ')
	for i := range len(content) {
		c := signs[content[i]]
		if c <= '#' { // no letter
			if c == '\n' {
				if last == ' ' && n > start {
					n--
				}
				ends = append(ends, n)
				start, last = n, ' '
				continue
			}
			if c == last {
				continue
			}
		}
		out[n] = c
		n++
		last = c
	}
	if last == ' ' && n > start {
		n--
	}
	return unsafe.String(unsafe.SliceData(out), n), append(ends, n) //nolint:gosec // nobody else has out
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

// Int renders an integer.
func Int(n int) string { return strconv.Itoa(n) }

// Share renders a number with two decimals, as strconv does: mostly one in [0, 1].
func Share(x float64) string {
	if !(x >= 0 && x < maxShare) || math.Signbit(x) {
		return strconv.FormatFloat(x, 'f', 2, 64)
	}
	n := 4 * hundredths(x)
	return shares[n : n+4]
}

// maxShare is from where numbers have more digits than those of shares.
const maxShare = 9.99

// shares are all numbers of three digits, "0.00" to "9.99".
var shares = func() string {
	all := make([]byte, 0, 4*1000)
	for n := range 1000 {
		all = append(all, byte('0'+n/100), '.', byte('0'+n/10%10), byte('0'+n%10))
	}
	return string(all)
}()

// hundredths rounds 100 times a number below 10, an exact half to even.
func hundredths(x float64) int {
	const mantissa = 1<<52 - 1
	b := math.Float64bits(x)
	shift := 1075 - int(b>>52)
	if shift > 63 {
		return 0 // it is below 0.001
	}
	p := (b&mantissa | (mantissa + 1)) * 100
	n, rest, half := p>>shift, p&(1<<shift-1), uint64(1)<<(shift-1)
	if rest > half || rest == half && n&1 == 1 {
		n++
	}
	return int(n)
}

// Number renders a number as short as it can be.
func Number(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// Count renders n with the singular or plural of a noun: "1 item", "3 items".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// Agree gives one for a single thing, and more for any other number.
func Agree(n int, one, more string) string {
	if n == 1 {
		return one
	}
	return more
}

// Of says how many of some do something: "1 of 3 claims rests", "0 of 1 claim rests".
func Of(n, all int, noun, one, more string) string {
	if all == 1 {
		more = one
	}
	return strconv.Itoa(n) + " of " + Count(all, noun) + " " + Agree(n, one, more)
}

// InLine shows characters that end a line as ␊, so that no text of a case begins a line of its own in a sentence, an account or a list.
func InLine(s string) string {
	for i := range len(s) {
		if s[i] < ' ' || s[i] >= 0x80 {
			return lineEnds.Replace(s)
		}
	}
	return s
}

var lineEnds = strings.NewReplacer("\r\n", "␊", "\n", "␊", "\r", "␊", "\v", "␊", "\f", "␊", "\u0085", "␊", "\u2028", "␊", "\u2029", "␊")

// maxQuoteBytes bounds a quote: enough for a long line of a log, little enough that many quotes fit an artifact.
const maxQuoteBytes = 300

// QuoteAround returns the line of document in which [start, end) begins, word for word, without the blanks around it. Of a line that is
// longer than 300 bytes it returns a part around start, cut between characters.
func QuoteAround(document string, start, end int) string {
	from := strings.LastIndexByte(document[:start], '\n') + 1
	to := len(document)
	if i := strings.IndexByte(document[start:], '\n'); i >= 0 {
		to = start + i
	}
	if to-from > maxQuoteBytes {
		end = min(end, to)
		margin := max(0, (maxQuoteBytes-(end-start))/2)
		from = max(from, start-margin)
		to = min(to, from+maxQuoteBytes)
		for from < start && !utf8.RuneStart(document[from]) {
			from++
		}
		for to > from && to < len(document) && !utf8.RuneStart(document[to]) {
			to--
		}
	}
	return strings.TrimSpace(document[from:to])
}

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

// maxLineBytes of a line are shown in a sentence.
const maxLineBytes = 160

// FirstLine is the first line of a content as a sentence quotes it.
func FirstLine(content string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(content), "\n")
	if len(line) <= maxLineBytes {
		return line
	}
	return strings.ToValidUTF8(line[:maxLineBytes], "") + "..."
}

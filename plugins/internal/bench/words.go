package bench

import (
	"strings"

	"github.com/shadowcourt/shadowcourt/plugins/internal/text"
)

// stemBytes is how much of a long word must agree for another to be a form of
// it: resolve and resolution, dependency and dependencies.
const stemBytes = 5

// stem is what every form of a word begins with.
func stem(word string) string { return word[:min(len(word), stemBytes)] }

// isForm says whether a word that begins with another's stem is a form of it:
// any is of a long word, of a short one only the common endings are.
func isForm(rest, word string) bool {
	if len(word) > stemBytes {
		return true
	}
	switch strings.ToLower(rest) {
	case "", "s", "ed", "ing":
		return true
	default:
		return false
	}
}

// troubleStems begin the words by which a line reports trouble.
func troubleStems() []string {
	return []string{
		"error", "fail", "fatal", "panic", "exception", "cannot", "unable", "unresolved", "denied", "could not",
		"couldn't", "refused", "abort", "invalid", "violat", "missing", "timeout", "timed out", "crash", "broken",
	}
}

// denied says whether a zero or a no stands beside the word in [start, end) of
// a line: "Failures: 0", "no errors".
func denied(line string, start, end int) bool {
	if next, ok := wordAfter(line, end); ok && next == "0" {
		return true
	}
	switch before := wordBefore(line, start); strings.ToLower(before) {
	case "0", "no", "without":
		return true
	default:
		return false
	}
}

func wordAfter(line string, i int) (string, bool) {
	for i < len(line) && !text.IsWordByte(line[i]) {
		i++
	}
	return line[i:text.WordEnd(line, i)], i < len(line)
}

func wordBefore(line string, i int) string {
	for i > 0 && !text.IsWordByte(line[i-1]) {
		i--
	}
	end := i
	for i > 0 && text.IsWordByte(line[i-1]) {
		i--
	}
	return line[i:end]
}

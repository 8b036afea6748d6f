package main

import (
	"strings"

	"github.com/shadowcourt/shadowcourt/plugins/internal/text"
)

// maxWords bounds how much of one line is read.
const maxWords = 200

// words splits a line into runs of letters and digits, in lower case.
func words(line string) []string { return appendWords(nil, line) }

func appendWords(out []string, line string) []string {
	for i := 0; i < len(line) && len(out) < maxWords; {
		start := i
		for i < len(line) && isWordByte(line[i]) {
			i++
		}
		if i > start {
			out = append(out, lower(line[start:i]))
			continue
		}
		i++
	}
	return out
}

func isWordByte(c byte) bool {
	c = text.Fold(c)
	return 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || c >= 0x80
}

func lower(s string) string {
	for i := range len(s) {
		if text.Fold(s[i]) != s[i] {
			return strings.ToLower(s)
		}
	}
	return s
}

// troubled says whether a line reports trouble: a word that begins as one of
// these, and isn't denied by a zero or a no beside it ("Failures: 0").
func troubled(line []string) bool {
	for i, w := range line {
		if !isTrouble(w) {
			continue
		}
		if i+1 < len(line) && line[i+1] == "0" {
			continue
		}
		if i > 0 && (line[i-1] == "0" || line[i-1] == "no" || line[i-1] == "without") {
			continue
		}
		return true
	}
	return false
}

func isTrouble(w string) bool {
	for _, stem := range [...]string{
		"error", "fail", "fatal", "panic", "exception", "cannot", "unable", "unresolved", "denied",
		"refused", "abort", "invalid", "violat", "missing", "timeout", "timed", "crash", "broken",
	} {
		if strings.HasPrefix(w, stem) {
			return true
		}
	}
	return w == "could" || w == "couldn"
}

// covers says whether a line has every one of the words, in any of their forms.
func covers(line, wanted []string) bool {
	for _, w := range wanted {
		found := false
		for _, have := range line {
			if sameStem(have, w) {
				found = true
				break
			}
		}
		if !found {
			return false
		}
	}
	return true
}

// stemBytes is how much of two long words must agree for them to be forms of
// one: resolve and resolution, dependency and dependencies.
const stemBytes = 5

func sameStem(have, want string) bool {
	if len(want) > stemBytes && len(have) >= stemBytes {
		return have[:stemBytes] == want[:stemBytes]
	}
	return have == want || have == want+"s" || have == want+"ed" || have == want+"ing"
}

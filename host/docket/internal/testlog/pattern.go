package testlog

import (
	"regexp"
	"strings"
)

// pattern is a regular expression that is asked only about lines with one of some words: the expressions here take a
// microsecond for ten bytes, and most lines have none of the words.
type pattern struct {
	*regexp.Regexp

	words []string
}

// words makes a pattern. Every line that the expression matches has to have one of the words, as it is written.
func words(expression string, words ...string) pattern {
	return pattern{regexp.MustCompile(expression), words}
}

func (p pattern) has(line string) bool {
	for _, w := range p.words {
		if strings.Contains(line, w) {
			return true
		}
	}
	return false
}

// MatchString says whether the expression matches.
func (p pattern) MatchString(line string) bool { return p.has(line) && p.Regexp.MatchString(line) }

// FindStringSubmatch gives the groups of the first match, or nil.
func (p pattern) FindStringSubmatch(line string) []string {
	if !p.has(line) {
		return nil
	}
	return p.Regexp.FindStringSubmatch(line)
}

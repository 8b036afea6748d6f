package gotest

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/shadowcourt/shadowcourt/abi"
)

// The bounds of what is cut: of one excerpt, and of how often one rule speaks about one log.
const (
	maxExcerptBytes = 1200
	maxExcerptLines = 16
	maxPerRule      = 3
)

// cut cuts the evidence out of a log: word for word, in the order of the rules. A line is cut once; what repeats an
// earlier excerpt is left out.
func cut(pack, log string) []abi.Evidence {
	c := cutter{lines: strings.Split(strings.TrimSuffix(log, "\n"), "\n"), taken: map[int]bool{}, seen: map[string]bool{}}
	for _, r := range systemRules() {
		c.apply(r)
	}
	clear(c.taken) // an assertion may quote the environment, and both are evidence
	c.frames(pack)
	for _, r := range symptomRules() {
		c.apply(r)
	}
	if c.items == nil {
		c.items = []abi.Evidence{}
	}
	return c.items
}

type cutter struct {
	lines []string
	taken map[int]bool
	seen  map[string]bool
	items []abi.Evidence
}

func (c *cutter) apply(r rule) {
	found := 0
	for i, line := range c.lines {
		if found == maxPerRule {
			return
		}
		if c.taken[i] || !r.match.MatchString(line) {
			continue
		}
		end := i + 1
		if r.block != nil {
			end = min(r.block(c.lines, i), i+maxExcerptLines)
		}
		content := bound(strings.Join(c.lines[i:end], "\n"))
		supports := r.supports
		if r.match == assertionText && comparisonText.MatchString(content) {
			supports = ProductBug
		}
		if c.add(i, end, content, supports, r.confidence, r.element) {
			found++
		}
	}
}

// add notes an excerpt and that its lines are taken; it says whether the excerpt is new.
func (c *cutter) add(from, end int, content, supports string, confidence float64, element abi.Element) bool {
	for i := from; i < end; i++ {
		c.taken[i] = true
	}
	key := strings.TrimSpace(content)
	if key == "" || c.seen[key] {
		return false
	}
	c.seen[key] = true
	c.items = append(c.items, abi.Evidence{
		SourceRef: logName + ":L" + strconv.Itoa(from+1), Content: content,
		RelevanceConfidence: confidence, Supports: supports, Element: element,
	})
	return true
}

// bound shortens an excerpt at a line's or a character's end.
func bound(text string) string {
	if len(text) <= maxExcerptBytes {
		return text
	}
	text = text[:maxExcerptBytes]
	if i := strings.LastIndexByte(text, '\n'); i > 0 {
		return text[:i]
	}
	for len(text) > 0 {
		if r, size := utf8.DecodeLastRuneInString(text); r != utf8.RuneError || size != 1 {
			return text
		}
		text = text[:len(text)-1]
	}
	return text
}

// race goes on to the row of equals signs that ends a report.
func race(lines []string, first int) int {
	end := first + 1
	if !strings.HasPrefix(lines[first], "WARNING") {
		return end
	}
	for end < len(lines) && !strings.HasPrefix(lines[end], "=====") {
		end++
	}
	return end
}

// crashLines goes on to the goroutines of a crash.
func crashLines(lines []string, first int) int {
	end := first + 1
	for end < len(lines) && strings.TrimSpace(lines[end]) != "" && !strings.HasPrefix(lines[end], "goroutine ") {
		end++
	}
	return end
}

// message goes on while the lines are indented deeper than the first, as the lines of one message are. What an example
// printed and should have printed goes to the end.
func message(lines []string, first int) int {
	end := first + 1
	example := lines[first] == "got:"
	for margin := indent(lines[first]); end < len(lines) && (example || indent(lines[end]) > margin); {
		end++
	}
	return end
}

func indent(line string) int {
	n := 0
	for _, r := range line {
		switch r {
		case ' ':
			n++
		case '\t':
			n += 8
		default:
			return n
		}
	}
	return 0 // an empty line ends a message
}

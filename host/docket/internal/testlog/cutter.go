package testlog

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/shadowcourt/shadowcourt/abi"
)

// The bounds of what is cut: of one excerpt, and of how often one rule speaks about one log.
const (
	MaxExcerptBytes = 1200
	MaxExcerptLines = 16
	MaxPerRule      = 3
)

// Matcher says whether a line is one that a rule is about, as a *regexp.Regexp does.
type Matcher interface{ MatchString(line string) bool }

// Rule cuts the lines that match it out of a log.
type Rule struct {
	Match Matcher
	// Supports is the label that the rule speaks for, or empty.
	Supports string
	// Confidence is how much such an excerpt bears on the cause, in [0, 1].
	Confidence float64
	Element    abi.Element
	// Block is how far the excerpt goes beyond its first line; nil for that line alone.
	Block func(lines []string, first int) (end int)
	// Judge gives the label that an excerpt speaks for, or empty to leave it at Supports; nil for Supports always.
	Judge func(content string) string
}

// Cutter cuts evidence out of logs, word for word. A line is cut once; what repeats an earlier excerpt, of this log or of
// another, is left out. Not safe for concurrent use.
type Cutter struct {
	// Lines are those of the open log.
	Lines []string

	name  string
	taken map[int]bool
	seen  map[string]bool
	items []abi.Evidence
}

// NewCutter makes a cutter without a log.
func NewCutter() *Cutter {
	return &Cutter{taken: map[int]bool{}, seen: map[string]bool{}, items: []abi.Evidence{}}
}

// Open continues with another log; name is the document that it is.
func (c *Cutter) Open(name, log string) {
	c.name, c.Lines = name, strings.Split(strings.TrimSuffix(log, "\n"), "\n")
	clear(c.taken)
}

// Release lets the lines that were cut be cut again.
func (c *Cutter) Release() { clear(c.taken) }

// Items are all excerpts so far, never nil.
func (c *Cutter) Items() []abi.Evidence { return c.items }

// Apply cuts what a rule matches. Of more matches than [MaxPerRule] those come first that the rule's Judge gives a label, and then the
// last ones: a test that logs its steps says why it failed at the end.
func (c *Cutter) Apply(r Rule) {
	matches := c.matches(r)
	if r.Judge != nil && len(matches) > MaxPerRule {
		var judged, others []excerpt
		for _, m := range matches {
			if r.Judge(strings.Join(c.Lines[m.first:m.end], "\n")) != "" {
				judged = append(judged, m)
			} else {
				others = append(others, m)
			}
		}
		slices.Reverse(others)
		matches = slices.Concat(judged, others)
	}
	found := 0
	for _, m := range matches {
		if found < MaxPerRule && c.Add(m.first, m.end, r) {
			found++
		}
	}
}

// excerpt are lines from first to before end.
type excerpt struct{ first, end int }

// matches are the excerpts of a rule, in the log's order, without lines that were cut.
func (c *Cutter) matches(r Rule) []excerpt {
	var list []excerpt
	for i := 0; i < len(c.Lines); i++ {
		if c.taken[i] || !r.Match.MatchString(c.Lines[i]) {
			continue
		}
		m := excerpt{i, i + 1}
		if r.Block != nil {
			m.end = min(r.Block(c.Lines, i), i+MaxExcerptLines)
		}
		list, i = append(list, m), m.end-1
	}
	return list
}

// Add cuts the lines from first to before end as the rule says, whether it matches or not, and notes that they are taken.
// It says whether the excerpt is new.
func (c *Cutter) Add(first, end int, r Rule) bool {
	for i := first; i < end; i++ {
		c.taken[i] = true
	}
	content := bound(strings.Join(c.Lines[first:end], "\n"))
	key := strings.TrimSpace(content)
	if key == "" || c.seen[key] {
		return false
	}
	c.seen[key] = true
	supports := r.Supports
	if r.Judge != nil {
		if label := r.Judge(content); label != "" {
			supports = label
		}
	}
	c.items = append(c.items, abi.Evidence{
		SourceRef: c.name + ":L" + strconv.Itoa(first+1), Content: content,
		RelevanceConfidence: r.Confidence, Supports: supports, Element: r.Element,
	})
	return true
}

// bound shortens an excerpt at a line's or a character's end.
func bound(text string) string {
	if len(text) <= MaxExcerptBytes {
		return text
	}
	text = text[:MaxExcerptBytes]
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

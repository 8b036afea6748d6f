// Package group finds failures that have one cause, such as tests that miss the same network, so that one trial decides all of them.
// What makes failures alike is data: rules.yaml.
package group

import (
	_ "embed"
	"errors"
	"fmt"
	"iter"
	"regexp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/docket"
)

//go:embed rules.yaml
var shipped []byte

// Rules say which failures belong together. They are safe for concurrent use.
type Rules []rule

type rule struct {
	name           string
	words          []string
	pattern, after *regexp.Regexp // the last may be nil
}

// Shipped are the rules of rules.yaml.
func Shipped() Rules {
	rules, err := Parse(shipped)
	if err != nil {
		panic(err) // a test reads them
	}
	return rules
}

// Parse reads rules as YAML.
func Parse(data []byte) (Rules, error) {
	var written []struct {
		Name    string   `yaml:"name"`
		Pattern string   `yaml:"pattern"`
		After   string   `yaml:"after"`
		Words   []string `yaml:"words"`
	}
	if err := yaml.Unmarshal(data, &written); err != nil {
		return nil, fmt.Errorf("rules of groups: %w", err)
	}
	rules := make(Rules, len(written))
	for i, w := range written {
		rules[i].name, rules[i].words = w.Name, w.Words
		for _, p := range []struct {
			text string
			to   **regexp.Regexp
		}{{w.Pattern, &rules[i].pattern}, {w.After, &rules[i].after}} {
			if p.text == "" {
				continue
			}
			compiled, err := regexp.Compile("(?m)" + p.text)
			if err != nil {
				return nil, fmt.Errorf("rules of groups: %q: %w", w.Name, err)
			}
			*p.to = compiled
		}
		if w.Name == "" || len(w.Words) == 0 || rules[i].pattern == nil {
			return nil, fmt.Errorf("rules of groups: rule %d needs a name, words and a pattern", i+1)
		}
	}
	return rules, nil
}

// Key is equal for cases that belong together; empty for a case that belongs to no group.
func (r Rules) Key(c *abi.Case) string {
	for i := range r {
		for j := range c.Documents {
			if key := r[i].key(c.Documents[j].Text); key != "" {
				return key + "\x00" + strings.Join(c.Labels, "\x00")
			}
		}
	}
	return ""
}

func (r *rule) key(text string) string {
	if !slices.ContainsFunc(r.words, func(word string) bool { return strings.Contains(text, word) }) {
		return ""
	}
	match := r.pattern.FindStringSubmatchIndex(text)
	if match == nil {
		return ""
	}
	parts := append([]string{r.name}, submatches(text, match)...)
	if r.after != nil {
		behind := text[match[1]:]
		if second := r.after.FindStringSubmatchIndex(behind); second != nil {
			parts = append(parts, submatches(behind, second)...)
		}
	}
	return strings.Join(parts, "\x00")
}

func submatches(text string, match []int) []string {
	var list []string
	for i := 2; i < len(match); i += 2 {
		if match[i] >= 0 {
			list = append(list, figures.ReplaceAllString(text[match[i]:match[i+1]], "#"))
		}
	}
	return list
}

// figures are numbers and addresses, which differ from failure to failure.
var figures = regexp.MustCompile(`\b0x[0-9a-fA-F]+\b|\d+`)

// maxBytes of documents wait for more of their group. Groups of larger reports are cut there.
const maxBytes = 64 << 20

// Entries puts cases of one group into the first entry of the group, as its Members. Entries with a truth or an
// error stay alone. Groups wait for the end of the entries, or until they hold 64 MiB of documents; what belongs to none
// goes on at once.
func (r Rules) Entries(entries iter.Seq2[docket.Entry, error]) iter.Seq2[docket.Entry, error] {
	return func(yield func(docket.Entry, error) bool) {
		w := window{groups: map[string]int{}}
		for entry, err := range entries {
			key := ""
			var line *docket.LineError
			switch {
			case err == nil && entry.Truth == nil:
				key = r.Key(&entry.Case)
			case err != nil && !errors.As(err, &line): // the last
				if !w.give(yield) {
					return
				}
			}
			if key == "" {
				if !yield(entry, err) {
					return
				}
				continue
			}
			w.add(entry, key)
			if w.bytes > maxBytes && !w.give(yield) {
				return
			}
		}
		w.give(yield)
	}
}

// window holds the first entry of each group until no more are looked for.
type window struct {
	entries []docket.Entry
	groups  map[string]int // index of the entry, by key
	bytes   int
}

func (w *window) add(entry docket.Entry, key string) {
	for i := range entry.Case.Documents {
		w.bytes += len(entry.Case.Documents[i].Text)
	}
	if first, ok := w.groups[key]; ok {
		w.entries[first].Members = append(w.entries[first].Members, entry.Case)
		return
	}
	w.groups[key] = len(w.entries)
	w.entries = append(w.entries, entry)
}

func (w *window) give(yield func(docket.Entry, error) bool) bool {
	for i := range w.entries {
		if !yield(w.entries[i], nil) {
			return false
		}
	}
	*w = window{groups: map[string]int{}}
	return true
}

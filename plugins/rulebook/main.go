// Command rulebook evaluates the rules that a user wrote: patterns over the lines of the documents, each with the label that it speaks for.
package main

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/guest"
	"github.com/shadowcourt/shadowcourt/abi/guest/node"
	"github.com/shadowcourt/shadowcourt/plugins/internal/text"
)

func init() { node.Handle(play) }

func main() {}

// play gives an item of evidence for each rule that matches. It concludes nothing: two rules may name different labels.
func play(r *abi.NodeRequest) (*abi.Artifact, *abi.Failure) {
	if r.Family != abi.FamilyInvestigate {
		return nil, guest.Fail(guest.WrongFamily, "the rulebook doesn't play "+string(r.Family))
	}
	rules, failure := read(r.Params)
	if failure != nil {
		return nil, failure
	}
	found := &abi.InvestigateArtifact{Evidence: []abi.Evidence{}}
	for i := range rules {
		item, failure := rules[i].match(&r.Case)
		if failure != nil {
			return nil, failure
		}
		if item != nil {
			found.Evidence = append(found.Evidence, *item)
		}
	}
	return &abi.Artifact{Investigate: found}, nil
}

// rule is one rule, from the parameters NAME.label, NAME.confidence, NAME.match.1, ..., and, optionally, NAME.test.
type rule struct {
	name, label, test string
	confidence        float64
	patterns          []string
}

// read reads the rules in the order of their parameters. Those whose name has no dot, and reasons and owners, are for people.
func read(list []abi.Param) ([]rule, *abi.Failure) {
	var rules []rule
	for i := range list {
		p := &list[i]
		name, part, ok := strings.Cut(p.Name, ".")
		if !ok {
			continue
		}
		at := slices.IndexFunc(rules, func(r rule) bool { return r.name == name })
		if at < 0 {
			at = len(rules)
			rules = append(rules, rule{name: name})
		}
		if !rules[at].set(part, p) {
			return nil, guest.Fail(guest.BadParameter, "a rule has no parameter "+strconv.Quote(part)+" of that kind")
		}
	}
	return rules, nil
}

// set takes a part of a rule, and says whether it is one, of the right kind.
func (r *rule) set(part string, p *abi.Param) bool {
	if part == "confidence" {
		if p.Number == nil || !(*p.Number >= 0 && *p.Number <= 1) { // NaN too
			return false
		}
		r.confidence = *p.Number
		return true
	}
	if p.Text == nil {
		return false
	}
	switch {
	case part == "label":
		r.label = *p.Text
	case part == "test":
		r.test = *p.Text
	case part == "reason", part == "owner":
	case strings.HasPrefix(part, "match."):
		r.patterns = append(r.patterns, *p.Text)
	default:
		return false
	}
	return true
}

// match gives what the rule finds: the first line of each of its patterns, at the place of the first one. It is nil where the label is none
// of the case, the rule is for other tests, or a pattern matches nowhere.
func (r *rule) match(c *abi.CaseView) (*abi.Evidence, *abi.Failure) {
	if len(r.patterns) == 0 || !slices.Contains(c.Labels, r.label) {
		return nil, nil
	}
	if r.test != "" {
		test, failure := r.compile(r.test)
		if failure != nil || !test.MatchString(c.Subject) {
			return nil, failure
		}
	}
	item := &abi.Evidence{RelevanceConfidence: r.confidence, Supports: r.label, Element: abi.Fire}
	var quotes []string
	for i, pattern := range r.patterns {
		compiled, failure := r.compile(pattern)
		if failure != nil {
			return nil, failure
		}
		place, quote := find(compiled, c.Documents)
		if quote == "" {
			return nil, nil
		}
		if i == 0 {
			item.SourceRef = r.name + ":" + place
		}
		if !slices.Contains(quotes, quote) {
			quotes = append(quotes, quote)
		}
	}
	item.Content = strings.Join(quotes, "\n")
	return item, nil
}

func (r *rule) compile(pattern string) (*regexp.Regexp, *abi.Failure) {
	compiled, err := regexp.Compile(pattern)
	if err != nil {
		return nil, guest.Fail(guest.BadParameter, "a pattern of the rule "+strconv.Quote(r.name)+": "+err.Error())
	}
	return compiled, nil
}

// find gives the first line that a pattern matches, with its place; an empty quote for none. A line is matched by itself, so that no pattern
// reaches over its end, and a short text is what the engine is fast on.
func find(pattern *regexp.Regexp, documents []abi.Document) (place, quote string) {
	for i := range documents {
		d := &documents[i]
		number, start := 0, 0
		for line := range strings.Lines(d.Text) {
			number++
			if at := pattern.FindStringIndex(strings.TrimRight(line, "\r\n")); at != nil {
				if quote = text.QuoteAround(d.Text, start+at[0], start+at[1]); quote != "" {
					return d.Name + ":L" + strconv.Itoa(number), quote
				}
			}
			start += len(line)
		}
	}
	return "", ""
}

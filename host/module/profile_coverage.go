package module

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/odds"
)

// ProfileCoverage is what a profile knows of the cases that it is used on.
type ProfileCoverage struct {
	profile         *abi.Profile // nil knows nothing, and is not asked to
	sources, labels map[string]bool
}

// NewProfileCoverage begins without a case.
func NewProfileCoverage(p *abi.Profile) *ProfileCoverage {
	return &ProfileCoverage{profile: p, sources: make(map[string]bool), labels: make(map[string]bool)}
}

// Add notes the labels of a case, and the sources that name one.
func (c *ProfileCoverage) Add(subject *abi.Case) {
	for _, label := range subject.Labels {
		c.labels[label] = true
	}
	for i := range subject.Evidence {
		if e := &subject.Evidence[i]; e.Supports != "" && !abi.IsReserved(e.SourceRef) {
			c.sources[odds.SourceKey(e.SourceRef)] = true
		}
	}
}

// Warnings say what a profile of other cases than these lacks: most of their sources, or labels. Each is a sentence.
func (c *ProfileCoverage) Warnings() []string {
	if c.profile == nil {
		return nil
	}
	var list []string
	if w := c.unknownSources(); w != "" {
		list = append(list, w)
	}
	tables := c.tables()
	if w := c.unknownLabels(tables); w != "" {
		list = append(list, w)
	}
	return append(list, c.mistyped(tables)...)
}

func (c *ProfileCoverage) unknownSources() string {
	if len(c.profile.Sources) == 0 && c.profile.Light == nil {
		return ""
	}
	unknown := others(c.sources, func(source string) bool { return odds.Source(c.profile, source) != nil })
	if n := len(c.sources); 2*len(unknown) > n {
		return fmt.Sprintf("the profile knows %d of the %d sources that name labels in these cases, and not %s: what those say counts little", n-len(unknown), n, listed(unknown))
	}
	return ""
}

func (c *ProfileCoverage) unknownLabels(tables []labelTable) string {
	known := make(map[string]bool)
	for _, t := range tables {
		for _, w := range t.list {
			known[w.Label] = true
		}
	}
	for i := range c.profile.Signals {
		for _, w := range c.profile.Signals[i].Weights {
			known[w.Label] = true
		}
	}
	unknown := others(c.labels, func(label string) bool { return known[label] })
	if len(known) == 0 || len(unknown) == 0 {
		return ""
	}
	text := fmt.Sprintf("the profile knows %d of the %d labels of these cases, and not %s", len(c.labels)-len(unknown), len(c.labels), listed(unknown))
	if unused := others(known, func(label string) bool { return c.labels[label] }); len(unused) > 0 {
		text += "; no case has its " + listed(unused)
	}
	return text
}

// labelTable is a list of a profile that is to have all labels.
type labelTable struct {
	name string
	list []abi.LabelWeight
}

func (c *ProfileCoverage) tables() []labelTable {
	tables := []labelTable{{"base_rates", c.profile.BaseRates}}
	add := func(name string, s *abi.SourceReliability) {
		for i := range s.Statements {
			x := &s.Statements[i]
			tables = append(tables, labelTable{name, x.Given})
			for k := range x.Elements {
				tables = append(tables, labelTable{name, x.Elements[k].Given})
			}
		}
	}
	if c.profile.Light != nil {
		add("light", c.profile.Light)
	}
	for i := range c.profile.Sources {
		add("source "+strconv.Quote(c.profile.Sources[i].Source), &c.profile.Sources[i])
	}
	return tables
}

// mistyped are labels in tables that no case has, beside a case's label much like it that the table lacks.
func (c *ProfileCoverage) mistyped(tables []labelTable) []string {
	var list []string
	for _, t := range tables {
		for _, w := range t.list {
			if c.labels[w.Label] {
				continue
			}
			for _, label := range slices.Sorted(maps.Keys(c.labels)) {
				lacks := !slices.ContainsFunc(t.list, func(w abi.LabelWeight) bool { return w.Label == label })
				if lacks && alike(label, w.Label) {
					list = append(list, fmt.Sprintf("%s of the profile has the label %q, which no case has, and not %q", t.name, w.Label, label))
				}
			}
		}
	}
	return slices.Compact(list)
}

// alike says whether labels differ by capitals, or, if they are no shorter than four letters, in one place: a letter too many, too
// few, another one, or two exchanged.
func alike(a, b string) bool {
	x, y := []rune(strings.ToLower(a)), []rune(strings.ToLower(b))
	if min(len(x), len(y)) < 4 {
		return string(x) == string(y)
	}
	for len(x) > 0 && len(y) > 0 && x[0] == y[0] {
		x, y = x[1:], y[1:]
	}
	for len(x) > 0 && len(y) > 0 && x[len(x)-1] == y[len(y)-1] {
		x, y = x[:len(x)-1], y[:len(y)-1]
	}
	return len(x) <= 1 && len(y) <= 1 || len(x) == 2 && len(y) == 2 && x[0] == y[1] && x[1] == y[0]
}

// others are the names for which known is false, sorted.
func others(names map[string]bool, known func(string) bool) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(names)), known)
}

// listed gives names, at most five of them.
func listed(names []string) string {
	const most = 5
	list := make([]string, 0, most)
	for _, name := range names[:min(len(names), most)] {
		list = append(list, strconv.Quote(name))
	}
	if more := len(names) - most; more > 0 {
		return strings.Join(list, ", ") + " and " + strconv.Itoa(more) + " more"
	}
	return strings.Join(list, ", ")
}

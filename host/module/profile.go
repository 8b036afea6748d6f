package module

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/abi/odds"
	"github.com/shadowcourt/shadowcourt/internal/strictyaml"
)

// LoadProfile reads a profile from a YAML file of at most 4 MiB. Its fields are those of abi.Profile by their wire names. The
// error has all faults, each with file, line, column and path.
func LoadProfile(path string) (*abi.Profile, error) {
	data, err := strictyaml.ReadFile(path, strictyaml.MaxMessageBytes, strictyaml.Open)
	if err != nil {
		return nil, err
	}
	return ParseProfile(path, data)
}

// ParseProfile is [LoadProfile] for bytes; file is the name for messages.
func ParseProfile(file string, data []byte) (*abi.Profile, error) {
	var p abi.Profile
	err := strictyaml.Message(file, data, func(message []byte) (err error) {
		p, err = codec.DecodeProfile(message, len(message))
		return err
	})
	if err != nil {
		return nil, err
	}
	var faults []error
	for i := range p.Sources {
		stated := p.Sources[i].Stated
		if stated != nil && stated.Range != nil && stated.Range.Least > stated.Range.Most {
			faults = append(faults, fmt.Errorf("%s: sources[%d].stated.range: least is %v, which is above most, %v", file, i, stated.Range.Least, stated.Range.Most))
		}
	}
	if p.Outcomes != nil {
		faults = append(faults, outcomeFaults(file, p.Outcomes)...)
	}
	if len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	return &p, nil
}

// outcomeFaults are what the types of an outcome model don't say.
func outcomeFaults(file string, m *abi.OutcomeModel) (faults []error) {
	add := func(format string, args ...any) {
		faults = append(faults, fmt.Errorf("%s: outcomes.patterns"+format, append([]any{file}, args...)...))
	}
	for i := range m.Patterns {
		p := &m.Patterns[i]
		for j := range p.Rates {
			r := &p.Rates[j]
			if !slices.ContainsFunc(m.Shapes, func(s abi.RateShape) bool { return s.Name == r.Shape }) {
				add("[%d].rates[%d].shape: there is no shape %q", i, j, r.Shape)
			}
			if r.Above != "" && (r.Above == r.Name || !slices.ContainsFunc(p.Rates, func(o abi.OutcomeRate) bool { return o.Name == r.Above })) {
				add("[%d].rates[%d].above: %q is no other rate of the pattern", i, j, r.Above)
			}
		}
	}
	for _, e := range cells() {
		var has, lacks []int
		for i := range m.Patterns {
			if odds.HasCell(&m.Patterns[i], &e) {
				has = append(has, i)
			} else {
				lacks = append(lacks, i)
			}
		}
		if len(has) > 0 && len(lacks) > 0 {
			add("[%d]: no rate has %s/%s in the environment %s, order %s, which patterns[%d] has: their probabilities can't be compared",
				lacks[0], e.Product, e.Tests, e.Environment, e.Order, has[0])
			break
		}
	}
	return faults
}

// cells are all places in which a test may be run.
func cells() (list []abi.Experiment) {
	trees := []abi.TreeRevision{abi.Head, abi.Base, abi.Target, abi.Merge}
	for _, product := range trees {
		for _, tests := range trees {
			for _, environment := range []abi.RunEnvironment{abi.OriginalEnvironment, abi.CleanEnvironment, abi.StarvedEnvironment, abi.CoverageEnvironment} {
				for _, order := range []abi.RunOrder{abi.Alone, abi.OriginalOrder} {
					list = append(list, abi.Experiment{Product: product, Tests: tests, Environment: environment, Order: order})
				}
			}
		}
	}
	return list
}

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
	unknown, n := others(c.sources, func(source string) bool { return odds.Source(c.profile, source) != nil }), len(c.sources)
	if (len(c.profile.Sources) > 0 || c.profile.Light != nil) && 2*len(unknown) > n {
		list = append(list, fmt.Sprintf("the profile knows %d of the %d sources that name labels in these cases, and not %s: what those say counts little", n-len(unknown), n, listed(unknown)))
	}
	known := map[string]bool{}
	add := func(weights []abi.LabelWeight) {
		for _, w := range weights {
			known[w.Label] = true
		}
	}
	add(c.profile.BaseRates)
	for i := range c.profile.Sources {
		for _, s := range c.profile.Sources[i].Statements {
			add(s.Given)
		}
	}
	for i := range c.profile.Signals {
		add(c.profile.Signals[i].Weights)
	}
	if unknown = others(c.labels, func(label string) bool { return known[label] }); len(known) > 0 && len(unknown) > 0 {
		text := fmt.Sprintf("the profile knows %d of the %d labels of these cases, and not %s", len(c.labels)-len(unknown), len(c.labels), listed(unknown))
		if unused := others(known, func(label string) bool { return c.labels[label] }); len(unused) > 0 {
			text += "; no case has its " + listed(unused)
		}
		list = append(list, text)
	}
	return list
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

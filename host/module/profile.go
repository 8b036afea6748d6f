package module

import (
	"errors"
	"fmt"
	"slices"

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

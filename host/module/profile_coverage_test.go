package module_test

import (
	"slices"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/module"
)

func given(labels ...string) []abi.LabelWeight {
	var list []abi.LabelWeight
	for _, label := range labels {
		list = append(list, abi.LabelWeight{Label: label, Weight: 0.5})
	}
	return list
}

func TestCoverageWarnsOfAProfileOfOtherCases(t *testing.T) {
	t.Parallel()
	source := func(name string, table []abi.LabelWeight) abi.SourceReliability {
		return abi.SourceReliability{Source: name, Statements: []abi.SourceStatement{{Says: "leak", Given: table}}}
	}
	labels := given("leak", "quota")
	for _, tc := range []struct {
		name string
		p    *abi.Profile
		want []string
	}{
		{"no profile", nil, nil},
		{"one that changes nothing", &abi.Profile{Name: "none"}, nil},
		{"of experiments alone", &abi.Profile{Outcomes: &abi.OutcomeModel{}}, nil},
		{"of these cases", &abi.Profile{BaseRates: labels, Sources: []abi.SourceReliability{source("a", labels), source("b", labels)}}, nil},
		{"half of the sources", &abi.Profile{BaseRates: labels, Sources: []abi.SourceReliability{source("a", labels)}}, nil},
		{"of more labels", &abi.Profile{BaseRates: given("leak", "load", "quota")}, nil},
		{"of other sources", &abi.Profile{BaseRates: labels, Light: &abi.SourceReliability{}}, []string{
			`the profile knows 0 of the 2 sources that name labels in these cases, and not "a", "b": what those say counts little`,
		}},
		{"of other labels", &abi.Profile{BaseRates: given("bug", "flake", "quota")}, []string{
			`the profile knows 1 of the 2 labels of these cases, and not "leak"; no case has its "bug", "flake"`,
		}},
		{"no label", &abi.Profile{Signals: []abi.Signal{{Weights: given("bug")}}}, []string{
			`the profile knows 0 of the 2 labels of these cases, and not "leak", "quota"; no case has its "bug"`,
		}},
		{"a slip in a table", &abi.Profile{BaseRates: labels, Sources: []abi.SourceReliability{source("a", given("leak", "qouta")), source("b", given("Leak", "quota"))}}, []string{
			`source "a" of the profile has the label "qouta", which no case has, and not "quota"`,
			`source "b" of the profile has the label "Leak", which no case has, and not "leak"`,
		}},
		{"labels alike, both known", &abi.Profile{BaseRates: given("leak", "leaks", "quota")}, nil},
	} {
		c := module.NewProfileCoverage(tc.p)
		for range 2 {
			c.Add(&abi.Case{Labels: []string{"leak", "quota"}, Evidence: []abi.Evidence{
				{SourceRef: "a:1", Supports: "leak"}, {SourceRef: "b#2", Supports: "quota"}, {SourceRef: "mute"}, {SourceRef: "casebook:1", Supports: "leak"},
			}})
		}
		if got := c.Warnings(); !slices.Equal(got, tc.want) {
			t.Errorf("%s: got %q, want %q", tc.name, got, tc.want)
		}
	}
}

package module_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/module"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// Weights out of range and labels and phrases that repeat are reported where they stand, all at once.
func TestAccept_QU2_WeightsAreBoundedAndNothingRepeats(t *testing.T) {
	t.Parallel()
	_, err := module.ParseProfile("mine.yaml", []byte(`name: mine
base_rates: [{label: a, weight: 0.5}, {label: a, weight: 0.5}]
sources: []
signals:
  - {phrase: Disk, weights: [{label: a, weight: 21.0}, {label: b, weight: 1.0}, {label: b, weight: 2.0}]}
  - {phrase: disk, weights: [{label: a, weight: -20.5}]}
signal_cap: 25.0
`))
	if err == nil {
		t.Fatal("no fault")
	}
	for _, want := range []string{
		"mine.yaml:2:47: base_rates[1].label", "mine.yaml:5:49: signals[0].weights[0].weight", "mine.yaml:5:89: signals[0].weights[2].label",
		"mine.yaml:6:14: signals[1].phrase", "mine.yaml:6:49: signals[1].weights[0].weight", "mine.yaml:7:13: signal_cap",
	} {
		check.Contains(t, err.Error(), want, "no", "in", err)
	}
}

// A range of confidences whose ends are exchanged means nothing.
func TestRangesOfConfidencesHaveAnOrder(t *testing.T) {
	t.Parallel()
	const text = "name: mine\nbase_rates: []\nsources:\n  - {source: a, statements: [], share: 1.0, cap: 3.0, stated: {offset: 0.0, slope: 1.0, range: {least: LEAST, most: 0.8}}}\nsignals: []\nsignal_cap: 1.0\n"
	if _, err := module.ParseProfile("mine.yaml", []byte(strings.Replace(text, "LEAST", "0.9", 1))); err == nil || !strings.Contains(err.Error(), "mine.yaml: sources[0].stated.range: least is 0.9") {
		t.Errorf("an exchanged range: %v", err)
	}
	must.Get(module.ParseProfile("mine.yaml", []byte(strings.Replace(text, "LEAST", "0.8", 1))))(t)
}

// TestFaultsOfOutcomeModelsHaveTheirPlace: what the types of a model don't say is told with its place, all at once.
func TestFaultsOfOutcomeModelsHaveTheirPlace(t *testing.T) {
	t.Parallel()
	const text = `name: p
base_rates: []
sources: []
signals: []
signal_cap: 1.0
outcomes:
  alone: false
  shapes:
    - {name: fails, passed: 0.1, same: 20, other: 0.1}
  patterns:
    - name: broken
      labels: [{label: a, weight: 1}]
      rates: [{name: head, product: head, shape: fails}, {name: x, shape: passes, above: x}, {shape: fails, above: none}]
      absent: 0.6
      changed: 0.1
      executed: 0.0
`
	_, err := module.ParseProfile("p.yaml", []byte(text))
	want := []string{
		`p.yaml: outcomes.patterns[0].rates[1].shape: there is no shape "passes"`,
		`p.yaml: outcomes.patterns[0].rates[1].above: "x" is no other rate of the pattern`,
		`p.yaml: outcomes.patterns[0].rates[2].above: "none" is no other rate of the pattern`,
	}
	if err == nil || strings.Count(err.Error(), "\n")+1 != len(want) {
		t.Fatalf("got %v", err)
	}
	for _, part := range want {
		check.Contains(t, err.Error(), part, "the error", err)
	}
	sound := strings.NewReplacer("passes, above: x", "fails, above: head", "above: none", "above: head").Replace(text)
	p, err := module.ParseProfile("p.yaml", []byte(sound))
	if err != nil || len(p.Outcomes.Patterns) != 1 || p.Outcomes.Patterns[0].Rates[1].Above != "head" {
		t.Errorf("a sound model: %v", err)
	}
}

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

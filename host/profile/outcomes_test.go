package profile_test

import (
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/host/profile"
)

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
	_, err := profile.Parse("p.yaml", []byte(text))
	want := []string{
		`p.yaml: outcomes.patterns[0].rates[1].shape: there is no shape "passes"`,
		`p.yaml: outcomes.patterns[0].rates[1].above: "x" is no other rate of the pattern`,
		`p.yaml: outcomes.patterns[0].rates[2].above: "none" is no other rate of the pattern`,
	}
	if err == nil || strings.Count(err.Error(), "\n")+1 != len(want) {
		t.Fatalf("got %v", err)
	}
	for _, part := range want {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("the error lacks %q:\n%v", part, err)
		}
	}
	sound := strings.NewReplacer("passes, above: x", "fails, above: head", "above: none", "above: head").Replace(text)
	p, err := profile.Parse("p.yaml", []byte(sound))
	if err != nil || len(p.Outcomes.Patterns) != 1 || p.Outcomes.Patterns[0].Rates[1].Above != "head" {
		t.Errorf("a sound model: %v", err)
	}
}

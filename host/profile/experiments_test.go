package profile_test

import (
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/host/profile"
)

// Faults of the tables of experiments are reported where they stand, all at once.
func TestFaultsOfExperimentTablesHaveTheirPlace(t *testing.T) {
	t.Parallel()
	_, err := profile.Parse("mine.yaml", []byte(`name: mine
base_rates: []
sources: []
signals: []
signal_cap: 1.0
experiments:
  - experiment: {product: head, tests: heads, environment: original, order: alone, runs: 0}
    outcomes:
      - {outcome: passed, given: [{label: a, weight: 0.0}, {label: a, weight: 0.5}]}
      - {outcome: passed, given: []}
      - {outcome: failed, given: []}
`))
	if err == nil {
		t.Fatal("no fault")
	}
	for _, want := range []string{
		"mine.yaml:7:40: experiments[0].experiment.tests", "mine.yaml:7:90: experiments[0].experiment.runs",
		"mine.yaml:9:54: experiments[0].outcomes[0].given[0].weight", "mine.yaml:9:68: experiments[0].outcomes[0].given[1].label",
		"mine.yaml:10:19: experiments[0].outcomes[1].outcome", "mine.yaml:11:19: experiments[0].outcomes[2].outcome",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("no %q in\n%v", want, err)
		}
	}
}

package odds

import (
	"math"

	"github.com/shadowcourt/shadowcourt/abi"
)

// CauseProbability is P(cause | the label is true, and experiments have shown this). A label without causes is one of its own name.
type CauseProbability struct {
	Name        string
	Probability float64
}

// Causes are those of a label, as AddExperiments reads results.
func Causes(label string, p *abi.Profile, results []abi.ExperimentResult) []CauseProbability {
	causes := causesOf([]string{label}, p, testOf(results))
	nats := causes.nats(p, results, false)
	total := causes.sum(0, nats)
	list := make([]CauseProbability, len(causes))
	for c := range causes {
		list[c] = CauseProbability{causes[c].name, causes[c].share * math.Exp(nats[c]-total)}
	}
	return list
}

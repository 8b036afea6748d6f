package odds

import "math"

// Bounds without a profile, in nats. A witness whose reliability nobody has
// measured is never surer than 18 to 1 (2.9); several statements of one source
// corroborate each other up to 36 to 1 (3.6), since they share its errors. All
// sources for one label count as two of the surest (5.8): anybody can bring any
// number of sources.
// Light is on trial: its own statement counts at most 2.7 to 1, and so does all
// that a language model states, which anybody can talk to who writes a log.
const (
	UnmeasuredItem   = 2.9
	UnmeasuredSource = 3.6
	UnmeasuredAll    = 2 * UnmeasuredItem
	UnmeasuredLight  = 1.0
	UnmeasuredModel  = 1.0
)

// Unmeasured is what the word of a witness counts, in one of k labels, whose
// reliability nobody has measured: its nats at their own confidence. Those who
// state what they believe are surer than they are right, the more so the less sure
// they are, and together they share what misleads them.
func Unmeasured(confidence float64, k int) float64 {
	return confidence * Witness(confidence, k, UnmeasuredItem)
}

// Beyond is what a word for a label says beyond what puts that label ahead
// already, in nats. Against what speaks for another label it counts in full.
func Beyond(nats []float64, j int, word float64) float64 {
	return max(word-max(ahead(nats, j), 0), 0)
}

// ahead is by how many nats a label leads the next.
func ahead(nats []float64, j int) float64 {
	lead := math.Inf(1)
	for i, x := range nats {
		if i != j {
			lead = min(lead, nats[j]-x)
		}
	}
	return lead
}

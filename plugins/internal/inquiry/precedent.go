package inquiry

import "github.com/shadowcourt/shadowcourt/abi"

// noSurer holds an estimate to what its parts can say. An earlier verdict on
// the same failure rests on the same text: together with that text it makes
// its label as probable as the verdict was or as the text makes it, whichever
// is more, and no more than that. own are the probabilities without the
// earlier cases.
func noSurer(posterior, own []float64, r *abi.NodeRequest) {
	for j, label := range r.Case.Labels {
		said := saidOf(r.File, label)
		most := max(own[j], said)
		if said == 0 || posterior[j] <= most {
			continue
		}
		rest := (1 - most) / (1 - posterior[j])
		for i := range posterior {
			posterior[i] *= rest
		}
		posterior[j] = most
	}
}

// saidOf is how sure the earlier cases are of a label; 0 where none names it.
func saidOf(f *abi.LightFile, label string) float64 {
	said := 0.0
	if f.Recall != nil && f.Recall.Match && f.Recall.Classification == label {
		said = f.Recall.Confidence
	}
	if f.Correlate != nil && f.Correlate.LinkedCase != "" && f.Correlate.Classification == label {
		said = max(said, f.Correlate.Confidence)
	}
	return said
}

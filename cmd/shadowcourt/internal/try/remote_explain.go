package try

import (
	"slices"

	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/input"
)

// explained finds the trial that --explain asks for, as it is found in dockets on this machine: by the id of a case, or else by its end,
// where only one case has it. A case that failed like another one is in that one's trial.
type explained struct {
	exact      bool
	ends       []*trial.Trial // whose id ends so: at most two
	passedOver []string
}

// wants says whether a trial is to be written. Without an id all are.
func (e *explained) wants(id string, t *trial.Trial) bool {
	if id == "" {
		return true
	}
	if t.Case.ID == id || slices.Contains(t.Result.Members, id) {
		e.exact = true
		return true
	}
	for _, own := range append([]string{t.Case.ID}, t.Result.Members...) {
		e.passedOver = input.PassOver(e.passedOver, own, id)
		if len(e.ends) < 2 && input.EndsWith(own, id) {
			e.ends = append(e.ends, t)
		}
	}
	return false
}

// short is the trial of the only case whose id ends as it was asked for; nil where there is none, or the id was found.
func (e *explained) short() *trial.Trial {
	if e.exact || len(e.ends) != 1 {
		return nil
	}
	return e.ends[0]
}

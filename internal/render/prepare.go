package render

import "github.com/shadowcourt/shadowcourt/host/trial"

// BesideJSON is both trials of a case that a candidate court took part in.
type BesideJSON struct {
	ID string `json:"id"`
	// Flips: the two end with another status or another label.
	Flips bool `json:"flips"`
	// Truth is the right classification, null where it is not known.
	Truth     *string       `json:"truth"`
	Court     *trial.Result `json:"court"`
	Candidate *trial.Result `json:"candidate"`
}

// NewBesideJSON states both trials of a case; nil where no candidate took part. Timings are left out.
func NewBesideJSON(t *trial.Trial) *BesideJSON {
	if t.Beside == nil {
		return nil
	}
	court, candidate := t.Result, t.Beside.Result
	court.Timings, candidate.Timings = nil, nil
	line := &BesideJSON{ID: t.Result.ID, Flips: t.Compare().BesideFlips, Court: &court, Candidate: &candidate}
	if t.Truth != nil && t.Truth.Classification != "" {
		line.Truth = &t.Truth.Classification
	}
	return line
}

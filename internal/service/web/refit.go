package web

import (
	"net/http"
	"strconv"
)

// refitView is the page of a refit.
type refitView struct {
	*Refit
	// Missing is how many more labels must be known.
	Missing int
	Flips   []refitFlip
	Profile string
	// Accuracy of the court in force and with the new profile, of the held-out results, and the bars of both.
	InForce, Candidate               string
	InForcePercent, CandidatePercent int
	P                                string
}

// refitFlip is a flip with its trial.
type refitFlip struct {
	RefitFlip
	Href string
}

// mostRefitFlips is how many are kept for the page.
const mostRefitFlips = 50

func (s *site) refit(w http.ResponseWriter, r *http.Request) error {
	state, err := s.config.Backend.Refit(r.Context())
	if err != nil {
		return err
	}
	if state == nil {
		return ErrNotFound
	}
	v := refitView{Refit: state, Missing: max(state.Needed-state.Known, 0)}
	if o := state.Outcome; o != nil {
		v.Profile = string(o.Profile)
		v.compare(o)
	}
	page := &view{Page: "refit", Section: "quality", Title: "Refit", Data: v}
	if state.Running {
		page.Live = -1
	}
	return s.show(w, r, http.StatusOK, page)
}

func (v *refitView) compare(o *RefitOutcome) {
	if t := o.Compared.Truth; t != nil {
		v.InForce, v.Candidate = percent(t.CourtRight, t.Cases), percent(t.CandidateRight, t.Cases)
		v.InForcePercent, v.CandidatePercent = share(t.CourtRight, t.Cases), share(t.CandidateRight, t.Cases)
		v.P = strconv.FormatFloat(t.P, 'f', 3, 64)
	}
	for _, f := range o.Flips {
		v.Flips = append(v.Flips, refitFlip{f, "/trials/" + f.ID})
	}
}

func (s *site) startRefit(w http.ResponseWriter, r *http.Request) error {
	if err := s.config.Backend.StartRefit(r.Context()); err != nil {
		return err
	}
	http.Redirect(w, r, "/quality/refit", http.StatusSeeOther)
	return nil
}

// takeRefit adds a generation with the profile, and asks whether to swap to it.
func (s *site) takeRefit(w http.ResponseWriter, r *http.Request) error {
	id, err := s.config.Backend.TakeRefit(r.Context())
	if err != nil {
		return err
	}
	http.Redirect(w, r, "/modules/"+strconv.FormatInt(id, 10)+"/activate", http.StatusSeeOther)
	return nil
}

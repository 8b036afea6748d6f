package web

import (
	"net/http"
	"strconv"

	"github.com/shadowcourt/shadowcourt/host/calibrate/compare"
)

// refitView is the page of a refit.
type refitView struct {
	*Refit
	// Missing is how many more labels must be known.
	Missing int
	Flips   []refitFlip
	// Accuracy of the court in force and with the new profile, of the held-out results, and the bars of both.
	InForce, Candidate               string
	InForcePercent, CandidatePercent int
	P                                string
}

// refitFlip is a result that the new profile would end otherwise.
type refitFlip struct {
	Href             string
	Name             string
	Court, Candidate string
	Mark             compare.Mark
}

// mostRefitFlips is how many the page lists.
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
	if p := state.Proposal; p != nil {
		v.compare(p.Compared)
	}
	page := &view{Page: "refit", Section: "quality", Title: "Refit", Data: v}
	if state.Running {
		page.Live = -1
	}
	return s.show(w, r, http.StatusOK, page)
}

func (v *refitView) compare(c *compare.Report) {
	if t := c.Truth; t != nil {
		v.InForce, v.Candidate = percent(t.CourtRight, t.Cases), percent(t.CandidateRight, t.Cases)
		v.InForcePercent, v.CandidatePercent = share(t.CourtRight, t.Cases), share(t.CandidateRight, t.Cases)
		v.P = strconv.FormatFloat(t.P, 'f', 3, 64)
	}
	for _, f := range c.Flips[:min(len(c.Flips), mostRefitFlips)] {
		v.Flips = append(v.Flips, refitFlip{
			Href: "/trials/" + f.ID, Name: f.ID, Court: f.Court.End(), Candidate: f.Candidate.End(), Mark: f.Mark,
		})
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

package web

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/shadowcourt/shadowcourt/internal/calibrate"
	"github.com/shadowcourt/shadowcourt/internal/service/api"
	"github.com/shadowcourt/shadowcourt/internal/service/auth"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
	"github.com/shadowcourt/shadowcourt/internal/service/work"
)

const (
	// refitTime is the most that a refit may take.
	refitTime = 30 * time.Minute
	// refitBeat is how often its process says that it lives.
	refitBeat = store.RefitTimeout / 6
	// refitEnd is how long its end may take to be kept when the process is told to stop.
	refitEnd = 10 * time.Second
	// mostRefitFlips is how many are kept for the page.
	mostRefitFlips = 50
)

// refitState is a refit that is running, or what came of it.
type refitState struct {
	store.Refit
	// Known labels there are, Needed are at least.
	Known, Needed int
	// Outcome is nil until there is one.
	Outcome *refitOutcome
}

// Missing is how many more labels must be known.
func (r *refitState) Missing() int { return max(r.Needed-r.Known, 0) }

// refitOutcome is what came of a refit. The flips of its comparison are only those here.
type refitOutcome struct {
	work.Proposal
	Flips    []refitFlip // the first ones
	AllFlips int
}

// refitFlip is a result that the new profile would end otherwise.
type refitFlip struct {
	ID, Court, Candidate string
	Mark                 calibrate.Mark
}

// refitState reads how far the refit is; nil where there can be none: a refit is about the cases of all repositories.
func (s *site) refitState(ctx context.Context) (*refitState, error) {
	if s.Refit == nil || auth.From(ctx).Limited() {
		return nil, nil //nolint:nilnil // there is none
	}
	known, err := s.Store.CountKnown(ctx)
	if err != nil {
		return nil, err
	}
	kept, err := s.Store.Refit(ctx)
	if err != nil {
		return nil, err
	}
	out := &refitState{Refit: kept, Known: known, Needed: work.LeastKnown}
	if kept.Outcome != "" {
		err = json.Unmarshal([]byte(kept.Outcome), &out.Outcome) //nolint:musttag // the row is of this package alone
	}
	return out, err
}

// refitView is the page of a refit.
type refitView struct {
	*refitState
	Profile string
	// Accuracy of the court in force and with the new profile, of the held-out results, and the bars of both.
	InForce, Candidate               string
	InForcePercent, CandidatePercent int
	P                                string
}

func (s *site) refit(w http.ResponseWriter, r *http.Request) error {
	state, err := s.refitState(r.Context())
	if err != nil {
		return err
	}
	if state == nil {
		return store.ErrNotFound
	}
	v := refitView{refitState: state}
	if o := state.Outcome; o != nil {
		v.Profile = string(o.Profile)
		if t := o.Compared.Truth; t != nil {
			v.InForce, v.Candidate = percent(t.CourtRight, t.Cases), percent(t.CandidateRight, t.Cases)
			v.InForcePercent, v.CandidatePercent = share(t.CourtRight, t.Cases), share(t.CandidateRight, t.Cases)
			v.P = strconv.FormatFloat(t.P, 'f', 3, 64)
		}
	}
	page := &view{Page: "refit", Section: "quality", Title: "Refit", Data: v}
	if state.Running {
		page.Live = -1
	}
	return s.show(w, r, http.StatusOK, page)
}

// startRefit begins a refit in the background.
func (s *site) startRefit(w http.ResponseWriter, r *http.Request) error {
	if s.Refit == nil {
		return store.ErrNotFound
	}
	holder := rand.Text()
	err := s.Store.BeginRefit(r.Context(), holder, "beginning")
	if errors.Is(err, store.ErrState) {
		return invalid("a refit is running already")
	}
	if err != nil {
		return err
	}
	s.Background(r.Context(), func(ctx context.Context) { s.carryOut(ctx, holder) })
	http.Redirect(w, r, "/quality/refit", http.StatusSeeOther)
	return nil
}

// carryOut refits, and keeps what came of it for all processes.
func (s *site) carryOut(ctx context.Context, holder string) {
	ctx, cancel := context.WithTimeout(ctx, refitTime)
	defer cancel()
	steps, beating := make(chan string), make(chan struct{})
	go func() {
		defer close(beating)
		s.beat(ctx, holder, steps)
	}()
	proposal, err := s.Refit(ctx, func(step string) {
		select {
		case steps <- step:
		case <-ctx.Done():
		}
	})
	outcome, failure := "", ""
	if err == nil {
		outcome, err = outcomeOf(proposal)
	}
	switch {
	case err != nil && ctx.Err() != nil:
		failure = "it took too long, or its process was stopped; refit again"
	case err != nil:
		failure = err.Error()
	}
	ending, done := context.WithTimeout(context.WithoutCancel(ctx), refitEnd)
	defer done()
	cancel()
	<-beating
	// A database that can't be written shows the refit as gone in a while.
	_ = s.Store.EndRefit(ending, holder, outcome, failure)
}

// beat notes steps, and that the process lives.
func (s *site) beat(ctx context.Context, holder string, steps <-chan string) {
	tick := time.NewTicker(refitBeat)
	defer tick.Stop()
	for step := "beginning"; ; {
		select {
		case <-ctx.Done():
			return
		case step = <-steps:
		case <-tick.C:
		}
		_ = s.Store.NoteRefit(ctx, holder, step) // the next beat tells it again
	}
}

// outcomeOf is what the page shows of a proposal.
func outcomeOf(p *work.Proposal) (string, error) {
	out := refitOutcome{Proposal: *p, AllFlips: len(p.Compared.Flips)}
	for _, f := range p.Compared.Flips[:min(len(p.Compared.Flips), mostRefitFlips)] {
		out.Flips = append(out.Flips, refitFlip{f.ID, f.Court.End(), f.Candidate.End(), f.Mark})
	}
	compared := *p.Compared
	compared.Flips, out.Compared = nil, &compared
	text, err := json.Marshal(out) //nolint:musttag // the row is of this package alone
	return string(text), err
}

// takeRefit adds a generation with the profile, and asks whether to swap to it.
func (s *site) takeRefit(w http.ResponseWriter, r *http.Request) error {
	state, err := s.refitState(r.Context())
	if err != nil {
		return err
	}
	if state == nil || state.Outcome == nil {
		return invalid("there is no profile to take: refit first")
	}
	g, err := s.AddGeneration(r.Context(), &api.AddGenerationRequest{
		Files: map[string][]byte{state.Outcome.File: state.Outcome.Profile}, Note: "a profile that was learned from corrections",
	})
	if err != nil {
		return err
	}
	http.Redirect(w, r, generationPath(g.ID)+"/activate", http.StatusSeeOther)
	return nil
}

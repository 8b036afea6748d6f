package web

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/render"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
)

// caseView is an entry with all that is known of it.
type caseView struct {
	entryView
	Revision string
	// State is that of its docket.
	State store.State
	// Case has the documents.
	Case abi.Case
	// Trial is nil until it was tried.
	Trial *trial.Trial
}

// caseOf reads the entry in the path.
func (s *site) caseOf(r *http.Request) (*caseView, error) {
	ctx := r.Context()
	id, err := store.ParseTrialID(r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	t, err := s.Store.Trial(ctx, id)
	if err != nil {
		return nil, err
	}
	d, err := s.Store.Docket(ctx, id.Docket)
	if err != nil {
		return nil, err
	}
	v := &caseView{entryView: newEntryView(&t.Entry, s.namer(ctx)(t.Generation)), Revision: d.Revision, State: d.State}
	if t.Trial == nil {
		return v, nil
	}
	v.Case = t.Trial.Case
	if about := t.Trial.About(); strings.TrimSpace(about) != "" {
		v.Headline = about
	}
	if t.Status != "" {
		v.Trial = t.Trial
	}
	return v, nil
}

// correctionView is a correction of a case.
type correctionView struct {
	store.Correction
	Before string // the label before it
	// Superseded: a later correction is in force.
	Superseded bool
}

// history reads the corrections of a case, the first one first.
func (s *site) history(ctx context.Context, v *caseView) (history []correctionView, inForce *correctionView, err error) {
	list, err := s.Store.CorrectionsOf(ctx, v.ID)
	slices.Reverse(list)
	history = make([]correctionView, len(list))
	before := v.Label
	for i := range list {
		history[i] = correctionView{Correction: list[i], Before: before}
		if list[i].Undone.IsZero() {
			if inForce != nil {
				inForce.Superseded = true
			}
			before, inForce = list[i].Label, &history[i]
		}
	}
	return history, inForce, err
}

// trialView is the page of a trial.
type trialView struct {
	*caseView
	Shown     *render.Parts
	Logs      []documentView
	Diffs     []documentView
	Back      string
	Evidence  []briefItem
	Buttons   []labelButton
	History   []correctionView
	InForce   *correctionView
	GroupSize int // cases of its group that need a person
	Proof     *proofView
}

func (s *site) trial(w http.ResponseWriter, r *http.Request) error {
	c, err := s.caseOf(r)
	if err != nil {
		return err
	}
	v := trialView{caseView: c, Back: r.URL.Path, Buttons: c.buttons()}
	if v.History, v.InForce, err = s.history(r.Context(), c); err != nil {
		return err
	}
	if v.GroupSize, err = s.Store.InGroup(r.Context(), c.Group); err != nil {
		return err
	}
	if v.Proof, err = proofOf(c); err != nil {
		return err
	}
	l := newLibrary(c.Case.Documents)
	l.markTrial(c)
	if c.Trial != nil {
		v.Shown, err = render.NewParts(c.Trial, func(source, quote string) string {
			if document, line := l.place(source, quote); line > 0 {
				return "#" + lineID(document, line)
			}
			return ""
		})
		if err != nil {
			return err
		}
	} else {
		v.Evidence = briefItems(c, 8)
	}
	for _, d := range l.views(c.ID) {
		if d.Diff {
			v.Diffs = append(v.Diffs, d)
			continue
		}
		v.Logs = append(v.Logs, d)
	}
	page := &view{Page: "trial", Section: "inbox", Title: c.Headline, Data: v}
	if c.Trial == nil && c.Fault == "" {
		page.Live = c.Docket
	}
	return s.show(w, r, http.StatusOK, page)
}

// briefView explains a case in the inbox: what the court says, by which lines, and what would settle it.
type briefView struct {
	*caseView
	Why      string
	Evidence []briefItem
	Gaps     []trial.Gap
	Proposal *trial.Proposal
}

// briefItem is a line of evidence.
type briefItem struct {
	Label  labelView
	Source string
	Text   string
	Weight float64
}

func (s *site) brief(w http.ResponseWriter, r *http.Request) error {
	c, err := s.caseOf(r)
	if err != nil {
		return err
	}
	v := briefView{caseView: c, Evidence: briefItems(c, 5)}
	if c.Trial != nil {
		v.Why = c.Trial.Result.Why()
		if v.Why == "" && c.Trial.Case.Light != nil {
			v.Why = c.Trial.Case.Light.Reasoning
		}
		if b := c.Trial.Result.GapBrief; b != nil {
			v.Gaps = b.Gaps[:min(len(b.Gaps), 3)]
		}
		v.Proposal = c.Trial.Result.Proposal
	}
	return s.show(w, r, http.StatusOK, &view{Page: "brief", Section: "inbox", Title: c.Headline, Data: v})
}

// leastWeight is what an item weighs that says something.
const leastWeight = 0.01

// briefItems are the items with the most weight: those of the charge, or without one those of the case.
func briefItems(c *caseView, most int) []briefItem {
	var list []briefItem
	if c.Trial != nil && len(c.Trial.Passes) > 0 {
		for _, item := range c.Trial.Passes[len(c.Trial.Passes)-1].Items() {
			if !item.Struck && item.Weight >= leastWeight {
				list = append(list, briefItem{labelOf(c.Labels, item.Supports), item.SourceRef, item.Content, item.Weight})
			}
		}
	}
	if len(list) == 0 {
		for i := range c.Case.Evidence {
			e := &c.Case.Evidence[i]
			list = append(list, briefItem{labelOf(c.Labels, e.Supports), e.SourceRef, e.Content, e.RelevanceConfidence})
		}
	}
	slices.SortStableFunc(list, func(a, b briefItem) int { return cmp.Compare(b.Weight, a.Weight) })
	return list[:min(len(list), most)]
}

package web

import (
	"cmp"
	"net/http"
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/render"
)

// trialView is the page of a trial.
type trialView struct {
	*Case
	Row       entryView
	Parts     *render.Parts
	Logs      []documentView
	Diffs     []documentView
	Back      string
	Evidence  []briefItem
	Buttons   []labelButton
	Corrected *Correction
}

func (s *site) caseOf(r *http.Request) (*Case, error) {
	id, err := ParseEntryID(r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	return s.config.Backend.Case(r.Context(), id)
}

func (s *site) trial(w http.ResponseWriter, r *http.Request) error {
	c, err := s.caseOf(r)
	if err != nil {
		return err
	}
	v := trialView{Case: c, Row: newEntryView(c.Entry), Back: r.URL.Path, Buttons: buttonsOf(c.Entry)}
	l := newLibrary(c.Case.Documents)
	l.markTrial(c)
	if c.Trial != nil {
		v.Parts, err = render.NewParts(c.Trial, func(source, quote string) string {
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
	for i := range c.History {
		if !c.History[i].Undone {
			v.Corrected = &c.History[i]
		}
	}
	page := &view{Page: "trial", Section: "inbox", Title: v.Row.Headline, Data: v}
	if c.Trial == nil && c.Fault == "" {
		page.Live = c.ID.Docket
	}
	return s.show(w, r, http.StatusOK, page)
}

// briefView explains a case in the inbox: what the court says, by which lines, and what would settle it.
type briefView struct {
	*Case
	Row      entryView
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
	v := briefView{Case: c, Row: newEntryView(c.Entry), Evidence: briefItems(c, 5)}
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
	return s.show(w, r, http.StatusOK, &view{Page: "brief", Section: "inbox", Title: v.Row.Headline, Data: v})
}

// leastWeight is what an item weighs that says something.
const leastWeight = 0.01

// briefItems are the items with the most weight: those of the charge, or without one those of the case.
func briefItems(c *Case, most int) []briefItem {
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
			list = append(list, itemOf(c, &c.Case.Evidence[i]))
		}
	}
	slices.SortStableFunc(list, func(a, b briefItem) int { return cmp.Compare(b.Weight, a.Weight) })
	return list[:min(len(list), most)]
}

func itemOf(c *Case, e *abi.Evidence) briefItem {
	return briefItem{labelOf(c.Labels, e.Supports), e.SourceRef, e.Content, e.RelevanceConfidence}
}

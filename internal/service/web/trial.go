package web

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/alibi"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/render"
	"github.com/shadowcourt/shadowcourt/internal/service/api"
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

// attribution is an answer of the alibi in a row.
type attribution struct {
	Verdict alibi.Verdict
	Class   string
	Says    string
}

// attributionOf is nil for nil.
func attributionOf(a *store.Alibi) *attribution {
	if a == nil {
		return nil
	}
	return &attribution{a.Verdict, map[alibi.Verdict]string{alibi.IsYours: "yours", alibi.NotYours: "not", alibi.IsOpen: "open"}[a.Verdict], render.AnswerSays(answerOf(a))}
}

// answerOf is an answer without its runs.
func answerOf(a *store.Alibi) *alibi.Answer {
	return &alibi.Answer{Verdict: a.Verdict, Label: a.Label, Part: a.Part, Why: a.Why, Next: a.Next, Culprit: a.Culprit}
}

// proofView is the proof at a glance on the page of a trial.
type proofView struct {
	*attribution
	render.AnswerParts
	Facts []proofFact
}

type proofFact struct{ Name, Text, Href string }

// proofOf is nil where the entry is none of the alibi.
func proofOf(c *caseView) (*proofView, error) {
	a := c.Alibi
	if a == nil || c.Trial == nil {
		return nil, nil //nolint:nilnil // there is none
	}
	shown := answerOf(a)
	shown.Runs = c.Trial.Result.Experiments
	parts, err := render.NewAnswerParts(&render.Answered{Answer: *shown, Trial: c.Trial})
	if err != nil {
		return nil, err
	}
	v := &proofView{attribution: c.Attribution, AnswerParts: parts}
	base, head := shortCommit(a.Change.Base), shortCommit(a.Change.Head)
	if a.Change.Why != "" {
		base += " (" + a.Change.Why + ")"
	}
	if a.Change.Uncommitted {
		head += ", with changes that are not committed"
	}
	v.Facts = append(v.Facts, proofFact{Name: "Base", Text: base}, proofFact{Name: "Head", Text: head})
	if a.Change.Target != "" {
		v.Facts = append(v.Facts, proofFact{Name: "Target", Text: shortCommit(a.Change.Target)})
	}
	code := map[abi.LoadedCode]string{
		abi.Certified: "certified: its runs loaded its own code", abi.NotCertified: "not certified: nobody knows what its runs loaded",
		abi.Contradicted: "contradicted: its runs loaded the code of another tree",
	}[alibi.Of(c.Trial).Base]
	if code == "" {
		code = "not run"
	}
	signed := proofFact{Name: "Signature", Text: "not signed"}
	if a.Key != "" {
		signed = proofFact{Name: "Signature", Text: "the record is signed by the key " + a.Key, Href: api.Prefix + "/dockets/" + strconv.FormatInt(c.Docket, 10) + "/records"}
	}
	v.Facts = append(v.Facts, proofFact{Name: "Code of the base", Text: code}, signed)
	return v, nil
}

func shortCommit(id string) string { return id[:min(len(id), 12)] }

// decided counts the answers of the alibi.
type decided struct {
	Cases, Open int
	// Reviewed have a label that a person set, which in the Agreed ones is the answer.
	Reviewed, Agreed int
	counts           map[string]int
}

func (d *decided) count(t *store.Tally) {
	d.Cases += t.Results
	if t.Label == "" {
		d.Open += t.Results
	} else {
		if d.counts == nil {
			d.counts = map[string]int{}
		}
		d.counts[t.Label] += t.Results
	}
	if t.Corrected {
		d.Reviewed += t.Results
		d.Agreed += one(t.Label == t.Truth) * t.Results
	}
}

// decidedAnswer is how often there was one answer.
type decidedAnswer struct {
	Name    string
	Verdict alibi.Verdict
	Count   int
}

// Answers are those that there were, in the order of the labels.
func (d *decided) Answers() (list []decidedAnswer) {
	for _, l := range alibi.Labels() {
		if n := d.counts[l]; n > 0 {
			a := decidedAnswer{l, alibi.NotYours, n}
			if alibi.Yours(l) {
				a.Verdict = alibi.IsYours
			}
			list = append(list, a)
		}
	}
	return list
}

// Sentence says what the answers are.
func (d *decided) Sentence() string {
	yours := 0
	for _, a := range d.Answers() {
		if a.Verdict == alibi.IsYours {
			yours += a.Count
		}
	}
	said := render.AnswersInWords(yours, d.Cases-d.Open-yours, d.Open)
	if d.Reviewed == 0 {
		return said + " Nobody has confirmed or corrected one yet."
	}
	return said + " People agree with " + thousands(d.Agreed) + " of the " + plural(d.Reviewed, "answer", "answers") + " that they looked at."
}

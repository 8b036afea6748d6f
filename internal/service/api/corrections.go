package api

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/service/auth"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
)

func (s *server) corrections() {
	const tag = "corrections"
	inbox := operation("read-inbox", http.MethodGet, "/inbox", tag, "", "Read what needs a person: groups of failures of one kind, the most valuable first")
	huma.Register(s.api, inbox, s.inbox)
	huma.Register(s.api, operation("list-corrections", http.MethodGet, "/corrections", tag, "", "List corrections, the latest first"), s.listCorrections)
	correct := operation("correct", http.MethodPost, "/corrections", tag, auth.Review, "Correct the results of trials, or of a group of the inbox")
	correct.Description += " The label is taken for the truth: it enters the casebook, which dockets see that are submitted from then on. " +
		"A correction in force that has the same label, author and trials is given in place of another one."
	correct.DefaultStatus = http.StatusCreated
	huma.Register(s.api, correct, s.correct)
	undo := operation("undo-correction", http.MethodDelete, "/corrections/{correction}", tag, auth.Review, "Undo a correction")
	huma.Register(s.api, undo, s.undo)
}

// Correction is what somebody said is right of some trials.
type Correction struct {
	ID       int64      `json:"id" minimum:"1" doc:"ID of the correction"`
	Label    string     `json:"label" doc:"The label that is right"`
	Author   string     `json:"author" doc:"Who said so"`
	Created  time.Time  `json:"created" doc:"When"`
	Undone   *time.Time `json:"undone,omitempty" doc:"When it was undone; absent while it is in force"`
	UndoneBy string     `json:"undone_by,omitempty" doc:"Who undid it"`
	Group    string     `json:"group,omitempty" doc:"Group that was corrected"`
	Trials   int        `json:"trials" minimum:"0" doc:"How many trials it is about"`
	Revision int64      `json:"revision" minimum:"0" doc:"Revision of the casebook that has it"`
}

func correctionOf(c *store.Correction) Correction {
	return Correction{
		ID: c.ID, Label: c.Label, Author: c.Author, Created: c.Created, Undone: timeOf(c.Undone), UndoneBy: c.UndoneBy, Group: c.Group,
		Trials: c.Entries, Revision: c.Revision,
	}
}

func correctionsOf(list []store.Correction) []Correction {
	out := make([]Correction, len(list))
	for i := range list {
		out[i] = correctionOf(&list[i])
	}
	return out
}

// InboxFilter selects what is in the inbox.
type InboxFilter struct {
	Repository string    `query:"repository" maxLength:"200" doc:"Only results of this repository"`
	Label      string    `query:"label" maxLength:"200" doc:"Only results with this label"`
	Status     string    `query:"status" enum:"unreviewed,accepted,rejected,affirmed,amended,acquitted,mistrial" doc:"Only results with this status"`
	Since      time.Time `query:"since" doc:"Only dockets that were submitted then or later"`
	Until      time.Time `query:"until" doc:"Only dockets that were submitted before"`
	Text       string    `query:"text" maxLength:"200" doc:"Only cases with this text in id, subject, suite or name of the docket"`
	Sure       bool      `query:"sure" doc:"Results that the court is sure of, too"`
	Corrected  bool      `query:"corrected" doc:"Results that were corrected, too"`
}

func (f *InboxFilter) filter() store.InboxFilter {
	out := store.InboxFilter{
		Repository: f.Repository, Label: f.Label, Since: f.Since, Until: f.Until, Text: f.Text, Sure: f.Sure, Corrected: f.Corrected,
	}
	if f.Status != "" {
		out.Statuses = []trial.Status{trial.Status(f.Status)}
	}
	return out
}

type inboxInput struct {
	InboxFilter
	Limit  int    `query:"limit" minimum:"1" maximum:"500" default:"50" doc:"Most groups to give"`
	Cursor string `query:"cursor" maxLength:"1100" doc:"The field next of the page before"`
}

// Group is failures of one kind in the inbox.
type Group struct {
	Key     string    `json:"key" doc:"What the group is corrected by"`
	Trials  int       `json:"trials" minimum:"1" doc:"Trials in the group"`
	Cases   int       `json:"cases" minimum:"1" doc:"Failures that they decide"`
	Dockets int       `json:"dockets" minimum:"1" doc:"Dockets that they are in"`
	Doubt   float64   `json:"doubt" minimum:"0" maximum:"1" doc:"How much the results need a person, on average"`
	First   time.Time `json:"first" doc:"When the first of the dockets was submitted"`
	Latest  time.Time `json:"latest" doc:"When the latest was"`
	Value   float64   `json:"value" doc:"What the groups are ordered by: the sum of the doubts, which halves with each week"`
	Sample  Entry     `json:"sample" doc:"The latest of the trials"`
}

type inboxOutput struct {
	Body struct {
		Groups []Group `json:"groups"`
		Total  int     `json:"total" minimum:"0" doc:"Groups on all pages"`
		Next   string  `json:"next,omitempty" doc:"Cursor of the next page; absent on the last"`
	}
}

func (s *server) inbox(ctx context.Context, in *inboxInput) (*inboxOutput, error) {
	if in.Cursor != "" && !store.IsInboxCursor(in.Cursor) {
		return nil, s.fail(ctx, invalid("query.cursor", abi.CodeInvalidValue, "is not the field next of a page before"))
	}
	f := in.filter()
	f.Limit, f.After = in.Limit, in.Cursor
	box, err := s.Store.Inbox(ctx, f)
	if err != nil {
		return nil, s.fail(ctx, err)
	}
	out := &inboxOutput{}
	out.Body.Total, out.Body.Next, out.Body.Groups = box.Total, box.Next, make([]Group, len(box.Groups))
	for i := range box.Groups {
		g := &box.Groups[i]
		out.Body.Groups[i] = Group{
			Key: g.Key, Trials: g.Entries, Cases: g.Cases, Dockets: g.Dockets, Doubt: g.Doubt, First: g.First, Latest: g.Latest, Value: g.Value, Sample: entryOf(&g.Sample),
		}
	}
	return out, nil
}

type correctionsOutput struct {
	Body struct {
		Corrections []Correction `json:"corrections"`
		Next        string       `json:"next,omitempty" doc:"Cursor of the next page; absent on the last"`
	}
}

func (s *server) listCorrections(ctx context.Context, in *Page) (*correctionsOutput, error) {
	list, err := s.Store.Corrections(ctx, in.before(), in.Limit)
	if err != nil {
		return nil, s.fail(ctx, err)
	}
	out := &correctionsOutput{}
	out.Body.Corrections = correctionsOf(list)
	if len(list) > 0 {
		out.Body.Next = in.next(len(list), list[len(list)-1].ID)
	}
	return out, nil
}

type correctInput struct {
	InboxFilter
	Body struct {
		Label  string   `json:"label" minLength:"1" maxLength:"200" doc:"The label that is right; each case must have it"`
		Trials []string `json:"trials,omitempty" maxItems:"10000" doc:"IDs of trials"`
		Group  string   `json:"group,omitempty" maxLength:"200" doc:"Key of a group of the inbox, in place of trials: all of its results that the parameters select"`
	}
}

type correctionOutput struct {
	Body Correction
}

func (s *server) correct(ctx context.Context, in *correctInput) (*correctionOutput, error) {
	if (len(in.Body.Trials) == 0) == (in.Body.Group == "") {
		return nil, s.fail(ctx, invalid("body", abi.CodeExactlyOne, "give either trials or a group"))
	}
	who := auth.From(ctx)
	var c store.Correction
	var err error
	if in.Body.Group != "" {
		c, err = s.Store.CorrectGroup(ctx, who.Name, in.Body.Label, in.Body.Group, in.filter())
	} else {
		ids := make([]store.TrialID, len(in.Body.Trials))
		for i, text := range in.Body.Trials {
			if ids[i], err = store.ParseTrialID(text); err != nil {
				return nil, s.fail(ctx, invalid(fmt.Sprintf("body.trials[%d]", i), abi.CodeInvalidValue, "is no ID of a trial, such as 17-203"))
			}
		}
		c, err = s.Store.Correct(ctx, who.Name, in.Body.Label, ids)
	}
	if err != nil {
		return nil, s.fail(ctx, err)
	}
	return &correctionOutput{correctionOf(&c)}, s.log(ctx, "correction.add", "correction "+strconv.FormatInt(c.ID, 10), fmt.Sprintf("%d trials are %s", c.Entries, c.Label))
}

type correctionPath struct {
	ID int64 `path:"correction" minimum:"1" doc:"ID of a correction"`
}

func (s *server) undo(ctx context.Context, in *correctionPath) (*correctionOutput, error) {
	c, err := s.Store.Undo(ctx, auth.From(ctx).Name, in.ID)
	if err != nil {
		return nil, s.fail(ctx, err)
	}
	return &correctionOutput{correctionOf(&c)}, s.log(ctx, "correction.undo", "correction "+strconv.FormatInt(c.ID, 10), "")
}

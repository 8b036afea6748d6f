package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/render"
	"github.com/shadowcourt/shadowcourt/internal/service/auth"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
)

func (s *server) corrections() {
	const tag = "corrections"
	register(s, operation("read-inbox", http.MethodGet, "/inbox", tag, "", "Read what needs a person: groups of failures of one kind, the most valuable first"), s.inbox)
	register(s, operation("list-corrections", http.MethodGet, "/corrections", tag, "", "List corrections, the latest first"),
		func(ctx context.Context, in *Page) (*answer[CorrectionsAnswer], error) {
			list, err := s.Store.Corrections(ctx, in.before(), in.Limit)
			return reply(CorrectionsAnswer{list, nextOf(in, list, func(c *store.Correction) int64 { return c.ID })}, err)
		})
	correct := operation("correct", http.MethodPost, "/corrections", tag, auth.Review, "Correct the results of trials, or of a group of the inbox")
	correct.Description += " The label is taken for the truth: it enters the casebook, which dockets see that are submitted from then on. " +
		"A correction in force that has the same label, author and trials is given in place of another one."
	correct.DefaultStatus = http.StatusCreated
	register(s, correct, func(ctx context.Context, in *correctInput) (*answer[store.Correction], error) {
		return reply(s.Correct(ctx, &in.Body, &in.InboxFilter))
	})
	register(s, operation("undo-correction", http.MethodDelete, "/corrections/{correction}", tag, auth.Review, "Undo a correction"),
		func(ctx context.Context, in *correctionPath) (*answer[store.Correction], error) {
			return reply(s.Undo(ctx, in.ID))
		})
	known := s.streamOperation("read-known-labels", "/corrections/docket", "Read the cases whose right label is known, as a docket", "application/jsonl",
		"A case a line, with its right label as the truth: `shadowcourt fit` learns a profile from it")
	known.Tags = []string{tag}
	known.Description += " Labels are known from corrections or from the dockets; answers of the alibi are left out. The ID of a case is that of its trial."
	register(s, known, s.knownLabels)
}

type knownInput struct {
	Repository string    `query:"repository" maxLength:"200" doc:"Only cases of this repository"`
	Since      time.Time `query:"since" doc:"Only dockets that were submitted then or later"`
}

// knownLabels streams a docket of the cases whose right label is known.
func (s *server) knownLabels(ctx context.Context, in *knownInput) (*huma.StreamResponse, error) {
	list, err := s.Store.KnownLabels(ctx, store.EntryFilter{Repository: in.Repository, Since: in.Since})
	if err != nil {
		return nil, err
	}
	header := map[string]string{"Content-Disposition": `attachment; filename="corrected.jsonl"`}
	return s.streamed("application/jsonl", header, func(ctx context.Context, w io.Writer) error {
		cases := render.NewCases(w)
		for i := range list {
			tried, err := s.Store.Trial(ctx, list[i].ID)
			if errors.Is(err, store.ErrNotFound) { // it was removed meanwhile
				continue
			}
			if err != nil {
				return err
			}
			t := tried.Trial
			t.Case.ID, t.Members, t.Truth = list[i].ID.String(), nil, &trial.Truth{Classification: list[i].Right}
			if err := cases.Write(t); err != nil {
				return err
			}
		}
		return nil
	}), nil
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

// Store is the filter as the store takes it.
func (f *InboxFilter) Store() store.InboxFilter {
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

// InboxAnswer is a page of the inbox.
type InboxAnswer struct {
	Groups []store.Group `json:"groups"`
	Total  int           `json:"total" minimum:"0" doc:"Groups on all pages"`
	Next   string        `json:"next,omitempty" doc:"Cursor of the next page; absent on the last"`
}

func (s *server) inbox(ctx context.Context, in *inboxInput) (*answer[InboxAnswer], error) {
	if in.Cursor != "" && !store.IsInboxCursor(in.Cursor) {
		return nil, invalid("query.cursor", abi.CodeInvalidValue, "is not the field next of a page before")
	}
	f := in.Store()
	f.Limit, f.After = in.Limit, in.Cursor
	box, err := s.Store.Inbox(ctx, f)
	if err != nil {
		return nil, err
	}
	return reply(InboxAnswer{box.Groups, box.Total, box.Next}, nil)
}

// CorrectionsAnswer is a page of corrections.
type CorrectionsAnswer struct {
	Corrections []store.Correction `json:"corrections"`
	Next        string             `json:"next,omitempty" doc:"Cursor of the next page; absent on the last"`
}

// maxTrials is the most trials of a correction: see CorrectRequest.
const maxTrials = 10_000

// CorrectRequest says what is right of some trials, or of a group.
type CorrectRequest struct {
	Label  string   `json:"label" minLength:"1" maxLength:"200" doc:"The label that is right; each case must have it"`
	Trials []string `json:"trials,omitempty" maxItems:"10000" doc:"IDs of trials"`
	Group  string   `json:"group,omitempty" maxLength:"200" doc:"Key of a group of the inbox, in place of trials: all of its results that the parameters select"`
}

type correctInput struct {
	InboxFilter
	Body CorrectRequest
}

// Correct corrects trials, or what a filter selects of a group of the inbox.
func (o *Operations) Correct(ctx context.Context, in *CorrectRequest, f *InboxFilter) (c store.Correction, err error) {
	who, err := may(ctx, auth.Review)
	if err == nil {
		err = bounded(maxText, "body.label", in.Label, "body.group", in.Group, "query.repository", f.Repository, "query.label", f.Label, "query.text", f.Text)
	}
	if err != nil {
		return c, err
	}
	switch {
	case in.Label == "":
		return c, invalid("body.label", abi.CodeEmpty, "is empty")
	case (len(in.Trials) == 0) == (in.Group == ""):
		return c, invalid("body", abi.CodeExactlyOne, "give either trials or a group")
	case len(in.Trials) > maxTrials:
		return c, invalid("body.trials", abi.CodeBadCount, "has more than %d trials", maxTrials)
	case in.Group != "":
		c, err = o.Store.CorrectGroup(ctx, who.Name, in.Label, in.Group, f.Store())
	default:
		ids := make([]store.TrialID, len(in.Trials))
		for i, text := range in.Trials {
			if ids[i], err = store.ParseTrialID(text); err != nil {
				return c, invalid(fmt.Sprintf("body.trials[%d]", i), abi.CodeInvalidValue, "is no ID of a trial, such as 17-203")
			}
		}
		c, err = o.Store.Correct(ctx, who.Name, in.Label, ids)
	}
	if err != nil {
		return c, err
	}
	return c, o.log(ctx, "correction.add", "correction", c.ID, fmt.Sprintf("%d trials are %s", c.Entries, c.Label))
}

type correctionPath struct {
	ID int64 `path:"correction" minimum:"1" doc:"ID of a correction"`
}

// Undo takes a correction back.
func (o *Operations) Undo(ctx context.Context, id int64) (c store.Correction, err error) {
	who, err := may(ctx, auth.Review)
	if err == nil {
		c, err = o.Store.Undo(ctx, who.Name, id)
	}
	if err != nil {
		return c, err
	}
	return c, o.log(ctx, "correction.undo", "correction", id, "")
}

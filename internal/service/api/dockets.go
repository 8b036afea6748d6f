package api

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"github.com/shadowcourt/shadowcourt/internal/render"
	"github.com/shadowcourt/shadowcourt/internal/service/auth"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
	"github.com/shadowcourt/shadowcourt/internal/service/wire"
)

// dockets registers the operations on dockets.
func (s *server) dockets() {
	s.submitOperation()
	register(s, operation("list-dockets", http.MethodGet, "/dockets", "dockets", "", "List dockets, the latest first"), s.listDockets)
	register(s, operation("get-docket", http.MethodGet, "/dockets/{docket}", "dockets", "", "Read a docket"),
		func(ctx context.Context, in *DocketPath) (*answer[store.Docket], error) {
			return reply(s.Store.Docket(ctx, in.ID))
		})
	cancel := operation("cancel-docket", http.MethodDelete, "/dockets/{docket}", "dockets", auth.Submit, "Cancel a docket")
	cancel.Description += " Cases that are not tried yet are not tried; results stay. A docket that ended is a conflict. " +
		"Only its submitter and operators may cancel a docket."
	cancel.DefaultStatus = http.StatusNoContent
	register(s, cancel, func(ctx context.Context, in *DocketPath) (*struct{}, error) { return nil, s.Cancel(ctx, in.ID) })
	register(s, operation("list-docket-entries", http.MethodGet, "/dockets/{docket}/entries", "dockets", "",
		"List the cases of a docket with their results, in their order"), s.listEntries)
}

// Page are the parameters of lists.
type Page struct {
	Cursor string `query:"cursor" pattern:"^[1-9][0-9]{0,17}$" patternDescription:"the field next of the page before" doc:"The field next of the page before"`
	Limit  int    `query:"limit" minimum:"1" maximum:"500" default:"50" doc:"Most items to give"`
}

// before is the ID that the page is behind; 0 for the first page.
func (p *Page) before() int64 {
	n, _ := strconv.ParseInt(p.Cursor, 10, 64) // the pattern was checked
	return n
}

// nextOf is the cursor of the page behind a full one.
func nextOf[T any](p *Page, list []T, id func(*T) int64) string {
	if len(list) == 0 || len(list) < p.Limit {
		return ""
	}
	return strconv.FormatInt(id(&list[len(list)-1]), 10)
}

// DocketPath names a docket.
type DocketPath struct {
	ID int64 `path:"docket" minimum:"1" doc:"ID of a docket"`
}

type docketsInput struct {
	Page
	State      string `query:"state" enum:"queued,running,done,failed,cancelled" doc:"Only dockets in this state"`
	Repository string `query:"repository" maxLength:"200" doc:"Only dockets of this repository"`
	Submitter  string `query:"submitter" maxLength:"200" doc:"Only dockets of this submitter"`
	Text       string `query:"text" maxLength:"200" doc:"Only dockets with this text in name, repository or revision"`
}

// DocketsAnswer is a page of dockets.
type DocketsAnswer struct {
	Dockets []store.Docket `json:"dockets"`
	Next    string         `json:"next,omitempty" doc:"Cursor of the next page; absent on the last"`
}

func (s *server) listDockets(ctx context.Context, in *docketsInput) (*answer[DocketsAnswer], error) {
	list, err := s.Store.Dockets(ctx, store.DocketFilter{
		Submitter: in.Submitter, Repository: in.Repository, State: store.State(in.State), Text: in.Text, Before: in.before(), Limit: in.Limit,
	})
	return reply(DocketsAnswer{list, nextOf(&in.Page, list, func(d *store.Docket) int64 { return d.ID })}, err)
}

// Cancel ends a docket of whoever asks; operators may end any.
func (o *Operations) Cancel(ctx context.Context, id int64) error {
	who, err := may(ctx, auth.Submit)
	if err != nil {
		return err
	}
	d, err := o.Store.Docket(ctx, id)
	if err != nil {
		return err
	}
	if d.Submitter != who.Submitter && !who.Can(auth.Operate) {
		return forbidden("only the submitter of a docket and operators may cancel it")
	}
	if err := o.Store.Cancel(ctx, id); err != nil {
		return err
	}
	return o.log(ctx, "docket.cancel", "docket", id, "")
}

type entriesInput struct {
	DocketPath
	From  int `query:"from" minimum:"1" maximum:"100000" default:"1" doc:"Place in the docket of the first entry to give"`
	Limit int `query:"limit" minimum:"1" maximum:"1000" default:"100" doc:"Most entries to give"`
}

// EntriesAnswer are entries of a docket.
type EntriesAnswer struct {
	Entries []store.Entry `json:"entries"`
}

func (s *server) listEntries(ctx context.Context, in *entriesInput) (*answer[EntriesAnswer], error) {
	if _, err := s.Store.Docket(ctx, in.ID); err != nil {
		return nil, err
	}
	list, err := s.Store.Entries(ctx, store.EntryFilter{Docket: in.ID, After: store.TrialID{Docket: in.ID, Ordinal: in.From - 1}, Limit: in.Limit})
	return reply(EntriesAnswer{list}, err)
}

func (s *server) trials() {
	register(s, operation("get-trial", http.MethodGet, "/trials/{trial}", "trials", "", "Read a case and its trial"), s.getTrial)
	op := operation("explain-trial", http.MethodGet, "/trials/{trial}/explanation", "trials", "", "Read the transcript of a trial")
	op.Responses = map[string]*huma.Response{
		"200": {Description: "The text that `shadowcourt try --explain` prints", Content: map[string]*huma.MediaType{"text/plain": {Schema: &huma.Schema{Type: huma.TypeString}}}},
	}
	register(s, op, s.explainTrial)
}

type trialPath struct {
	ID string `path:"trial" maxLength:"40" pattern:"^[1-9][0-9]{0,17}-[1-9][0-9]{0,6}$" example:"17-203" doc:"ID of a trial: docket and place in it"`
}

// Trial is a case with its trial.
type Trial struct {
	store.Entry
	Source      string             `json:"source,omitempty" doc:"File or stream that the case was read from"`
	Line        int                `json:"line,omitempty" minimum:"0" doc:"Line in it"`
	Result      json.RawMessage    `json:"result,omitempty" doc:"The result, as a line of the results of a docket has it; absent while the case waits"`
	Input       json.RawMessage    `json:"input,omitempty" doc:"The case, as a line of a docket in JSON lines has it"`
	Corrections []store.Correction `json:"corrections" doc:"Corrections of this trial, the latest first"`
}

// read gives a trial by the ID in a path.
func (s *server) read(ctx context.Context, in *trialPath) (*store.Tried, error) {
	id, err := store.ParseTrialID(in.ID)
	if err != nil {
		return nil, err
	}
	if _, err := s.Store.Docket(ctx, id.Docket); err != nil {
		return nil, err
	}
	t, err := s.Store.Trial(ctx, id)
	if err != nil {
		return nil, err
	}
	if t.Trial != nil {
		t.Trial.Result.Timings = nil
	}
	return t, nil
}

func (s *server) getTrial(ctx context.Context, in *trialPath) (*answer[Trial], error) {
	t, err := s.read(ctx, in)
	if err != nil {
		return nil, err
	}
	out := Trial{Entry: t.Entry, Source: t.Source, Line: t.Line}
	if t.Trial != nil && t.Status != "" {
		if out.Result, err = t.Trial.Result.MarshalJSON(); err != nil {
			return nil, err
		}
	}
	if t.Trial != nil && t.Trial.Case.ID != "" {
		own := *t.Trial
		own.Members = nil
		var line bytes.Buffer
		if err := render.NewCases(&line).Write(&own); err != nil {
			return nil, err
		}
		out.Input = bytes.TrimSpace(line.Bytes())
	}
	out.Corrections, err = s.Store.CorrectionsOf(ctx, t.ID)
	return reply(out, err)
}

type textOutput struct {
	ContentType string `header:"Content-Type"`
	Body        []byte
}

func (s *server) explainTrial(ctx context.Context, in *trialPath) (*textOutput, error) {
	t, err := s.read(ctx, in)
	if err != nil {
		return nil, err
	}
	if t.Status == "" || t.Trial == nil {
		return nil, wire.NewProblem(http.StatusConflict, wire.Conflict, "the case has no trial: it waits for one, or could not be tried")
	}
	t.Trial.Answered()
	var text bytes.Buffer
	if err := render.Explain(&text, t.Trial, nil, render.TerminalOptions{}); err != nil {
		return nil, err
	}
	return &textOutput{"text/plain; charset=utf-8", text.Bytes()}, nil
}

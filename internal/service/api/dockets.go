package api

import (
	"context"
	"net/http"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"github.com/shadowcourt/shadowcourt/internal/service/auth"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
)

// dockets registers the operations on dockets.
func (s *server) dockets() {
	s.submitOperation()
	huma.Register(s.api, operation("list-dockets", http.MethodGet, "/dockets", "dockets", "", "List dockets, the latest first"), s.listDockets)
	huma.Register(s.api, operation("get-docket", http.MethodGet, "/dockets/{docket}", "dockets", "", "Read a docket"), s.getDocket)
	cancel := operation("cancel-docket", http.MethodDelete, "/dockets/{docket}", "dockets", auth.Submit, "Cancel a docket")
	cancel.Description += " Cases that are not tried yet are not tried; results stay. A docket that ended is a conflict. " +
		"Only its submitter and operators may cancel a docket."
	cancel.DefaultStatus = http.StatusNoContent
	huma.Register(s.api, cancel, s.cancelDocket)
	huma.Register(s.api, operation("list-docket-entries", http.MethodGet, "/dockets/{docket}/entries", "dockets", "",
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

// next is the cursor of the page behind a full one.
func (p *Page) next(count int, last int64) string {
	if count < p.Limit {
		return ""
	}
	return strconv.FormatInt(last, 10)
}

// DocketPath names a docket.
type DocketPath struct {
	ID int64 `path:"docket" minimum:"1" doc:"ID of a docket"`
}

type docketOutput struct {
	Body Docket
}

type docketsInput struct {
	Page
	State      string `query:"state" enum:"queued,running,done,failed,cancelled" doc:"Only dockets in this state"`
	Repository string `query:"repository" maxLength:"200" doc:"Only dockets of this repository"`
	Submitter  string `query:"submitter" maxLength:"200" doc:"Only dockets of this submitter"`
	Text       string `query:"text" maxLength:"200" doc:"Only dockets with this text in name, repository or revision"`
}

type docketsOutput struct {
	Body struct {
		Dockets []Docket `json:"dockets"`
		Next    string   `json:"next,omitempty" doc:"Cursor of the next page; absent on the last"`
	}
}

func (s *server) listDockets(ctx context.Context, in *docketsInput) (*docketsOutput, error) {
	list, err := s.Store.Dockets(ctx, store.DocketFilter{
		Submitter: in.Submitter, Repository: in.Repository, State: store.State(in.State), Text: in.Text, Before: in.before(), Limit: in.Limit,
	})
	if err != nil {
		return nil, s.fail(ctx, err)
	}
	out := &docketsOutput{}
	out.Body.Dockets = make([]Docket, len(list))
	for i := range list {
		out.Body.Dockets[i] = docketOf(&list[i])
		out.Body.Next = in.next(len(list), list[i].ID)
	}
	return out, nil
}

func (s *server) getDocket(ctx context.Context, in *DocketPath) (*docketOutput, error) {
	d, err := s.Store.Docket(ctx, in.ID)
	if err != nil {
		return nil, s.fail(ctx, err)
	}
	return &docketOutput{docketOf(&d)}, nil
}

func (s *server) cancelDocket(ctx context.Context, in *DocketPath) (*struct{}, error) {
	d, err := s.Store.Docket(ctx, in.ID)
	if err != nil {
		return nil, s.fail(ctx, err)
	}
	if who := auth.From(ctx); d.Submitter != who.Submitter && !who.Can(auth.Operate) {
		return nil, s.fail(ctx, forbidden("only the submitter of a docket and operators may cancel it"))
	}
	if err := s.Store.Cancel(ctx, in.ID); err != nil {
		return nil, s.fail(ctx, err)
	}
	return nil, s.log(ctx, "docket.cancel", "docket "+strconv.FormatInt(in.ID, 10), "")
}

type entriesInput struct {
	DocketPath
	From  int `query:"from" minimum:"1" maximum:"100000" default:"1" doc:"Place in the docket of the first entry to give"`
	Limit int `query:"limit" minimum:"1" maximum:"1000" default:"100" doc:"Most entries to give"`
}

type entriesOutput struct {
	Body struct {
		Entries []Entry `json:"entries"`
	}
}

func (s *server) listEntries(ctx context.Context, in *entriesInput) (*entriesOutput, error) {
	if _, err := s.Store.Docket(ctx, in.ID); err != nil {
		return nil, s.fail(ctx, err)
	}
	list, err := s.Store.Entries(ctx, store.EntryFilter{Docket: in.ID, After: store.TrialID{Docket: in.ID, Ordinal: in.From - 1}, Limit: in.Limit})
	if err != nil {
		return nil, s.fail(ctx, err)
	}
	out := &entriesOutput{}
	out.Body.Entries = make([]Entry, len(list))
	for i := range list {
		out.Body.Entries[i] = entryOf(&list[i])
	}
	return out, nil
}

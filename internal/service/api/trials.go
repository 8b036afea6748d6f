package api

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/shadowcourt/shadowcourt/internal/render"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
	"github.com/shadowcourt/shadowcourt/internal/service/wire"
)

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
	list, err := s.Store.CorrectionsOf(ctx, t.ID)
	out.Corrections = filled(list)
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

package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/render"
	"github.com/shadowcourt/shadowcourt/internal/run"
)

// maxCases is how many cases one report may have: an agent reads the answer in one piece.
const maxCases = 100

type reportInput struct {
	Report string `json:"report" jsonschema:"the text of a report: go test -json, JUnit XML, ReportPortal JSON, or cases as JSON lines"`
	Format string `json:"format,omitempty" jsonschema:"auto, jsonl, gotest, junit or reportportal; default auto"`
	Case   string `json:"case,omitempty" jsonschema:"id of the only case to take; default all of them"`
}

type triedOutput struct {
	Results []map[string]any `json:"results" jsonschema:"the results of the cases, as shadowcourt try --format jsonl gives them"`
	Faults  []string         `json:"faults" jsonschema:"what of the report could not be tried, and why"`
	Table   string           `json:"table" jsonschema:"the results for people"`
}

type nothingInput struct{}

type listOutput struct {
	Trials []listedTrial `json:"trials"`
}

type listedTrial struct {
	ID             string `json:"id"`
	Status         string `json:"status"`
	Classification string `json:"classification"`
	Subject        string `json:"subject"`
}

type caseInput struct {
	Case string `json:"case" jsonschema:"id of a case that was tried"`
}

type textOutput struct {
	Text string `json:"text"`
}

type correctInput struct {
	Case  string `json:"case" jsonschema:"id of a case that was tried"`
	Label string `json:"label" jsonschema:"the label that is right, one of the case"`
}

func (s *Server) addTools() {
	sdk.AddTool(s.server, &sdk.Tool{Name: "try_case", Description: "Try the cases of a report. Nobody is asked: modules decide."}, s.tryCases)
	sdk.AddTool(s.server, &sdk.Tool{Name: "list_trials", Description: "List the trials that ended, the latest last."}, s.list)
	sdk.AddTool(s.server, &sdk.Tool{Name: "explain_trial", Description: "Tell a trial: what was said, what counted, how it was decided."}, s.explain)
	sdk.AddTool(s.server, &sdk.Tool{Name: "correct_verdict", Description: "Say which label of a case is right. It is kept in the casebook and helps later trials."}, s.correct)
	sdk.AddTool(s.server, &sdk.Tool{Name: "play", Description: "Begin a trial in which you play personas. The answer is your first call, or how the trial ended."}, s.play)
	sdk.AddTool(s.server, &sdk.Tool{Name: "next_call", Description: "Get the call that waits for your answer, or how the trial ended."}, s.nextCall)
	sdk.AddTool(s.server, &sdk.Tool{Name: "list_plays", Description: "List the plays that you have begun and not ended with end_play, the latest last."}, s.listPlays)
	sdk.AddTool(s.server, &sdk.Tool{Name: "end_play", Description: "End a play. Its trial is given up if it has not ended, and its result is dropped."}, s.endPlay)
	sdk.AddTool(s.server, &sdk.Tool{Name: "submit", Description: "Answer a call with JSON that conforms to its schema. The answer is what is wrong with it, your next call, or how the trial ended."}, s.submit)
}

// entries reads a report, and gives the host that tries its cases.
func (s *Server) entries(ctx context.Context, in *reportInput) (h *host.Host, cases []docket.Entry, faults []string, err error) {
	format := in.Format
	if format == "" {
		format = run.Auto
	}
	if format != run.Auto && !slices.Contains(run.Formats(), format) {
		return nil, nil, nil, fmt.Errorf("%q is no format; there are %s", format, strings.Join(run.Formats(), ", "))
	}
	inputs, err := run.One("the report", run.NewReader(ctx, strings.NewReader(in.Report)), format)
	if err != nil {
		return nil, nil, nil, err
	}
	defer inputs.Close()
	if h = s.config.Reports; inputs.Some(run.JSONL) {
		if h, err = s.forCases(ctx); err != nil {
			return nil, nil, nil, err
		}
	}
	for entry, err := range inputs.Entries(in.Case) {
		switch {
		case err != nil:
			faults = append(faults, err.Error())
		case len(cases) == maxCases:
			return nil, nil, nil, fmt.Errorf("the report has more than %d cases: name one with `case`", maxCases)
		default:
			cases = append(cases, entry)
		}
	}
	if len(cases) == 0 && len(faults) == 0 {
		return nil, nil, nil, errors.New("the report has no case to try")
	}
	return h, cases, faults, nil
}

func (s *Server) tryCases(ctx context.Context, r *sdk.CallToolRequest, in reportInput) (*sdk.CallToolResult, triedOutput, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.ctx, cancel)() //nolint:contextcheck // the end of the server ends the request, too
	out := triedOutput{Results: []map[string]any{}, Faults: []string{}}
	h, cases, faults, err := s.entries(ctx, &in)
	switch {
	case err != nil:
		return nil, out, err
	case len(cases) == 0:
		return nil, out, errors.New(strings.Join(faults, "\n"))
	}
	out.Faults = append(out.Faults, faults...)
	var table bytes.Buffer
	writer := render.NewOutput(nil, render.NewTable(&table, render.TerminalOptions{Width: tableWidth}))
	for i := range cases {
		t, err := s.try(ctx, r.Session, h, cases[i].Case)
		if err != nil {
			if ctx.Err() != nil {
				return nil, out, ctx.Err()
			}
			out.Faults = append(out.Faults, fmt.Sprintf("%s: %v", cases[i].Case.ID, err))
			continue
		}
		result, err := resultOf(t)
		if err := errors.Join(err, writer.Write(t)); err != nil {
			return nil, out, err
		}
		out.Results = append(out.Results, result)
	}
	if err := writer.Close(); err != nil {
		return nil, out, err
	}
	out.Table = table.String()
	return nil, out, nil
}

// tableWidth is that of tables, which an agent shows to people.
const tableWidth = 120

func (s *Server) list(context.Context, *sdk.CallToolRequest, nothingInput) (*sdk.CallToolResult, listOutput, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := listOutput{Trials: []listedTrial{}}
	for _, t := range s.done {
		out.Trials = append(out.Trials, listedTrial{
			ID: t.Case.ID, Status: string(t.Result.Final.Status), Classification: t.Result.Final.Classification, Subject: t.Case.Subject,
		})
	}
	return nil, out, nil
}

func (s *Server) explain(_ context.Context, r *sdk.CallToolRequest, in caseInput) (*sdk.CallToolResult, textOutput, error) {
	t, err := s.finished(r.Session, in.Case)
	if err != nil {
		return nil, textOutput{}, err
	}
	text, err := transcript(t)
	return nil, textOutput{text}, err
}

func transcript(t *trial.Trial) (string, error) {
	var text bytes.Buffer
	err := render.Explain(&text, t, nil, render.TerminalOptions{Width: tableWidth})
	return text.String(), err
}

func (s *Server) correct(ctx context.Context, r *sdk.CallToolRequest, in correctInput) (*sdk.CallToolResult, textOutput, error) {
	t, err := s.finished(r.Session, in.Case)
	if err != nil {
		return nil, textOutput{}, err
	}
	if s.config.Memory == nil {
		return nil, textOutput{}, errors.New("there is no casebook: start the server with --casebook FILE")
	}
	if !slices.Contains(t.Case.Labels, in.Label) {
		return nil, textOutput{}, fmt.Errorf("%q is no label of the case; it has %s", in.Label, strings.Join(t.Case.Labels, ", "))
	}
	entry := run.Entry(&t.Case, &trial.Truth{Classification: in.Label}, &t.Result.Final)
	if err := s.config.Memory.remember(ctx, entry); err != nil {
		return nil, textOutput{}, err
	}
	return nil, textOutput{"the casebook has it, and trials that begin from now on see it"}, nil
}

// resultOf is a result as JSON lines have it.
func resultOf(t *trial.Trial) (result map[string]any, err error) {
	own := *t
	own.Result.Timings = nil
	var line bytes.Buffer
	w := render.NewOutput(nil, render.NewJSONL(&line))
	if err := errors.Join(w.Write(&own), w.Close()); err != nil {
		return nil, err
	}
	return result, json.Unmarshal(line.Bytes(), &result)
}

package mcp

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
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
	Report string `json:"report,omitempty" jsonschema:"the text of a report: go test -json, JUnit XML, ReportPortal JSON, or cases as JSON lines"`
	Path   string `json:"path,omitempty" jsonschema:"in place of report: path of the report, within the folders that the server may read"`
	Format string `json:"format,omitempty" jsonschema:"auto, jsonl, gotest, junit, reportportal or dotnet; default auto"`
	Case   string `json:"case,omitempty" jsonschema:"id of the only case to take; default all of them"`
}

type triedOutput struct {
	Results []map[string]any  `json:"results" jsonschema:"the results of the cases, as shadowcourt try --format jsonl gives them"`
	Labels  map[string]string `json:"labels" jsonschema:"what the labels of the cases mean"`
	Faults  []string          `json:"faults" jsonschema:"what of the report could not be tried, and why"`
	Table   string            `json:"table" jsonschema:"the results for people"`
}

type nothingInput struct{}

type listOutput struct {
	Trials []listedTrial `json:"trials"`
}

type listedTrial struct {
	ID             string `json:"id"`
	Status         string `json:"status"`
	Classification string `json:"classification"`
	Means          string `json:"means,omitempty" jsonschema:"what the classification means"`
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
	sdk.AddTool(s.server, &sdk.Tool{Name: "alibi", Description: alibiDescription}, s.alibi)
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

// open opens a report, which is given as a text or by its path.
func (s *Server) open(ctx context.Context, in *reportInput) (*run.Dockets, error) {
	format := cmp.Or(in.Format, run.Auto)
	if err := run.CheckFormat(format); err != nil {
		return nil, fmt.Errorf("format %w", err)
	}
	switch {
	case (in.Report == "") == (in.Path == ""):
		return nil, errors.New("give the text of a report, or its path")
	case in.Path != "":
		return s.config.Roots.docket(ctx, in.Path, format)
	}
	return run.One("the report", run.NewReader(ctx, strings.NewReader(in.Report)), format)
}

// entries reads a report, and gives the host that tries its cases, with what ends its use.
func (s *Server) entries(ctx context.Context, in *reportInput) (h *host.Host, end func(), cases []docket.Entry, faults []string, err error) {
	inputs, err := s.open(ctx, in)
	if err != nil {
		return nil, nil, nil, nil, err
	}
	defer inputs.Close()
	for entry, err := range inputs.Entries(in.Case) {
		switch {
		case err != nil:
			faults = append(faults, err.Error())
		case len(cases) == maxCases:
			return nil, nil, nil, nil, fmt.Errorf("the report has more than %d cases: name one with `case`", maxCases)
		default:
			cases = append(cases, entry)
		}
	}
	switch {
	case len(cases) == 0 && len(faults) == 0:
		err = errors.New("the report has no case to try")
	case len(cases) == 0:
		err = errors.New(strings.Join(faults, "\n"))
	default:
		h, end, err = s.host(ctx, inputs.OfTests())
	}
	return h, end, cases, faults, err
}

// meanings are what the labels of a case mean, by the pipeline and by the report.
func meanings(h *host.Host, e *docket.Entry) map[string]string {
	means := map[string]string{}
	for _, label := range e.Case.Labels {
		if name := cmp.Or(e.LabelNames[label], h.Pipeline().Label(label).Name); name != "" {
			means[label] = name
		}
	}
	return means
}

func (s *Server) tryCases(ctx context.Context, _ *sdk.CallToolRequest, in reportInput) (*sdk.CallToolResult, triedOutput, error) {
	ctx, end, err := s.beginCall(ctx)
	if err != nil {
		return nil, triedOutput{}, err
	}
	defer end()
	out := triedOutput{Results: []map[string]any{}, Labels: map[string]string{}, Faults: []string{}}
	h, release, cases, faults, err := s.entries(ctx, &in)
	if err != nil {
		return nil, out, err
	}
	defer release()
	out.Faults = append(out.Faults, faults...)
	var table bytes.Buffer
	writer := render.NewOutput(nil, render.NewTable(&table, render.TerminalOptions{Width: tableWidth}))
	for i := range cases {
		t, err := s.try(ctx, h, cases[i].Case)
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
		maps.Copy(out.Labels, meanings(h, &cases[i]))
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
			ID: t.Case.ID, Status: string(t.Result.Final.Status), Classification: t.Result.Final.Classification,
			Means: t.LabelNames[t.Result.Final.Classification], Subject: t.Case.Subject,
		})
	}
	return nil, out, nil
}

func (s *Server) explain(_ context.Context, _ *sdk.CallToolRequest, in caseInput) (*sdk.CallToolResult, textOutput, error) {
	t, err := s.finished(in.Case)
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

func (s *Server) correct(ctx context.Context, _ *sdk.CallToolRequest, in correctInput) (*sdk.CallToolResult, textOutput, error) {
	t, err := s.finished(in.Case)
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

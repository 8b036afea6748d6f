package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

type playInput struct {
	Report   string   `json:"report,omitempty" jsonschema:"the text of a report with the case, as for try_case"`
	Path     string   `json:"path,omitempty" jsonschema:"in place of report: its path, as for try_case"`
	Format   string   `json:"format,omitempty" jsonschema:"auto, jsonl, gotest, junit, reportportal or dotnet; default auto"`
	Case     string   `json:"case,omitempty" jsonschema:"id of the case, where the report has several"`
	Personas []string `json:"personas" jsonschema:"the personas to play; the others are played by modules"`
}

type callInput struct {
	Play string `json:"play" jsonschema:"the play that the tool play began"`
}

type submitInput struct {
	Play   string `json:"play"`
	Call   int    `json:"call" jsonschema:"the number of the call"`
	Answer any    `json:"answer" jsonschema:"the answer: a value that conforms to the call's schema, or its JSON as a text; any text where the call has none"`
}

type callOutput struct {
	Play string `json:"play"`
	// A call that waits for an answer.
	Call     int             `json:"call,omitempty"`
	Persona  string          `json:"persona,omitempty"`
	Messages []messageOutput `json:"messages,omitempty"`
	// Labels of the case with what they mean.
	Labels map[string]string `json:"labels,omitempty"`
	Schema any               `json:"schema,omitempty"`
	// Problems of the answer that was submitted: correct it and submit it again.
	Problems []string `json:"problems,omitempty"`
	// Result of the trial, once it has ended.
	Result map[string]any `json:"result,omitempty"`
}

type messageOutput struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

func (s *Server) play(ctx context.Context, r *sdk.CallToolRequest, in playInput) (*sdk.CallToolResult, callOutput, error) {
	if len(in.Personas) == 0 {
		return nil, callOutput{}, fmt.Errorf("name the personas to play: some of %s", strings.Join(s.config.Personas, ", "))
	}
	for _, p := range in.Personas {
		if !slices.Contains(s.config.Personas, p) {
			return nil, callOutput{}, fmt.Errorf("%q is no persona to play; there are %s", p, strings.Join(s.config.Personas, ", "))
		}
	}
	h, end, cases, _, err := s.entries(ctx, &reportInput{Report: in.Report, Path: in.Path, Format: in.Format, Case: in.Case})
	if err != nil {
		return nil, callOutput{}, err
	}
	if len(cases) > 1 {
		end()
		return nil, callOutput{}, fmt.Errorf("the report has %d cases: name one with `case`, such as %q", len(cases), cases[0].Case.ID)
	}
	p, err := s.begin(r.Session, h, end, &cases[0], in.Personas) //nolint:contextcheck // the trial outlives the request
	if err != nil {
		end()
		return nil, callOutput{}, err
	}
	out, err := s.proceed(ctx, p)
	return nil, out, err
}

func (s *Server) nextCall(ctx context.Context, r *sdk.CallToolRequest, in callInput) (*sdk.CallToolResult, callOutput, error) {
	p, err := s.find(r.Session, in.Play)
	if err != nil {
		return nil, callOutput{}, err
	}
	out, err := s.proceed(ctx, p)
	return nil, out, err
}

type listPlaysOutput struct {
	Plays []listedPlay `json:"plays"`
}

type listedPlay struct {
	Play     string   `json:"play"`
	Case     string   `json:"case"`
	Personas []string `json:"personas"`
	Call     int      `json:"call,omitempty" jsonschema:"the number of the call that waits for your answer"`
	Ended    bool     `json:"ended" jsonschema:"the trial has ended: next_call gives the result"`
}

func (s *Server) listPlays(_ context.Context, r *sdk.CallToolRequest, _ nothingInput) (*sdk.CallToolResult, listPlaysOutput, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := listPlaysOutput{Plays: []listedPlay{}}
	for _, p := range s.plays {
		if p.owner == r.Session {
			out.Plays = append(out.Plays, listedPlay{p.id, p.of, p.models, p.waits(), p.ended()})
		}
	}
	return nil, out, nil
}

func (s *Server) endPlay(ctx context.Context, r *sdk.CallToolRequest, in callInput) (*sdk.CallToolResult, textOutput, error) {
	p, err := s.find(r.Session, in.Play)
	if err != nil {
		return nil, textOutput{}, err
	}
	if err := s.drop(ctx, p); err != nil {
		return nil, textOutput{}, err
	}
	return nil, textOutput{p.id + " has ended"}, nil
}

func (s *Server) submit(ctx context.Context, r *sdk.CallToolRequest, in submitInput) (*sdk.CallToolResult, callOutput, error) {
	p, err := s.find(r.Session, in.Play)
	if err != nil {
		return nil, callOutput{}, err
	}
	answer, ok := in.Answer.(string)
	if !ok {
		data, err := json.Marshal(in.Answer)
		if err != nil {
			return nil, callOutput{}, err
		}
		answer = string(data)
	}
	if len(answer) > maxAnswerBytes {
		return nil, callOutput{}, fmt.Errorf("the answer has %d bytes; at most %d are allowed", len(answer), maxAnswerBytes)
	}
	problems, err := p.submit(in.Call, answer)
	if err != nil {
		return nil, callOutput{}, err
	}
	if len(problems) > 0 {
		return nil, callOutput{Play: p.id, Call: in.Call, Problems: problems}, nil
	}
	out, err := s.proceed(ctx, p)
	return nil, out, err
}

// maxAnswerBytes limits an answer: records keep it.
const maxAnswerBytes = 256 << 10

// proceed waits for the next call or the end of a trial.
func (s *Server) proceed(ctx context.Context, p *play) (callOutput, error) {
	c, err := p.next(ctx)
	if err != nil {
		return callOutput{}, err
	}
	if c == nil {
		if p.err != nil {
			return callOutput{}, p.err
		}
		result, err := resultOf(p.result)
		return callOutput{Play: p.id, Labels: p.labels, Result: result}, err
	}
	out := callOutput{Play: p.id, Call: c.number, Persona: c.completion.Model, Labels: p.labels}
	if c.completion.Schema != "" {
		if err := json.Unmarshal([]byte(c.completion.Schema), &out.Schema); err != nil {
			return out, err
		}
	}
	for _, m := range c.completion.Messages {
		out.Messages = append(out.Messages, messageOutput{string(m.Role), m.Content})
	}
	return out, nil
}

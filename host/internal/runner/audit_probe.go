package runner

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/audit"
	"github.com/shadowcourt/shadowcourt/host/internal/runtime"
	"github.com/shadowcourt/shadowcourt/host/internal/runtime/invoker"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// probeOpinion is what judges are probed with.
const probeOpinion = "The court affirms the charge, because the log says so, with a confidence of 0.5."

// Probe finds parameters of the rubric that a judge's module rejects, before any opinion is audited. Each judge with
// parameters is asked for its opinion on a sentence: one that fails with them, and not without, rejects them. The error is a
// pipeline.Errors with every such judge, by its place in the rubric; or the context's.
func (a *Audit) Probe(ctx context.Context, g *runtime.Generation) error {
	var faults pipeline.Errors
	for i := range a.rubric.Judges {
		judge := &a.rubric.Judges[i]
		if len(judge.With) == 0 {
			continue
		}
		s := g.Trial(&abi.Case{ID: unknown}, nil).Session(a.graph)
		if why := rejectsParams(ctx, s, judge, a.rubric.ScoredBy(judge.ID)); why != "" {
			path := "judges[" + strconv.Quote(judge.ID) + "].with"
			at := a.rubric.Position(path)
			faults = append(faults, &pipeline.Error{
				File: a.rubric.File(), Line: at.Line, Column: at.Column, Path: path, Code: audit.CodeParameters,
				Message: "the module " + judge.Module + " rejects them: " + why,
			})
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if len(faults) == 0 {
		return nil
	}
	slices.SortStableFunc(faults, func(a, b *pipeline.Error) int { return cmp.Compare(a.Line, b.Line) })
	return faults
}

// rejectsParams tells why a judge fails with its parameters; empty if it does
// not, or fails without them as well.
func rejectsParams(ctx context.Context, s *runtime.Session, judge *audit.Judge, criteria []*audit.Criterion) string {
	request := &abi.JudgeRequest{
		Judge: judge.ID, Opinion: abi.JudicialOpinion{Text: probeOpinion, CaseID: trial.Unnamed, CourtName: trial.Unnamed},
		Criteria: make([]abi.Criterion, len(criteria)), Evidence: []abi.Evidence{}, Params: invoker.Params(judge.With),
	}
	for i, c := range criteria {
		request.Criteria[i] = abi.Criterion{CriterionID: judge.As(c.ID), Category: c.Category, Description: c.Description}
	}
	const probe = "probe" // in place of a node
	with, err := s.Judge(ctx, judge.Module, probe, request)
	if err != nil || with.Failure == nil {
		return ""
	}
	request.Params = nil
	if without, err := s.Judge(ctx, judge.Module, probe, request); err != nil || without.Failure != nil {
		return ""
	}
	return with.Failure.Code + ": " + with.Failure.Message
}

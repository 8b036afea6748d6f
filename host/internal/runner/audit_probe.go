package runner

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/audit"
	"github.com/shadowcourt/shadowcourt/host/internal/runtime/invoker"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// CodeParameters is the fault of a judge's parameters that its module rejects.
const CodeParameters pipeline.Code = "parameters"

// probeOpinion is what judges are probed with.
const probeOpinion = "The court affirms the charge, because the log says so, with a confidence of 0.5."

// Probe finds parameters of the rubric that a judge's module rejects, before any
// opinion is audited. Each judge that has parameters is asked for its opinion on a
// sentence: one that gives up with them, and does not without, rejects them. The
// error, if any, is a pipeline.Errors with every such judge, by its place in the
// rubric; or the context's. The calls are seen by Observe.
func (a *Auditor) Probe(ctx context.Context) error {
	generation, err := a.host.registry.Acquire()
	if err != nil {
		return err
	}
	defer func() { _ = generation.Release(context.WithoutCancel(ctx)) }()
	var faults pipeline.Errors
	for i := range a.rubric.Judges {
		judge := &a.rubric.Judges[i]
		if len(judge.With) == 0 {
			continue
		}
		s := &session{host: a.host, generation: generation, graph: a.host.graph, account: newAccount(), subject: &abi.Case{ID: unknown}}
		if why := s.refusesParams(ctx, judge, a.rubric.ScoredBy(judge.ID)); why != "" {
			path := "judges[" + strconv.Quote(judge.ID) + "].with"
			at := a.rubric.Position(path)
			faults = append(faults, &pipeline.Error{
				File: a.rubric.File(), Line: at.Line, Column: at.Column, Path: path, Code: CodeParameters,
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

// refusesParams says why a judge gives up with its parameters; empty if it does
// not, or does without them as well.
func (s *session) refusesParams(ctx context.Context, judge *audit.Judge, criteria []*audit.Criterion) string {
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

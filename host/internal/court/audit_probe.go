package court

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/audit"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// probeOpinion is what judges are probed with.
const probeOpinion = "The court affirms the charge, because the log says so, with a confidence of 0.5."

// Probe finds parameters of the rubric that a judge's module rejects, before any opinion is audited. Each judge with
// parameters is asked for its opinion on a sentence: one that fails with them, and not without, rejects them. The error is a
// pipeline.Errors with every such judge, by its place in the rubric; or the context's.
func (a *Audit) Probe(ctx context.Context) error {
	modules, release, err := a.orInForce(ctx, nil)
	if err != nil {
		return err
	}
	defer release()
	var faults pipeline.Errors
	for i := range a.rubric.Judges {
		judge := &a.rubric.Judges[i]
		if len(judge.With) == 0 {
			continue
		}
		v := newSession(&a.config.Services, a.Runtime, modules, &abi.Case{ID: trial.Unnamed}, nil).invoker(a.graph)
		if why := rejectsParams(ctx, v, judge, a.rubric.ScoredBy(judge.ID)); why != "" {
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
func rejectsParams(ctx context.Context, v *invoker, judge *audit.Judge, criteria []*audit.Criterion) string {
	request := judgeRequest(judge, criteria)
	request.Opinion = abi.JudicialOpinion{Text: probeOpinion, CaseID: trial.Unnamed, CourtName: trial.Unnamed}
	request.Evidence = []abi.Evidence{}
	const probe = "probe" // in place of a node
	with, err := v.judgeOnce(ctx, probe, judge.Module, request)
	if err != nil || with.Failure == nil {
		return ""
	}
	request.Params = nil
	if without, err := v.judgeOnce(ctx, probe, judge.Module, request); err != nil || without.Failure != nil {
		return ""
	}
	return with.Failure.Code + ": " + with.Failure.Message
}

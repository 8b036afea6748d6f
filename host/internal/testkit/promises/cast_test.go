package promises_test

import (
	"context"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/host/internal/runtime/invoker"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// cast plays all modules honestly, but for one answer. Its answers pass the
// decoder, as those of modules do.
type cast struct {
	family    abi.Family // whose artifact is spoilt
	spoil     func(*abi.Artifact)
	asks      *abi.Experiment // in place of the artifact of the family
	completes *abi.Completion // likewise
	challenge *abi.Challenge
	edges     func(*abi.EdgeResponse)
	judge     func(*abi.JudgeResponse)
}

const logLine = "panic: nil map in cache.go"

func subject() *abi.Case {
	return &abi.Case{
		ID: "1", Labels: []string{"product", "flake"}, Light: &abi.LightAnswer{Classification: "product", Confidence: 0.7},
		Evidence:  []abi.Evidence{{SourceRef: "log:L1", Content: logLine, Element: abi.Water}, {SourceRef: "log:L2", Content: "exit 2", Element: abi.Earth}},
		Documents: []abi.Document{{Name: "log", Text: logLine + "\nexit 2\n"}},
	}
}

func (c *cast) Node(_ context.Context, _ string, req *abi.NodeRequest) (*abi.NodeResponse, error) {
	a := honest(req)
	if c.spoil != nil && req.Family == c.family {
		c.spoil(a)
	}
	response := &abi.NodeResponse{Artifact: a}
	if c.asks != nil && req.Family == c.family {
		response = &abi.NodeResponse{Experiment: c.asks}
	}
	if c.completes != nil && req.Family == c.family {
		response = &abi.NodeResponse{Completion: c.completes}
	}
	r, err := codec.DecodeNodeResponse(codec.AppendNodeResponse(nil, response), 0)
	return &r, err
}

func honest(req *abi.NodeRequest) *abi.Artifact {
	switch req.Family {
	case abi.FamilyIndict:
		v := &abi.Indictment{ChargedDefectType: req.Case.Light.Classification, Confidence: 0.6}
		for _, e := range req.Case.Evidence {
			v.Evidence = append(v.Evidence, abi.IndictmentItem{SourceRef: e.SourceRef, Content: e.Content, Supports: e.Supports, Element: e.Element, Weight: 0.5})
		}
		return &abi.Artifact{Indictment: v}
	case abi.FamilyDiscover:
		return &abi.Artifact{Discovery: &abi.Discovery{Findings: []abi.Finding{{Document: "log", Quote: logLine, Supports: "product"}}}}
	case abi.FamilyDefend:
		return &abi.Artifact{DefenseBrief: &abi.DefenseBrief{MotionToDismiss: true}}
	case abi.FamilyHearing:
		return &abi.Artifact{HearingTurn: &abi.HearingTurn{Argument: "it is so"}}
	case abi.FamilyVerdict:
		return &abi.Artifact{Verdict: &abi.Verdict{Decision: abi.Acquit}}
	default:
		return &abi.Artifact{}
	}
}

func (c *cast) Contest(_ context.Context, _ string, req *abi.ContestRequest) (*abi.ContestResponse, error) {
	r := &abi.ContestResponse{}
	if c.challenge != nil {
		ch := *c.challenge
		if ch.EvidenceIndex == 0 {
			ch.EvidenceIndex = req.Items[0].EvidenceIndex
		}
		r.Challenges = []abi.Challenge{ch}
	}
	decoded, err := codec.DecodeContestResponse(codec.AppendContestResponse(nil, r), 0)
	return &decoded, err
}

// Edges takes the edges that end the hearing and acquit.
func (c *cast) Edges(_ context.Context, _ string, req *abi.EdgeRequest) (*abi.EdgeResponse, error) {
	r := &abi.EdgeResponse{}
	for _, q := range req.Questions {
		fires := q.ID == "HD3" || q.ID == "HD5" || q.ID == "HD9"
		r.Answers = append(r.Answers, abi.EdgeAnswer{ID: q.ID, Fires: fires})
	}
	if c.edges != nil {
		c.edges(r)
	}
	decoded, err := codec.DecodeEdgeResponse(codec.AppendEdgeResponse(nil, r), 0)
	return &decoded, err
}

func (c *cast) Judge(_ context.Context, _, _ string, req *abi.JudgeRequest) (*abi.JudgeResponse, error) {
	r := &abi.JudgeResponse{}
	for _, criterion := range req.Criteria {
		r.Opinions = append(r.Opinions, abi.CriterionOpinion{Judge: req.Judge, CriterionID: criterion.CriterionID, NumericScore: 3})
	}
	c.judge(r)
	decoded, err := codec.DecodeJudgeResponse(codec.AppendJudgeResponse(nil, r), 0)
	return &decoded, err
}

func (*cast) Digest(module string) string { return "sha256:" + module }
func (*cast) Replaced(trial.Fallback)     {}
func (*cast) Recorder() invoker.Recorder  { return nil }
func (*cast) Told() []abi.Element         { return nil }

package promises_test

import (
	"context"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/host/internal/sandbox"
)

// cast plays all modules honestly, but for one answer. Its answers pass the decoder, as those of modules do.
type cast struct {
	family    abi.Family // whose artifact is spoilt
	spoil     func(*abi.Artifact)
	asks      *abi.Experiment     // in place of the artifact of the family
	completes *abi.Completion     // likewise
	again     *abi.Artifact       // of the Light path after a remand
	feedback  *abi.RemandFeedback // that the verdict remands with
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

// Call answers as the module of a persona, of edges or of a judge.
func (c *cast) Call(_ context.Context, _ string, call abi.Call, request []byte) (sandbox.Output, error) {
	var message []byte
	var err error
	switch call {
	case abi.CallNode:
		message, err = answer(codec.DecodeNodeRequest, codec.AppendNodeResponse, c.node)(request)
	case abi.CallContest:
		message, err = answer(codec.DecodeContestRequest, codec.AppendContestResponse, c.contest)(request)
	case abi.CallJudge:
		message, err = answer(codec.DecodeJudgeRequest, codec.AppendJudgeResponse, c.judged)(request)
	default:
		message, err = answer(codec.DecodeEdgeRequest, codec.AppendEdgeResponse, c.edge)(request)
	}
	return sandbox.Output{Bytes: message}, err
}

func answer[Req, Resp any](decode func([]byte, int) (Req, error), encode func([]byte, *Resp) []byte, do func(*Req) *Resp) func([]byte) ([]byte, error) {
	return func(request []byte) ([]byte, error) {
		req, err := decode(request, len(request))
		return encode(nil, do(&req)), err
	}
}

func (c *cast) node(req *abi.NodeRequest) *abi.NodeResponse {
	a := honest(req)
	switch {
	case c.feedback != nil && req.Family == abi.FamilyVerdict:
		a.Verdict = &abi.Verdict{Decision: abi.Remand, RemandFeedback: c.feedback}
	case c.again != nil && req.Family == c.family:
		if a = honest(req); req.File.Feedback != nil {
			a = c.again
		}
	case c.spoil != nil && req.Family == c.family:
		c.spoil(a)
	}
	response := &abi.NodeResponse{Artifact: a}
	if c.asks != nil && req.Family == c.family {
		response = &abi.NodeResponse{Experiment: c.asks}
	}
	if c.completes != nil && req.Family == c.family {
		response = &abi.NodeResponse{Completion: c.completes}
	}
	return response
}

func honest(req *abi.NodeRequest) *abi.Artifact {
	switch req.Family {
	case abi.FamilyIndict:
		v := &abi.Indictment{ChargedDefectType: req.Case.Light.Classification, Confidence: 0.6}
		for _, e := range req.Case.Evidence {
			v.Evidence = append(v.Evidence, abi.IndictmentItem{SourceRef: e.SourceRef, Content: e.Content, Supports: e.Supports, Element: e.Element, Weight: 0.5})
		}
		return &abi.Artifact{Indictment: v}
	case abi.FamilyReport:
		return &abi.Artifact{Report: &abi.LightReport{Classification: "product", Confidence: 0.7}}
	case abi.FamilyCollect:
		return &abi.Artifact{Discovery: &abi.Discovery{}}
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

func (c *cast) contest(req *abi.ContestRequest) *abi.ContestResponse {
	r := &abi.ContestResponse{}
	if c.challenge != nil {
		ch := *c.challenge
		if ch.EvidenceIndex == 0 {
			ch.EvidenceIndex = req.Items[0].EvidenceIndex
		}
		r.Challenges = []abi.Challenge{ch}
	}
	return r
}

// edge takes the edges that end the hearing and acquit, or remand.
func (c *cast) edge(req *abi.EdgeRequest) *abi.EdgeResponse {
	r := &abi.EdgeResponse{}
	for _, q := range req.Questions {
		fires := q.ID == "HD3" || q.ID == "HD5" || q.ID == "HD9" && c.feedback == nil || q.ID == "HD8" && c.feedback != nil
		r.Answers = append(r.Answers, abi.EdgeAnswer{ID: q.ID, Fires: fires})
	}
	if c.edges != nil {
		c.edges(r)
	}
	return r
}

func (c *cast) judged(req *abi.JudgeRequest) *abi.JudgeResponse {
	r := &abi.JudgeResponse{}
	for _, criterion := range req.Criteria {
		r.Opinions = append(r.Opinions, abi.CriterionOpinion{Judge: req.Judge, CriterionID: criterion.CriterionID, NumericScore: 3})
	}
	c.judge(r)
	return r
}

func (*cast) Digest(module string) string { return "sha256:" + module }

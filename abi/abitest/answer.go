package abitest

import (
	"bytes"
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
)

// answer is a response that was read.
type answer struct {
	failure   *abi.Failure
	canonical bool
	node      *abi.NodeResponse
	contest   *abi.ContestResponse
	edges     *abi.EdgeResponse
	judge     *abi.JudgeResponse
}

// finding is a check that a response breaks, and how.
type finding struct {
	check  CheckID
	detail string
}

// read decodes the response of a call strictly. What is wrong with it by
// itself is the finding; then there is no answer.
func read(call abi.Call, response []byte) (answer, *finding) {
	if len(response) == 0 {
		return answer{}, &finding{CheckMessage, "the response has no bytes"}
	}
	var a answer
	var err error
	var again []byte
	switch call {
	case abi.CallNode:
		var r abi.NodeResponse
		r, err = codec.DecodeNodeResponse(response, len(response))
		a.node, a.failure, again = &r, r.Failure, codec.AppendNodeResponse(nil, &r)
	case abi.CallContest:
		var r abi.ContestResponse
		r, err = codec.DecodeContestResponse(response, len(response))
		a.contest, a.failure, again = &r, r.Failure, codec.AppendContestResponse(nil, &r)
	case abi.CallEdges:
		var r abi.EdgeResponse
		r, err = codec.DecodeEdgeResponse(response, len(response))
		a.edges, a.failure, again = &r, r.Failure, codec.AppendEdgeResponse(nil, &r)
	case abi.CallJudge:
		var r abi.JudgeResponse
		r, err = codec.DecodeJudgeResponse(response, len(response))
		a.judge, a.failure, again = &r, r.Failure, codec.AppendJudgeResponse(nil, &r)
	}
	if err != nil {
		f := rejected(err)
		f.detail += hint(call, response)
		return answer{}, f
	}
	a.canonical = bytes.Equal(again, response)
	return a, nil
}

// acrossFields are the codes of §9.1.
var acrossFields = []abi.Code{ //nolint:gochecknoglobals // a constant
	abi.CodeExactlyOne, abi.CodeDuplicateLabel, abi.CodeDuplicateName, abi.CodeDuplicateID, abi.CodeNotALabel,
	abi.CodeClassification, abi.CodeRemandFeedback, abi.CodeConcedesAndFights, abi.CodeThresholds, abi.CodeProbability,
	abi.CodeGlobalScore,
}

// rejected says which check the problems of a message are about: those of
// fields come before those across fields.
func rejected(err error) *finding {
	var v *abi.ValidationError
	if !errors.As(err, &v) {
		return &finding{CheckEncoding, err.Error()}
	}
	check := CheckConsistent
	for _, p := range v.Problems {
		if !slices.Contains(acrossFields, p.Code) {
			check = CheckEncoding
		}
	}
	return &finding{check, problems(v)}
}

// problems gives the first few of a list, with their codes.
func problems(v *abi.ValidationError) string {
	var lines []string
	for _, p := range v.Problems[:min(len(v.Problems), 3)] {
		lines = append(lines, p.String()+" ["+string(p.Code)+"]")
	}
	if more := len(v.Problems) + v.Omitted - len(lines); more > 0 {
		lines = append(lines, "...")
	}
	return strings.Join(lines, "; ")
}

// judge checks what a call gave against the request as a host does: first by itself,
// then against §9.2. Without a finding the answer may be a failure.
func (r *Request) judge(o *Outcome) (answer, *finding) {
	a, f := o.answer(r.Call())
	if f != nil || a.failure != nil {
		return a, f
	}
	var c abi.Collector
	check := CheckContest
	switch {
	case a.node != nil && a.node.Experiment != nil:
		check = CheckOffers
		abi.CheckExperiment(a.node.Experiment, r.Node.Offers, &c)
	case a.node != nil && a.node.Completion != nil:
		check = CheckModels
		abi.CheckCompletion(a.node.Completion, r.Node.Models, &c)
	case a.node != nil:
		check = r.checkNode(a.node.Artifact, &c)
	case a.contest != nil:
		r.checkContest(a.contest.Challenges, &c)
	case a.edges != nil:
		check = CheckEdges
		abi.CheckEdgeAnswers(a.edges.Answers, r.Edges.Questions, &c)
	case a.judge != nil:
		check = CheckJudge
		abi.CheckOpinions(a.judge.Opinions, r.Judge, &c)
		r.checkCited(a.judge.Opinions, &c)
	}
	if err := c.Err(); err != nil {
		var v *abi.ValidationError
		errors.As(err, &v)
		if v.Problems[0].Code == abi.CodeIdentity {
			check = CheckIdentity
		}
		return a, &finding{check, problems(v)}
	}
	return a, nil
}

func (r *Request) checkContest(list []abi.Challenge, c *abi.Collector) {
	allowed := []int{}
	for i := range r.Contest.Items {
		allowed = append(allowed, r.Contest.Items[i].EvidenceIndex)
	}
	items := slices.Max(append([]int{-1}, allowed...)) + 1
	abi.CheckChallenges("challenges", list, items, allowed, r.Contest.Persona.Name, nil, c)
}

// checkNode checks an artifact against its request, and gives the check of the family.
func (r *Request) checkNode(a *abi.Artifact, c *abi.Collector) CheckID {
	req := r.Node
	self, labels := req.Persona.Name, req.Case.Labels
	if family := a.Family(); family != req.Family && (req.Family != abi.FamilyCollect || a.Discovery == nil) {
		c.Add(abi.CodeWrongArtifact, "is a "+cmp.Or(string(family), "hearing record")+", which a node of the family "+string(req.Family)+" does not give", abi.Field("artifact"))
		return CheckArtifact
	}
	switch {
	case a.Indictment != nil:
		abi.CheckIndictment(a.Indictment, req.Case.Light, req.Case.Evidence, c)
		return CheckIndict
	case a.Discovery != nil:
		abi.CheckDiscovery(a.Discovery, labels, abi.ModelSources(req.Completions), r.docs.Contains, c)
		return CheckDiscover
	case a.DefenseBrief != nil:
		abi.CheckBrief(a.DefenseBrief, req.Indictment, labels, self, req.Contested, c)
		return CheckDefend
	case a.HearingTurn != nil:
		abi.CheckTurn(a.HearingTurn, len(req.Indictment.Evidence), labels, self, req.Contested, r.stands, c)
		return CheckHearing
	case a.Verdict != nil:
		abi.CheckVerdict(a.Verdict, req.Indictment, labels, c)
		return CheckVerdict
	}
	var feedback *abi.RemandFeedback
	if req.File != nil {
		feedback = req.File.Feedback
	}
	abi.CheckLight(a, feedback, labels, req.Case.Evidence, c)
	return CheckLight
}

// stands says whether a new item is one of the case, or quotes the document that it names.
func (r *Request) stands(item *abi.IndictmentItem) bool {
	return item.IsOfCase(r.Node.Case.Evidence) || r.docs.Cites(item.SourceRef, item.Content)
}

// citedOpinion is the source_ref by which a judge cites the text under audit (§4.16).
const citedOpinion = "opinion"

// checkCited checks that opinions cite what is there.
func (r *Request) checkCited(list []abi.CriterionOpinion, c *abi.Collector) {
	for i := range list {
		for j, ref := range list[i].CitedEvidence {
			if ref != citedOpinion && !slices.ContainsFunc(r.Judge.Evidence, func(e abi.Evidence) bool { return e.SourceRef == ref }) {
				c.Add(abi.CodeWrongAnswers, "there is no evidence "+strconv.Quote(ref), abi.Field("opinions"), abi.Index(i), abi.Field("cited_evidence"), abi.Index(j))
			}
		}
	}
}

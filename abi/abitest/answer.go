package abitest

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/internal/quotes"
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

// FailureOf decodes the response of a call strictly, and gives the failure with which the module says that it has no answer.
func FailureOf(call abi.Call, response []byte) (*abi.Failure, error) {
	a, err := decode(call, response)
	return a.failure, err
}

func decode(call abi.Call, response []byte) (a answer, err error) {
	switch call {
	case abi.CallNode:
		a.node, a.canonical, err = asResponse(response, codec.DecodeNodeResponse, codec.AppendNodeResponse)
		a.failure = a.node.Failure
	case abi.CallContest:
		a.contest, a.canonical, err = asResponse(response, codec.DecodeContestResponse, codec.AppendContestResponse)
		a.failure = a.contest.Failure
	case abi.CallEdges:
		a.edges, a.canonical, err = asResponse(response, codec.DecodeEdgeResponse, codec.AppendEdgeResponse)
		a.failure = a.edges.Failure
	case abi.CallJudge:
		a.judge, a.canonical, err = asResponse(response, codec.DecodeJudgeResponse, codec.AppendJudgeResponse)
		a.failure = a.judge.Failure
	}
	return a, err
}

// read decodes the response of a call. What is wrong with it by itself is the finding; then there is no answer.
func read(call abi.Call, response []byte) (answer, *finding) {
	if len(response) == 0 {
		return answer{}, &finding{CheckMessage, "the response has no bytes"}
	}
	a, err := decode(call, response)
	if err != nil {
		f := rejected(err)
		f.detail += hint(response)
		return answer{}, f
	}
	return a, nil
}

func asResponse[T any](response []byte, decode func([]byte, int) (T, error), encode func([]byte, *T) []byte) (v *T, canonical bool, err error) {
	read, err := decode(response, len(response))
	return &read, bytes.Equal(encode(nil, &read), response), err
}

// acrossFields are the codes of §9.1.
var acrossFields = []abi.Code{ //nolint:gochecknoglobals // a constant
	abi.CodeExactlyOne, abi.CodeDuplicateLabel, abi.CodeDuplicateName, abi.CodeDuplicateID, abi.CodeNotALabel,
	abi.CodeClassification, abi.CodeRemandFeedback, abi.CodeConcedesAndFights, abi.CodeThresholds, abi.CodeProbability,
	abi.CodeGlobalScore,
}

// rejected says which check the problems of a message are about: those of fields come before those across fields.
func rejected(err error) *finding {
	v, ok := errors.AsType[*abi.ValidationError](err)
	if !ok {
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
	if v, ok := errors.AsType[*abi.ValidationError](c.Err()); ok {
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
	case a.Discovery != nil:
		abi.CheckDiscovery(a.Discovery, labels, abi.ModelSources(req.Completions), r.docs.Contains, c)
	case a.DefenseBrief != nil:
		abi.CheckBrief(a.DefenseBrief, req.Indictment, labels, self, req.Contested, c)
	case a.HearingTurn != nil:
		abi.CheckTurn(a.HearingTurn, len(req.Indictment.Evidence), labels, self, req.Contested, r.stands, c)
	case a.Verdict != nil:
		abi.CheckVerdict(a.Verdict, req.Indictment, labels, c)
	default:
		var feedback *abi.RemandFeedback
		if req.File != nil {
			feedback = req.File.Feedback
		}
		abi.CheckLight(a, feedback, labels, req.Case.Evidence, c)
	}
	return familyCheck(req.Family)
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

// hint says what a response may be that is rejected, and empty if it is nothing that authors are known to send.
func hint(response []byte) string {
	const long = 1 << 10 // with both swapped, the response has as many bytes as lie before it
	switch text := bytes.TrimLeft(response, " \t\r\n"); {
	case len(text) > 0 && (text[0] == '{' || text[0] == '['):
		return "; it begins with `" + string(text[:1]) + "`: is it JSON? §3 asks for MessagePack"
	case response[0]>>4 != 8 && response[0] != 0xde && response[0] != 0xdf && len(response) > long:
		return "; it does not begin with a map: are pointer and length of the result swapped? §2.4 asks for pointer << 32 | length"
	}
	return ""
}

// Request is a request that keeps the contract, with what is needed to check
// an answer. Exactly one of Node, Contest, Edges and Judge is there.
type Request struct {
	// Name says what it is, such as "case 17, hearing, defense".
	Name    string
	Node    *abi.NodeRequest
	Contest *abi.ContestRequest
	Edges   *abi.EdgeRequest
	Judge   *abi.JudgeRequest
	// docs of the case, which the module may not see.
	docs *quotes.Documents
	// Knowledge of the host, which the module may ask for.
	Knowledge *Knowledge
}

// Call is the kind of call that the request is for.
func (r *Request) Call() abi.Call {
	switch {
	case r.Node != nil:
		return abi.CallNode
	case r.Contest != nil:
		return abi.CallContest
	case r.Edges != nil:
		return abi.CallEdges
	default:
		return abi.CallJudge
	}
}

// role is what the request is for: a family of nodes, or another kind of call.
func (r *Request) role() string {
	if r.Node != nil {
		return string(r.Node.Family)
	}
	return string(r.Call())
}

// Bytes is the canonical message.
func (r *Request) Bytes() []byte {
	switch {
	case r.Node != nil:
		return codec.AppendNodeRequest(nil, r.Node)
	case r.Contest != nil:
		return codec.AppendContestRequest(nil, r.Contest)
	case r.Edges != nil:
		return codec.AppendEdgeRequest(nil, r.Edges)
	default:
		return codec.AppendJudgeRequest(nil, r.Judge)
	}
}

// addParam gives a copy with one more parameter.
func (r *Request) addParam(p abi.Param) *Request {
	c := *r
	add := func(list []abi.Param) []abi.Param { return append(append([]abi.Param{}, list...), p) }
	switch {
	case r.Node != nil:
		n := *r.Node
		n.Params = add(n.Params)
		c.Node = &n
	case r.Contest != nil:
		n := *r.Contest
		n.Params = add(n.Params)
		c.Contest = &n
	case r.Edges != nil:
		n := *r.Edges
		n.Questions = append([]abi.EdgeQuestion{}, n.Questions...)
		n.Questions[0].Params = add(n.Questions[0].Params)
		c.Edges = &n
	default:
		n := *r.Judge
		n.Params = add(n.Params)
		c.Judge = &n
	}
	return &c
}

// Ending is how a call ended.
type Ending string

// The endings, by what §2.16 calls them.
const (
	Returned       Ending = ""
	Trapped        Ending = "trap"
	StackExceeded  Ending = "stack_overflow"
	Exited         Ending = "exit"
	Denied         Ending = "denied"
	OutOfMemory    Ending = "out_of_memory"
	BadPointer     Ending = "bad_pointer"
	OutOfBounds    Ending = "output_out_of_bounds"
	OutputTooLarge Ending = "output_too_large"
	OutOfFuel      Ending = "fuel_exhausted"
	OutOfTime      Ending = "wall_clock"
	BadQuestion    Ending = "bad_request"
	QuestionDenied Ending = "question_denied"
	// Declined is a module of the Extism binding that said so: it counts as a failure in a response.
	Declined Ending = "failed"
)

// Outcome is what came of a call.
type Outcome struct {
	Ending Ending
	// Response, where the call returned.
	Response []byte
	// Fuel that it spent.
	Fuel uint64
	// Allocating: it ended in the allocator. Preparing: in shadowcourt_prepare.
	Allocating, Preparing bool
	// Detail of a call that did not return, and what the module wrote to its standard error.
	Detail, Stderr string
}

// answer reads the response of a call that came back with one. What is wrong with it by itself is the finding.
func (o *Outcome) answer(call abi.Call) (answer, *finding) {
	if o.Ending == Declined {
		return answer{canonical: true, failure: &abi.Failure{Code: string(Declined), Message: o.Detail}}, nil
	}
	return read(call, o.Response)
}

// answered says whether a call came back with a response, or declined.
func (o *Outcome) answered() bool { return o.Ending == Returned || o.Ending == Declined }

// ended says how a call ended that has no response, by the names of SPEC.md §2.16.
func (o *Outcome) ended() string {
	cause := o.Ending
	if cause == QuestionDenied {
		cause = Denied
	}
	return string(cause) + ": " + o.Detail
}

// Subject makes calls to the module under test. Every call begins in pristine memory. An error is not the module's doing, and ends the kit.
type Subject interface {
	Call(ctx context.Context, call abi.Call, request []byte, k *Knowledge) (Outcome, error)
}

// Subjects are the module in the lives that a host may give it.
type Subjects struct {
	// Usual is as trials have it: warmed, reset after each call.
	Usual Subject
	// Fresh is warmed too, and has a new instance for every call.
	Fresh Subject
	// Cold was not called before.
	Cold Subject
}

// Knowledge is what a host knows when a module asks it through a capability.
type Knowledge struct {
	Prior  abi.PriorCases
	Source abi.SourceAnswer
}

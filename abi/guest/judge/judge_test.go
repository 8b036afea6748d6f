package judge_test

import (
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/abi/guest"
	"github.com/shadowcourt/shadowcourt/abi/guest/judge"
)

func TestAnswer(t *testing.T) {
	t.Parallel()
	request := codec.AppendJudgeRequest(nil, &abi.JudgeRequest{
		Judge: "prosecutor", Opinion: abi.JudicialOpinion{Text: "It is so ordered."}, Criteria: []abi.Criterion{{CriterionID: "clear"}},
	})
	full := func(r *abi.JudgeRequest) ([]abi.CriterionOpinion, *abi.Failure) {
		return []abi.CriterionOpinion{{Judge: r.Judge, CriterionID: r.Criteria[0].CriterionID, NumericScore: 5}}, nil
	}
	response, err := codec.DecodeJudgeResponse(judge.Answer(full, request), 0)
	if err != nil || len(response.Opinions) != 1 {
		t.Errorf("response %+v, error %v", response, err)
	}
	response, err = codec.DecodeJudgeResponse(judge.Answer(full, []byte{0xc1}), 0)
	if err != nil || response.Failure == nil || response.Failure.Code != guest.BadRequest {
		t.Errorf("response %+v, error %v", response, err)
	}
}

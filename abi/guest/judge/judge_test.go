package judge_test

import (
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/guest"
	"github.com/shadowcourt/shadowcourt/abi/guest/judge"
	"github.com/shadowcourt/shadowcourt/abi/wire"
)

func TestAnswer(t *testing.T) {
	t.Parallel()
	request := wire.AppendJudgeRequest(nil, &abi.JudgeRequest{
		Judge: "prosecutor", Opinion: abi.JudicialOpinion{Text: "It is so ordered."}, Criteria: []abi.Criterion{{CriterionID: "clear"}},
	})
	full := func(r *abi.JudgeRequest) ([]abi.CriterionOpinion, *abi.Failure) {
		return []abi.CriterionOpinion{{Judge: r.Judge, CriterionID: r.Criteria[0].CriterionID, NumericScore: 5}}, nil
	}
	var response abi.JudgeResponse
	if err := wire.DecodeJudgeResponse(judge.Answer(full, request), &response); err != nil || len(response.Opinions) != 1 {
		t.Errorf("response %+v, error %v", response, err)
	}
	if err := wire.DecodeJudgeResponse(judge.Answer(full, []byte{0xc1}), &response); err != nil || response.Failure == nil || response.Failure.Code != guest.BadRequest {
		t.Errorf("response %+v, error %v", response, err)
	}
}

package edges_test

import (
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/abi/guest"
	"github.com/shadowcourt/shadowcourt/abi/guest/edges"
)

func TestAnswer(t *testing.T) {
	t.Parallel()
	first := func(r *abi.EdgeRequest) ([]abi.EdgeAnswer, *abi.Failure) {
		return []abi.EdgeAnswer{{ID: r.Questions[0].ID, Fires: true}}, nil
	}
	request := codec.AppendEdgeRequest(nil, &abi.EdgeRequest{Node: "n", Family: abi.FamilyIndict, Questions: []abi.EdgeQuestion{{ID: "e", Evaluator: "x"}}})
	response, err := codec.DecodeEdgeResponse(edges.Answer(first, request), 0)
	if err != nil {
		t.Fatal(err)
	}
	if response.Failure != nil || len(response.Answers) != 1 || response.Answers[0].ID != "e" {
		t.Errorf("response %+v", response)
	}
	response, err = codec.DecodeEdgeResponse(edges.Answer(first, request[:len(request)-1]), 0)
	if err != nil {
		t.Fatal(err)
	}
	if response.Failure == nil || response.Failure.Code != guest.BadRequest || len(response.Answers) != 0 {
		t.Errorf("response to a cut request %+v", response)
	}
}

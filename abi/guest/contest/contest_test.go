package contest_test

import (
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/abi/guest"
	"github.com/shadowcourt/shadowcourt/abi/guest/contest"
)

func TestAnswer(t *testing.T) {
	t.Parallel()
	request := codec.AppendContestRequest(nil, &abi.ContestRequest{
		Persona:           abi.Persona{Name: "abyss", Element: abi.Water, Role: "defense", Alignment: "defender"},
		ChargedDefectType: "a", Labels: []string{"a", "b"},
	})
	nothing := func(*abi.ContestRequest) ([]abi.Challenge, *abi.Failure) { return nil, nil }
	for _, tc := range []struct {
		name    string
		handler contest.Handler
		request []byte
		code    string
	}{
		{"no challenges", nothing, request, ""},
		{"a cut request", nothing, request[:9], guest.BadRequest},
		{"no handler", nil, request, guest.NotServed},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			response, err := codec.DecodeContestResponse(contest.Answer(tc.handler, tc.request), 0)
			if err != nil {
				t.Fatal(err)
			}
			if (response.Failure == nil) != (tc.code == "") || (response.Failure != nil && response.Failure.Code != tc.code) {
				t.Errorf("failure %+v", response.Failure)
			}
		})
	}
}

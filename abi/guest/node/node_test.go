package node_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/abi/guest"
	"github.com/shadowcourt/shadowcourt/abi/guest/node"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// request is one of a judge, with what it is offered.
func request(change ...func(*abi.NodeRequest)) []byte {
	r := &abi.NodeRequest{
		Node: "verdict", Family: abi.FamilyVerdict,
		Persona: abi.Persona{Name: "specter", Element: abi.Lightning, Role: "judge", Alignment: "arbiter"},
		Case:    abi.CaseView{Labels: []string{"a", "b"}},
	}
	for _, c := range change {
		c(r)
	}
	return codec.AppendNodeRequest(nil, r)
}

func acquit(*abi.NodeRequest) (*abi.Artifact, *abi.Failure) {
	return &abi.Artifact{Verdict: &abi.Verdict{Decision: abi.Acquit, Confidence: 0.5}}, nil
}

func TestAnswer(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name    string
		handler node.Handler
		request []byte
		code    string
		message string
	}{
		{name: "an artifact", handler: acquit, request: request()},
		{name: "no message", handler: acquit, code: guest.BadRequest},
		{name: "an empty map", handler: acquit, request: []byte{0x80}, code: guest.BadRequest, message: "persona"},
		{name: "trailing bytes", handler: acquit, request: append(request(), 0xc0), code: guest.BadRequest},
		{name: "a failure of the handler", request: request(), code: "tired", message: "not today", handler: func(*abi.NodeRequest) (*abi.Artifact, *abi.Failure) {
			return nil, guest.Fail("tired", "not today")
		}},
		{name: "neither", request: request(), code: guest.NoAnswer, handler: func(*abi.NodeRequest) (*abi.Artifact, *abi.Failure) { return nil, nil }},
		{name: "no handler", request: request(), code: guest.NotServed},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			response := must.Get(codec.DecodeNodeResponse(node.Answer(tc.handler, tc.request), 0))(t)
			switch {
			case tc.code == "" && (response.Artifact == nil || response.Artifact.Verdict == nil):
				t.Errorf("no artifact: %+v", response.Failure)
			case tc.code != "" && (response.Failure == nil || response.Failure.Code != tc.code || !strings.Contains(response.Failure.Message, tc.message)):
				t.Errorf("failure %+v", response.Failure)
			}
		})
	}
}

func TestChoosersAndAskersAreAskedOnlyWhereThereAreOffers(t *testing.T) {
	t.Parallel()
	offered := abi.Experiment{Product: abi.Head, Tests: abi.Head, Environment: abi.OriginalEnvironment, Order: abi.Alone, Runs: 5}
	chooses := func(r *abi.NodeRequest) *abi.Experiment { return &r.Offers[0].Experiment }
	declines := func(*abi.NodeRequest) *abi.Experiment { return nil }
	asks := func(r *abi.NodeRequest) *abi.Completion {
		if len(r.Completions) > 0 {
			return nil
		}
		return node.NewCompletion(&r.Models[0], 10, "", "why?")
	}
	offers := func(r *abi.NodeRequest) { r.Offers = []abi.ExperimentOffer{{Experiment: offered, Seconds: 2}} }
	models := func(r *abi.NodeRequest) {
		r.Models = []abi.ModelOffer{{Model: "reader", ContextTokens: 100, AnswerTokens: 10}}
	}
	answered := func(r *abi.NodeRequest) {
		r.Completions = []abi.CompletionResult{{Model: "reader", Outcome: abi.CompletionAnswered, Answers: []string{"so"}}}
	}
	for _, tc := range []struct {
		name    string
		chooser node.Chooser
		asker   node.Asker
		request []byte
		want    string
	}{
		{"offers", chooses, asks, request(offers, models), "experiment"},
		{"offers of which it wants none", declines, nil, request(offers), "artifact"},
		{"no offers", chooses, nil, request(), "artifact"},
		{"no chooser", nil, asks, request(offers, models), "completion"},
		{"models", nil, asks, request(models), "completion"},
		{"models that have answered", nil, asks, request(models, answered), "artifact"},
		{"no models", nil, asks, request(), "artifact"},
		{"no asker", nil, nil, request(models), "artifact"},
	} {
		response := must.Get(codec.DecodeNodeResponse(node.AnswerOffers(tc.chooser, tc.asker, acquit, tc.request), 0))(t, tc.name)
		got := map[string]bool{"experiment": response.Experiment != nil, "completion": response.Completion != nil, "artifact": response.Artifact != nil}
		if !got[tc.want] { // the decoder knows that there is no other
			t.Errorf("%s: %+v, want the %s", tc.name, response, tc.want)
		}
	}
}

func ExampleHandle() {
	node.Handle(func(r *abi.NodeRequest) (*abi.Artifact, *abi.Failure) {
		if r.Family != abi.FamilyVerdict {
			return nil, guest.Fail(guest.WrongFamily, "plays only verdicts")
		}
		return &abi.Artifact{Verdict: &abi.Verdict{Decision: abi.Acquit, Reasoning: "In doubt for the accused."}}, nil
	})
	fmt.Println("registered")
	// Output: registered
}

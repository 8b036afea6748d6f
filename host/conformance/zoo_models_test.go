package conformance_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/abitest"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/host/conformance"
	"github.com/shadowcourt/shadowcourt/internal/testkit/wasmtest"
)

// Four bytes that tell what a request has: the first of a key with its length, or some of an outcome.
const (
	hasModels      = "\xa6mod"
	hasCompletions = "\xabcom"
	hasFailed      = "e\xa6fa"
	hasNotAsked    = "_ask"
)

func question(model string, tokens int) []byte {
	return codec.AppendNodeResponse(nil, &abi.NodeResponse{Completion: &abi.Completion{
		Model: model, Messages: []abi.ChatMessage{{Role: abi.ChatUser, Content: "which label is it?"}}, AnswerTokens: tokens, Samples: 1,
	}})
}

// reaction is what a module does where a request has four bytes.
type reaction struct {
	four string
	then []byte // a response; nil for a trap
}

// reacting answers with the first reaction whose bytes the request has, and otherwise as a good module does.
func reacting(list ...reaction) []byte { return broken(func(t *tiny) { t.react(list...) }) }

func (t *tiny) react(list ...reaction) {
	body := t.Funcs[node].Body
	for _, r := range slices.Backward(list) {
		then := []byte{wasmtest.Unreachable}
		if r.then != nil {
			then = t.gives(r.then)
		}
		// The search moves through the request: the locals 2 and 3 keep where it begins.
		body = slices.Concat(
			[]byte{wasmtest.LocalGet, 2, localSet, 0, wasmtest.LocalGet, 3, localSet, 1}, whenHas(r.four, then), body)
	}
	t.Funcs[node].Locals = []byte{wasmtest.I32, wasmtest.I32}
	t.Funcs[node].Body = slices.Concat([]byte{wasmtest.LocalGet, 0, localSet, 2, wasmtest.LocalGet, 1, localSet, 3}, body)
}

// What a module that asks well does: it goes by the answer, and asks where there is none yet.
func goodAsker() []reaction {
	sure := verdict(abi.Verdict{Decision: abi.Acquit, Reasoning: "the model is sure"})
	told := verdict(abi.Verdict{Decision: abi.Acquit, Reasoning: "the model is not sure"})
	return []reaction{{"I fi", sure}, {hasCompletions, told}, {hasModels, question("model-one", 1)}}
}

// asking are askers with one thing wrong.
func asking() []animal {
	good := goodAsker()
	but := func(first ...reaction) []byte { return reacting(append(first, good...)...) }
	asks := question("model-one", 1)
	stranger := abi.Artifact{Discovery: &abi.Discovery{Findings: []abi.Finding{{
		Document: "log", Observation: "o", Quote: " ", Source: "model:nine",
	}}}}
	return []animal{
		{"a model that it was not offered", abitest.CheckModels, "§2.12", reacting(good[0], good[1], reaction{hasModels, question("model-nine", 1)})},
		{"a longer answer than there is", abitest.CheckModels, "§2.12", reacting(good[0], good[1], reaction{hasModels, question("model-one", 600)})},
		{"a model where none is offered", abitest.CheckModels, "§2.12", answersWith(asks)},
		{"the same question forever", abitest.CheckModels, "§2.12", reacting(reaction{hasCompletions, asks}, good[2])},
		{"a question after one that was not asked", abitest.CheckModels, "§2.12", but(reaction{hasNotAsked, asks})},
		{"a trap at a model that fails", abitest.CheckOutcomes, "§2.12", but(reaction{hasFailed, nil})},
		{"a trap at an answer that is no sentence", abitest.CheckOutcomes, "§2.12", but(reaction{"\": n", nil})},
		{"a label that a model made up", abitest.CheckVerdict, "§4.8", reacting(
			reaction{hasCompletions, verdict(abi.Verdict{Decision: abi.Amend, FinalClassification: "mine"})}, good[2])},
		{"a finding of a model that was not asked", abitest.CheckIdentity, "§4.11", broken(func(t *tiny) {
			t.Funcs[node].Body = t.gives(nodeFailure("no_model"))
			t.manifest.Families = []abi.Family{abi.FamilyDiscover}
			t.react(reaction{hasCompletions, nodeAnswer(stranger)}, good[2])
		})},
	}
}

// A module that asks a model passes, also where nothing comes of it.
func TestAccept_PL10_AGoodAskerPassesEverything(t *testing.T) {
	t.Parallel()
	report, err := conformance.Run(t.Context(), reacting(goodAsker()...), zooOptions())
	if err != nil {
		t.Fatal(err)
	}
	if !report.Passed() || len(report.Notes) > 0 {
		t.Errorf("failed %+v, notes %+v", report.Failed(), report.Notes)
	}
	for _, c := range report.Checks {
		if (c.ID == abitest.CheckModels || c.ID == abitest.CheckOutcomes) && (c.Status != abitest.Passed || c.Tried < 100) {
			t.Errorf("%s is %s after %d tries", c.ID, c.Status, c.Tried)
		}
	}
}

// What costs money for nothing breaks no clause, and is noted.
func TestAccept_PL10_QuestionsForNothingAreNoted(t *testing.T) {
	t.Parallel()
	good := goodAsker()
	for want, wasm := range map[string][]byte{
		"answers alike whatever the model says":         reacting(good[1], good[2]),
		"asks the same question again after the answer": reacting(good[2]),
	} {
		report, err := conformance.Run(t.Context(), wasm, zooOptions())
		if err != nil {
			t.Fatal(err)
		}
		if !report.Passed() || len(report.Notes) != 1 || report.Notes[0].Clause != "§2.12" || !strings.Contains(report.Notes[0].Text, want) {
			t.Errorf("%s: failed %+v, notes %+v", want, report.Failed(), report.Notes)
		}
	}
}

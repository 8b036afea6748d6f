//go:build sdk

package polyglot

import (
	"context"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/host/internal/sandbox"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// Every SDK completes requests with what its module was prepared with: the handler sees the whole request.
func TestSDKsCompletePreparedRequests(t *testing.T) {
	for _, l := range languages() {
		t.Run(l.name, func(t *testing.T) {
			l.need(t)
			wasm := l.build(t, root(t, "sdk", l.name, "tests", l.vectors))
			m := load(t, wasm, abi.CapLog, abi.CapRecall)
			completes(t, m)
			lacks(t, m)
			keeps(t, wasm)
		})
	}
}

// completes puts requests before a prepared module, which answers with what its handler saw.
func completes(t *testing.T, m *sandbox.Module) {
	t.Helper()
	profile, view := largeProfile(), largeView()
	some, none, allButOutcomes := *profile, *profile, *profile
	some.Signals, some.Sources, some.Outcomes = []abi.Signal{profile.Signals[1], profile.Signals[1999]}, profile.Sources[1:], nil
	none.Signals, none.Sources = nil, nil
	allButOutcomes.Outcomes = nil
	experiments := repeatNode(nil).Case.Experiments
	rest := abi.CaseView{Labels: []string{}, Experiments: experiments}
	whole := *view
	whole.Experiments = experiments
	own := abi.CaseView{Subject: "its own", Labels: []string{"b"}, Signals: []int{7}, Experiments: experiments}
	mixed := whole
	mixed.Subject, mixed.Labels, mixed.Signals = own.Subject, own.Labels, own.Signals
	for name, tc := range map[string]struct {
		with *abi.Prepared
		// of the request as it is sent, and as the handler sees it.
		profile, wantProfile *abi.Profile
		view, wantView       abi.CaseView
	}{
		"nothing is left out": {nil, profile, profile, own, own},
		"neither":             {&abi.Prepared{}, nil, nil, own, own},
		"case":                {&abi.Prepared{Case: true}, profile, profile, rest, whole},
		"parts of the case":   {&abi.Prepared{Case: true}, nil, nil, own, mixed},
		"whole profile":       {&abi.Prepared{Profile: &abi.ProfileParts{All: true, Outcomes: true}}, nil, profile, own, own},
		"without outcomes":    {&abi.Prepared{Case: true, Profile: &abi.ProfileParts{All: true}}, nil, &allButOutcomes, rest, whole},
		"elements":            {&abi.Prepared{Case: true, Profile: &abi.ProfileParts{Signals: []int{1, 1999}, Sources: []int{1}}}, nil, &some, rest, whole},
		"no elements":         {&abi.Prepared{Profile: &abi.ProfileParts{Outcomes: true}}, nil, &none, rest, rest},
	} {
		t.Run(name, func(t *testing.T) {
			node, contest := repeatNode(tc.wantProfile), repeatContest(tc.wantProfile)
			node.Case = tc.wantView
			wantNode, wantContest := codec.AppendNodeRequest(nil, &node), codec.AppendContestRequest(nil, &contest)
			if tc.with != nil {
				tc.with.Digest = "second"
			}
			node.Prepared, node.Profile, node.Case = tc.with, tc.profile, tc.view
			contest.Prepared, contest.Profile = tc.with, tc.profile
			for range 2 {
				sees(t, askNode(t, m, both(), &node), wantNode)
				sees(t, askContest(t, m, both(), &contest), wantContest)
			}
		})
	}
}

// sees checks that a guest repeats a request.
func sees(t *testing.T, f *abi.Failure, want []byte) {
	t.Helper()
	if f == nil || f.Code != "repeat" || f.Message != hex.EncodeToString(want) {
		t.Errorf("the handler saw %.300v, want %.200x", f, want)
	}
}

// lacks puts requests before a module that was not prepared with what they name.
func lacks(t *testing.T, m *sandbox.Module) {
	t.Helper()
	empty := preparation(&abi.PrepareRequest{Digest: "second"})
	for name, tc := range map[string]struct {
		after *sandbox.Preparation
		with  abi.Prepared
	}{
		"never prepared":      {nil, abi.Prepared{Digest: "second"}},
		"another digest":      {both(), abi.Prepared{Digest: "first"}},
		"no profile":          {empty, abi.Prepared{Digest: "second", Profile: &abi.ProfileParts{All: true}}},
		"signal out of range": {both(), abi.Prepared{Digest: "second", Profile: &abi.ProfileParts{Signals: []int{0, 2000}}}},
		"source out of range": {both(), abi.Prepared{Digest: "second", Profile: &abi.ProfileParts{Sources: []int{1 << 32}}}},
	} {
		t.Run(name, func(t *testing.T) {
			node, contest := repeatNode(nil), repeatContest(nil)
			node.Prepared, contest.Prepared = &tc.with, &tc.with
			isBad(t, askNode(t, m, tc.after, &node))
			isBad(t, askContest(t, m, tc.after, &contest))
		})
	}
	node := repeatNode(nil)
	node.Prepared = &abi.Prepared{Digest: "second", Case: true}
	isBad(t, askNode(t, m, empty, &node))

	invalid := &sandbox.Preparation{Requests: [][]byte{{0x81, 0xa3, 'f', 'o', 'g', 1}}}
	if _, err := m.CallPrepared(t.Context(), invalid, abi.CallNode, nil); err == nil || !strings.Contains(err.Error(), "bad_request: fog") {
		t.Errorf("an invalid preparation: %v", err)
	}
}

// keeps rejects a preparation in an instance that nobody resets: it stays prepared as before.
func keeps(t *testing.T, wasm []byte) {
	t.Helper()
	call := instance(t, wasm)
	prepare := func(request []byte) *abi.Failure {
		return decoded(t, call(abi.ExportPrepare, request), codec.DecodePrepareResponse).Failure
	}
	for _, request := range both().Requests {
		if f := prepare(request); f != nil {
			t.Fatalf("failure %+v", f)
		}
	}
	rejected := codec.AppendPrepareRequest(nil, &abi.PrepareRequest{Digest: "third", Profile: &abi.Profile{Name: "other"}, Case: &abi.CaseView{}})
	rejected[0]++ // the map has one more key, which no field has
	isBad(t, prepare(append(rejected, "\xa3fog\x01"...)))

	node := repeatNode(largeProfile())
	experiments := node.Case.Experiments
	node.Case = *largeView()
	node.Case.Experiments = experiments
	want := codec.AppendNodeRequest(nil, &node)
	node.Prepared = &abi.Prepared{Digest: "second", Profile: &abi.ProfileParts{All: true, Outcomes: true}, Case: true}
	node.Profile, node.Case = nil, abi.CaseView{Experiments: experiments}
	sees(t, decoded(t, call(abi.ExportNode, codec.AppendNodeRequest(nil, &node)), codec.DecodeNodeResponse).Failure, want)
}

// instance is a module outside of the sandbox, for which each capability has an empty answer.
func instance(t *testing.T, wasm []byte) (call func(export string, request []byte) []byte) {
	t.Helper()
	ctx := t.Context()
	runtime := wazero.NewRuntime(ctx)
	t.Cleanup(func() { _ = runtime.Close(context.Background()) })
	capabilities := runtime.NewHostModuleBuilder("shadowcourt")
	for _, c := range []abi.Capability{abi.CapLog, abi.CapRecall} {
		capabilities.NewFunctionBuilder().WithFunc(func(_, _, _, _ uint32) uint32 { return 0 }).Export(string(c))
	}
	must.Get(capabilities.Instantiate(ctx))(t)
	m := must.Get(runtime.Instantiate(ctx, wasm))(t)
	invoke := func(export string, args ...uint64) uint64 {
		results := must.Get(m.ExportedFunction(export).Call(ctx, args...))(t)
		return results[0]
	}
	return func(export string, request []byte) []byte {
		at := invoke(abi.ExportAlloc, uint64(len(request)))
		m.Memory().Write(uint32(at), request)
		out := invoke(export, at, uint64(len(request)))
		response, _ := m.Memory().Read(uint32(out>>32), uint32(out))
		return response
	}
}

func isBad(t *testing.T, f *abi.Failure) {
	t.Helper()
	if f == nil || f.Code != "bad_request" {
		t.Errorf("failure %+v", f)
	}
}

// both are a preparation with the profile, and then one with the case.
func both() *sandbox.Preparation {
	return preparation(&abi.PrepareRequest{Digest: "first", Profile: largeProfile()}, &abi.PrepareRequest{Digest: "second", Case: largeView()})
}

func preparation(requests ...*abi.PrepareRequest) *sandbox.Preparation {
	p := &sandbox.Preparation{}
	for _, r := range requests {
		p.Digest, p.Requests = p.Digest+" "+r.Digest, append(p.Requests, codec.AppendPrepareRequest(nil, r))
	}
	return p
}

func askNode(t *testing.T, m *sandbox.Module, after *sandbox.Preparation, r *abi.NodeRequest) *abi.Failure {
	t.Helper()
	return answerAfter(t, m, after, abi.CallNode, codec.AppendNodeRequest(nil, r), codec.DecodeNodeResponse).Failure
}

func askContest(t *testing.T, m *sandbox.Module, after *sandbox.Preparation, r *abi.ContestRequest) *abi.Failure {
	t.Helper()
	return answerAfter(t, m, after, abi.CallContest, codec.AppendContestRequest(nil, r), codec.DecodeContestResponse).Failure
}

// repeatNode is a request to which the guest's answer is a failure that repeats it.
func repeatNode(profile *abi.Profile) abi.NodeRequest {
	return abi.NodeRequest{
		Node: "repeat", Family: abi.FamilyVerdict, Persona: abi.Persona{Name: "P", Element: abi.Earth, Role: "bench", Alignment: "bench"},
		Case: abi.CaseView{Labels: []string{"a", "b"}, Experiments: []abi.ExperimentResult{{
			Experiment: abi.Experiment{Product: abi.Head, Tests: abi.Base, Environment: abi.StarvedEnvironment, Order: abi.OriginalOrder, Runs: 3},
			Outcome:    abi.OutcomePassed,
		}}},
		Profile: profile, RemandsLeft: 1,
	}
}

// repeatContest is a request to which the guest's answer is a failure that repeats it.
func repeatContest(profile *abi.Profile) abi.ContestRequest {
	return abi.ContestRequest{
		Persona: abi.Persona{Name: "P", Element: abi.Earth, Role: "bench", Alignment: "bench"}, ChargedDefectType: "a", Labels: []string{"a", "b"},
		Items: []abi.ContestItem{}, Profile: profile,
	}
}

// largeProfile takes more memory than a request that leaves it out.
func largeProfile() *abi.Profile {
	p := &abi.Profile{
		Name: "known", BaseRates: []abi.LabelWeight{{Label: "a", Weight: 1}},
		Sources: []abi.SourceReliability{{Source: "log"}, {Source: "répo"}}, SignalCap: 3,
		Outcomes: &abi.OutcomeModel{Shapes: []abi.RateShape{{Name: "steady", Passed: 1}}},
	}
	for i := range 2000 {
		p.Signals = append(p.Signals, abi.Signal{Phrase: fmt.Sprintf("phrase %d %s", i, strings.Repeat("é", i%50)), Weights: []abi.LabelWeight{{Label: "b", Weight: 2}}})
	}
	return p
}

func largeView() *abi.CaseView {
	return &abi.CaseView{
		Subject: "a test", Labels: []string{"a", "b"}, Light: &abi.LightAnswer{Classification: "a", Confidence: 0.7},
		Evidence:  []abi.Evidence{{SourceRef: "log:L2", Content: "one line", RelevanceConfidence: 0.5}},
		Documents: []abi.Document{{Name: "log", Text: strings.Repeat("one line of the log\n", 5000)}},
	}
}

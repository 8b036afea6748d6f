//go:build sdk

package polyglot

import (
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
)

// Every SDK completes requests with what its module was prepared with: the handler sees the whole request.
func TestSDKsCompletePreparedRequests(t *testing.T) {
	for _, l := range languages() {
		t.Run(l.name, func(t *testing.T) {
			l.need(t)
			start := starter(t, l.build(t, root(t, "sdk", l.name, "tests", l.vectors)))
			completes(t, start)
			lacks(t, start)
		})
	}
}

// completes puts requests before a prepared module, which answers with what its handler saw.
func completes(t *testing.T, start func() *instance) {
	t.Helper()
	profile, view := largeProfile(), largeView()
	some := *profile
	some.Signals, some.Sources, some.Outcomes = []abi.Signal{profile.Signals[1], profile.Signals[1999]}, profile.Sources[1:], nil
	none := *profile
	none.Signals, none.Sources = nil, nil
	allButOutcomes := *profile
	allButOutcomes.Outcomes = nil
	for name, tc := range map[string]struct {
		with    *abi.Prepared
		profile *abi.Profile
	}{
		"nothing was prepared for it": {nil, profile},
		"case":                        {&abi.Prepared{Case: true}, nil},
		"neither":                     {&abi.Prepared{}, nil},
		"its own profile":             {&abi.Prepared{Case: true}, profile},
		"whole profile":               {&abi.Prepared{Profile: &abi.ProfileParts{All: true, Outcomes: true}}, profile},
		"without outcomes":            {&abi.Prepared{Case: true, Profile: &abi.ProfileParts{All: true}}, &allButOutcomes},
		"elements":                    {&abi.Prepared{Case: true, Profile: &abi.ProfileParts{Signals: []int{1, 1999}, Sources: []int{1}}}, &some},
		"no elements":                 {&abi.Prepared{Case: true, Profile: &abi.ProfileParts{Outcomes: true}}, &none},
	} {
		t.Run(name, func(t *testing.T) {
			node, contest := repeatNode(tc.profile), repeatContest(tc.profile)
			if tc.with != nil && tc.with.Case {
				experiments := node.Case.Experiments
				node.Case = *view
				node.Case.Experiments = experiments
			}
			nodeWhole, contestWhole := codec.AppendNodeRequest(nil, &node), codec.AppendContestRequest(nil, &contest)
			if tc.with != nil {
				tc.with.Digest = "second"
				node.Prepared, contest.Prepared = tc.with, tc.with
				if tc.with.Profile != nil {
					node.Profile, contest.Profile = nil, nil
				}
				if tc.with.Case {
					node.Case = abi.CaseView{Experiments: node.Case.Experiments}
				}
			}
			m := start()
			m.prepareBoth()
			sees(t, m.node(&node), nodeWhole)
			m = start()
			m.prepareBoth()
			sees(t, m.contest(&contest), contestWhole)
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
func lacks(t *testing.T, start func() *instance) {
	t.Helper()
	all := &abi.ProfileParts{All: true}
	never := func(*instance) {}
	empty := func(m *instance) { m.prepare(&abi.PrepareRequest{Digest: "second"}) }
	both := (*instance).prepareBoth
	for name, tc := range map[string]struct {
		prepare func(*instance)
		with    abi.Prepared
	}{
		"never prepared":      {never, abi.Prepared{Digest: "second"}},
		"another digest":      {both, abi.Prepared{Digest: "first"}},
		"no profile":          {empty, abi.Prepared{Digest: "second", Profile: all}},
		"signal out of range": {both, abi.Prepared{Digest: "second", Profile: &abi.ProfileParts{Signals: []int{0, 2000}}}},
		"source out of range": {both, abi.Prepared{Digest: "second", Profile: &abi.ProfileParts{Sources: []int{1 << 32}}}},
	} {
		t.Run(name, func(t *testing.T) {
			node, contest := repeatNode(nil), repeatContest(nil)
			node.Prepared, contest.Prepared = &tc.with, &tc.with
			m := start()
			tc.prepare(m)
			isBad(t, m.node(&node))
			isBad(t, m.contest(&contest))
		})
	}
	t.Run("no case", func(t *testing.T) {
		node := repeatNode(nil)
		node.Prepared = &abi.Prepared{Digest: "second", Case: true}
		m := start()
		empty(m)
		isBad(t, m.node(&node))
	})
	t.Run("invalid", func(t *testing.T) {
		m := start()
		m.prepareBoth()
		response, err := codec.DecodePrepareResponse(m.call("prepare", []byte{0x81, 0xa3, 'f', 'o', 'g', 1}), 0)
		if err != nil {
			t.Fatal(err)
		}
		isBad(t, response.Failure)
		contest := repeatContest(largeProfile())
		whole := codec.AppendContestRequest(nil, &contest)
		contest.Profile, contest.Prepared = nil, &abi.Prepared{Digest: "second", Profile: &abi.ProfileParts{All: true, Outcomes: true}}
		sees(t, m.contest(&contest), whole)
	})
}

func isBad(t *testing.T, f *abi.Failure) {
	t.Helper()
	if f == nil || f.Code != "bad_request" {
		t.Errorf("failure %+v", f)
	}
}

func repeatNode(profile *abi.Profile) abi.NodeRequest {
	return abi.NodeRequest{
		Node: "repeat", Family: abi.FamilyVerdict, Persona: abi.Persona{Name: "P", Element: abi.Earth, Role: "bench", Alignment: "bench"},
		Case: abi.CaseView{Subject: "its own", Labels: []string{"a", "b"}, Experiments: []abi.ExperimentResult{{
			Experiment: abi.Experiment{Product: abi.Head, Tests: abi.Base, Environment: abi.StarvedEnvironment, Order: abi.OriginalOrder, Runs: 3},
			Outcome:    abi.OutcomePassed,
		}}},
		Profile: profile, RemandsLeft: 1,
	}
}

func repeatContest(profile *abi.Profile) abi.ContestRequest {
	return abi.ContestRequest{
		Persona: abi.Persona{Name: "P", Element: abi.Earth, Role: "bench", Alignment: "bench"}, ChargedDefectType: "a", Labels: []string{"a", "b"},
		Items: []abi.ContestItem{}, Profile: profile,
	}
}

// largeProfile takes more memory than a request that is prepared with it.
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
		Documents: []abi.Document{{Name: "log", Text: strings.Repeat("one line of the log\n", 5000)}},
	}
}

// instance is a module that keeps its memory from call to call.
type instance struct {
	t      *testing.T
	module api.Module
}

// starter gives instances of a guest for the test vectors. They ask the host nothing.
func starter(t *testing.T, wasm []byte) func() *instance {
	t.Helper()
	r := wazero.NewRuntime(t.Context())
	t.Cleanup(func() { _ = r.Close(t.Context()) })
	nothing := func(_, _, _, _ uint32) uint32 { return 0 }
	host := r.NewHostModuleBuilder("shadowcourt")
	for _, capability := range []abi.Capability{abi.CapLog, abi.CapRecall} {
		host.NewFunctionBuilder().WithFunc(nothing).Export(string(capability))
	}
	if _, err := host.Instantiate(t.Context()); err != nil {
		t.Fatal(err)
	}
	compiled, err := r.CompileModule(t.Context(), wasm)
	if err != nil {
		t.Fatal(err)
	}
	return func() *instance {
		m, err := r.InstantiateModule(t.Context(), compiled, wazero.NewModuleConfig().WithName(""))
		if err != nil {
			t.Fatal(err)
		}
		return &instance{t, m}
	}
}

// call makes a call as SPEC.md §2.5 says, without a reset.
func (m *instance) call(name string, request []byte) []byte {
	m.t.Helper()
	at := m.function(abi.ExportPrefix+"alloc", uint64(len(request)))
	if !m.module.Memory().Write(uint32(at), request) {
		m.t.Fatalf("%d bytes at %d: outside memory", len(request), at)
	}
	packed := m.function(abi.ExportPrefix+name, at, uint64(len(request)))
	response, ok := m.module.Memory().Read(uint32(packed>>32), uint32(packed))
	if !ok {
		m.t.Fatalf("response %x: outside memory", packed)
	}
	return response
}

func (m *instance) function(export string, args ...uint64) uint64 {
	m.t.Helper()
	results, err := m.module.ExportedFunction(export).Call(m.t.Context(), args...)
	if err != nil {
		m.t.Fatal(err)
	}
	return results[0]
}

func (m *instance) prepare(r *abi.PrepareRequest) {
	m.t.Helper()
	response, err := codec.DecodePrepareResponse(m.call("prepare", codec.AppendPrepareRequest(nil, r)), 0)
	if err != nil || response.Failure != nil {
		m.t.Fatal(response.Failure, err)
	}
}

func (m *instance) prepareBoth() {
	m.t.Helper()
	m.prepare(&abi.PrepareRequest{Digest: "first", Profile: largeProfile()})
	m.prepare(&abi.PrepareRequest{Digest: "second", Case: largeView()})
}

func (m *instance) node(r *abi.NodeRequest) *abi.Failure {
	m.t.Helper()
	response, err := codec.DecodeNodeResponse(m.call("node", codec.AppendNodeRequest(nil, r)), 0)
	if err != nil {
		m.t.Fatal(err)
	}
	return response.Failure
}

func (m *instance) contest(r *abi.ContestRequest) *abi.Failure {
	m.t.Helper()
	response, err := codec.DecodeContestResponse(m.call("contest", codec.AppendContestRequest(nil, r)), 0)
	if err != nil {
		m.t.Fatal(err)
	}
	return response.Failure
}

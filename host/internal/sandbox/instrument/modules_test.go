package instrument_test

import (
	"bytes"
	"context"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/abi/testkit/vectors"
	"github.com/shadowcourt/shadowcourt/host/bundle"
	"github.com/shadowcourt/shadowcourt/host/internal/sandbox/instrument"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
	"github.com/shadowcourt/shadowcourt/internal/testkit/tier"
)

// message is a request for one of a module's functions.
type message struct {
	export string
	bytes  []byte
}

// messages are the test vectors of every request, the broken ones too, and a case with a lot in it for each family of nodes.
func messages(tb testing.TB) []message {
	tb.Helper()
	exports := map[string]string{
		"node_request": abi.ExportNode, "contest_request": abi.ExportContest,
		"edge_request": abi.ExportEdges, "judge_request": abi.ExportJudge,
	}
	sets := must.Get(vectors.Sets())(tb)
	var all []message
	for _, set := range sets {
		export, ok := exports[set.Type]
		for i := 0; ok && i < len(set.Vectors); i++ {
			b := must.Get(set.Vectors[i].Message())(tb)
			all = append(all, message{export, b})
		}
	}
	for _, family := range []abi.Family{abi.FamilyIndict, abi.FamilyDiscover, abi.FamilyDefend, abi.FamilyHearing, abi.FamilyVerdict} {
		request := codec.AppendNodeRequest(nil, busyCase(family))
		must.Get(codec.DecodeNodeRequest(request, 0))(tb)
		all = append(all, message{abi.ExportNode, request})
	}
	return all
}

func busyCase(family abi.Family) *abi.NodeRequest {
	r := &abi.NodeRequest{
		Node: "n", Family: family,
		Persona: abi.Persona{Name: "p", Element: abi.Fire, Role: "r", Alignment: "a"},
		Case: abi.CaseView{
			Subject: "a subject", Labels: []string{"a", "b", "c"},
			Light: &abi.LightAnswer{Classification: "a", Confidence: 0.7},
		},
		Indictment:   &abi.Indictment{ChargedDefectType: "a", ProsecutionNarrative: "so it was", Confidence: 0.7},
		Discovery:    &abi.Discovery{},
		DefenseBrief: &abi.DefenseBrief{Confidence: 0.5},
		Hearing:      &abi.HearingRecord{MaxRounds: 3},
		RemandsLeft:  2,
	}
	if family == abi.FamilyHearing {
		r.Turn = &abi.TurnRequest{Round: 1, MaxRounds: 3, Speaker: abi.Prosecution}
	}
	for i := range 40 {
		label, text := r.Case.Labels[i%3], "line "+strconv.Itoa(i)+" timeout error refused assertion failed"
		r.Case.Evidence = append(r.Case.Evidence, abi.Evidence{
			SourceRef: "log:" + strconv.Itoa(i%7), Content: text, RelevanceConfidence: float64(i%10) / 10, Supports: label,
		})
		r.Indictment.Evidence = append(r.Indictment.Evidence, abi.IndictmentItem{
			SourceRef: "log:" + strconv.Itoa(i%7), Content: text, Weight: float64(i%10) / 10, Supports: label,
		})
		r.Discovery.Findings = append(r.Discovery.Findings, abi.Finding{
			Document: "log", Observation: text, Quote: text, Supports: label, Strength: 0.5,
		})
	}
	r.Case.Documents = []abi.Document{{Name: "log", Text: strings.Repeat("a line with an error: timeout refused\nassertion failed\n", 100)}}
	return r
}

// answer is what a module made of a message: its bytes, or the trap.
type answer struct {
	bytes []byte
	trap  string
	fuel  int64
}

func (m machine) answer(tb testing.TB, msg message) answer {
	tb.Helper()
	ctx := tb.Context()
	m.fill(aLot)
	pointer, err := m.ExportedFunction(abi.ExportAlloc).Call(ctx, uint64(len(msg.bytes)))
	if err != nil || !m.Memory().Write(uint32(pointer[0]), msg.bytes) {
		tb.Fatal(pointer, err)
	}
	got, err := m.ExportedFunction(msg.export).Call(ctx, pointer[0], uint64(len(msg.bytes)))
	if err != nil {
		return answer{trap: root(err)}
	}
	view, ok := m.Memory().Read(uint32(got[0]>>32), uint32(got[0]))
	if !ok {
		return answer{trap: "the answer is not in the memory"}
	}
	a := answer{bytes: bytes.Clone(view)}
	if m.program.Fuel != "" {
		a.fuel = aLot - m.left()
	}
	return a
}

// TestAccept_SB4_OwnModules: modules of ours give the same bytes to every request with fuel and without, and spend the same in two
// instances. Every tenth is tried; in the long tier each: they share most of their code.
func TestAccept_SB4_OwnModules(t *testing.T) {
	t.Parallel()
	tier.Long(t, "host/internal/sandbox", "plugins")
	modules := must.Get(bundle.FS())(t)
	names, err := fs.Glob(modules, "*.wasm")
	if err != nil || len(names) < 5 {
		t.Fatalf("modules %v (%v)", names, err)
	}
	requests := messages(t)
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			wasm := must.Get(fs.ReadFile(modules, name))(t)
			holdsUp(t, wasm, requests)
		})
	}
}

func holdsUp(t *testing.T, wasm []byte, requests []message) {
	t.Helper()
	metered, unmetered := rewrite(t, wasm, true), rewrite(t, wasm, false)
	if !metered.Restorable {
		t.Errorf("cannot be restored: %s", metered.Reason)
	}
	r := wazero.NewRuntimeWithConfig(t.Context(), wazero.NewRuntimeConfig().WithCoreFeatures(api.CoreFeaturesV2))
	defer func() { _ = r.Close(context.Background()) }()
	plain, first := run(t, unmetered), runIn(t, r, metered)
	requests = slices.DeleteFunc(slices.Clone(requests), func(msg message) bool {
		return plain.ExportedFunction(msg.export) == nil
	})
	if len(requests) < 50 {
		t.Errorf("only %d requests", len(requests))
	}
	var spent []int64
	for _, msg := range requests {
		want, got := plain.answer(t, msg), first.answer(t, msg)
		if !bytes.Equal(want.bytes, got.bytes) || want.trap != got.trap {
			t.Errorf("%s of %d bytes: plain %q %s, metered %q %s", msg.export, len(msg.bytes), want.bytes, want.trap, got.bytes, got.trap)
		}
		if want.trap != "" || len(want.bytes) == 0 || got.fuel < 1000 {
			t.Errorf("%s of %d bytes: trap %q, %d bytes, fuel %d", msg.export, len(msg.bytes), want.trap, len(want.bytes), got.fuel)
		}
		spent = append(spent, got.fuel)
	}
	second := again(t, r, metered)
	for i, msg := range requests {
		if got := second.answer(t, msg).fuel; got != spent[i] {
			t.Errorf("%s of %d bytes spent %d, and %d in another instance", msg.export, len(msg.bytes), spent[i], got)
		}
	}
	t.Logf("%d requests; of %d bytes, %d of data; the rest became %d without fuel, %d with it",
		len(requests), len(wasm), dataBytes(metered), len(unmetered.Wasm), len(metered.Wasm))
}

func dataBytes(p *instrument.Program) int {
	n := 0
	for _, s := range p.Segments {
		n += len(s.Data)
	}
	return n
}

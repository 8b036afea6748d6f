//go:build sdk

package polyglot

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/host/internal/court/registry"
	"github.com/shadowcourt/shadowcourt/host/internal/sandbox"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// mutantsOfModule of what a module answers are made.
const mutantsOfModule = 100_000

// standMutants is row PL9 for the answers of a module in whatever language: no mutant of them panics the decoder, what is rejected says
// why, and what is accepted is canonical when it is written again.
func standMutants(t *testing.T, m *sandbox.Module) {
	t.Helper()
	types := map[abi.Call]string{
		abi.CallNode: "node_response", abi.CallContest: "contest_response", abi.CallEdges: "edge_response", abi.CallJudge: "judge_response",
	}
	families := []abi.Family{abi.FamilyIndict, abi.FamilyDiscover, abi.FamilyDefend, abi.FamilyHearing, abi.FamilyVerdict}
	samples := registry.Samples(&abi.Manifest{Calls: m.Info().Calls, Families: families, Edges: []string{"any"}, Criteria: []string{"any"}})
	random := rand.New(rand.NewPCG(9, uint64(m.Info().Size)))
	rejected := 0
	for i := range mutantsOfModule {
		sample := &samples[i%len(samples)]
		if i < len(samples) {
			out := must.Get(m.Call(t.Context(), sample.Call, sample.Request))(t, sample.Name)
			sample.Request = out.Bytes // from here on it is the answer
		}
		decoder, _ := codec.Lookup(types[sample.Call])
		mutant := mutated(random, sample.Request)
		canonical, err := decoder.Canonical(mutant, 0)
		var invalid *abi.ValidationError
		switch {
		case errors.As(err, &invalid) && len(invalid.Problems) > 0:
			rejected++
		case err != nil:
			t.Fatalf("%s: rejected without a problem: %v: %x", sample.Name, err, mutant)
		default:
			if again, err := decoder.Canonical(canonical, 0); err != nil || !bytes.Equal(again, canonical) {
				t.Fatalf("%s: accepted, and its canonical form is not: %v: %x", sample.Name, err, mutant)
			}
		}
	}
	if rejected == 0 || rejected == mutantsOfModule {
		t.Errorf("%d of %d mutants are rejected, which shows nothing", rejected, mutantsOfModule)
	}
}

// mutated changes, cuts or inserts a few bytes.
func mutated(random *rand.Rand, b []byte) []byte {
	b = bytes.Clone(b)
	for range 1 + random.IntN(3) {
		if len(b) == 0 {
			return append(b, byte(random.Uint32()))
		}
		at := random.IntN(len(b))
		switch random.IntN(4) {
		case 0:
			b[at] = byte(random.Uint32())
		case 1:
			b[at] ^= 1 << random.IntN(8)
		case 2:
			b = append(b[:at], b[at+1:]...)
		default:
			b = append(b[:at], append([]byte{byte(random.Uint32())}, b[at:]...)...)
		}
	}
	return b
}

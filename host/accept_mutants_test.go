package host_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/abi/testkit/vectors"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// mutate changes, cuts, doubles or inserts bytes.
func mutate(r *rand.Rand, b []byte) []byte {
	b = bytes.Clone(b)
	for range 1 + r.IntN(4) {
		if len(b) == 0 {
			return append(b, byte(r.Uint32()))
		}
		at := r.IntN(len(b))
		switch r.IntN(6) {
		case 0:
			b[at] = byte(r.Uint32())
		case 1:
			b[at] ^= 1 << r.IntN(8)
		case 2:
			b = b[:at]
		case 3:
			b = append(b[:at], b[at+1:]...)
		case 4:
			b = append(b[:at], append([]byte{byte(r.Uint32())}, b[at:]...)...)
		default:
			end := min(len(b), at+1+r.IntN(16))
			b = append(b, b[at:end]...)
		}
	}
	return b
}

// A module's output reaches another persona only as what the decoder made of it. So of the mutants of all types (a million of them in the
// long form) none may panic the decoder; what is accepted must be valid by the decoder's own word and canonical; what is rejected must say
// why.
func TestAccept_PL9_Mutants(t *testing.T) {
	t.Parallel()
	total := 50_000
	if long() {
		total = 1_000_000
	}
	sets := must.Get(vectors.Sets())(t)
	random := rand.New(rand.NewPCG(3, 9))
	accepted, rejected := 0, 0
	for i := range total {
		set := &sets[i%len(sets)]
		vector := &set.Vectors[random.IntN(len(set.Vectors))]
		for tries := 0; !vector.Valid && tries < 20; tries++ { // a valid message is the better start
			vector = &set.Vectors[random.IntN(len(set.Vectors))]
		}
		message := must.Get(vector.Message())(t)
		if len(message) > 64<<10 {
			continue
		}
		codecType, _ := codec.Lookup(set.Type)
		mutant := mutate(random, message)
		canonical, err := codecType.Canonical(mutant, 0)
		if err != nil {
			var invalid *abi.ValidationError
			if !errors.As(err, &invalid) || len(invalid.Problems) == 0 {
				t.Fatalf("%s: rejected without a problem: %v: %x", set.Type, err, mutant)
			}
			rejected++
			continue
		}
		again, err := codecType.Canonical(canonical, 0)
		if err != nil || !bytes.Equal(again, canonical) {
			t.Fatalf("%s: accepted, and its canonical form is not: %v: %x", set.Type, err, mutant)
		}
		accepted++
	}
	if accepted == 0 || rejected == 0 {
		t.Errorf("%d accepted and %d rejected: the mutants show nothing", accepted, rejected)
	}
	t.Logf("%d mutants accepted, %d rejected", accepted, rejected)
}

// What the decoder accepts is then checked against the case: the checks must stand any artifact, however little it fits.
func TestAccept_PL9_ChecksStandAnyArtifact(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(5, 1))
	contains := func(_, quote string) (bool, bool) { return random.IntN(2) == 0, len(quote) > 3 }
	indictment := abi.Indictment{ChargedDefectType: "a", Evidence: make([]abi.IndictmentItem, 2)}
	labels := []string{"a", "b"}
	challenge := func() abi.Challenge {
		return abi.Challenge{EvidenceIndex: random.IntN(5) * random.IntN(1<<40), Challenge: "x", By: []string{"", "a", "c"}[random.IntN(3)]}
	}
	for range 20_000 {
		var c abi.Collector
		label := []string{"", "a", "b", "z", "\x00"}[random.IntN(5)]
		challenges := []abi.Challenge{challenge(), challenge()}
		alternative := &abi.AlternativeHypothesis{Label: label, Support: []int{random.IntN(4), random.IntN(1 << 40)}}
		abi.CheckIndictment(&abi.Indictment{ChargedDefectType: label, Evidence: make([]abi.IndictmentItem, random.IntN(4))}, &abi.LightAnswer{Classification: "a"}, nil, &c)
		abi.CheckDiscovery(&abi.Discovery{Findings: []abi.Finding{{Document: label, Quote: label, Supports: label}}}, labels, nil, contains, &c)
		abi.CheckBrief(&abi.DefenseBrief{Challenges: challenges, AlternativeHypothesis: alternative}, &indictment, labels, "a", nil, &c)
		abi.CheckVerdict(&abi.Verdict{Decision: abi.Amend, FinalClassification: label, RemandFeedback: &abi.RemandFeedback{
			Challenged: []abi.ChallengedItem{{EvidenceIndex: random.IntN(1 << 40)}}, AlternativeHypothesis: alternative,
		}}, &indictment, labels, &c)
		var invalid *abi.ValidationError
		if err := c.Err(); !errors.As(err, &invalid) {
			t.Fatalf("nothing was found: %v", err)
		}
	}
}

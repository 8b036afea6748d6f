package state_test

import (
	"bytes"
	"cmp"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/host/internal/court/state"
)

// ordersOfEachPool times the 100 pools that rapid draws makes 1,000 orders.
const ordersOfEachPool = 10

// TestAccept_SC4_AnyOrderAndSplitGivesTheSameBytes draws a pool of single contributions in which duplicates, collisions and ties are
// common, deals them into updates in many orders and splits, some of them twice, and holds every resulting state against a plain account of
// what should be there.
func TestAccept_SC4_AnyOrderAndSplitGivesTheSameBytes(t *testing.T) {
	orders := 0
	rapid.Check(t, func(t *rapid.T) {
		pool := drawPool(t)
		var want []byte
		for range ordersOfEachPool {
			s := state.New()
			for _, u := range deal(t, pool) {
				if err := s.Apply(&u); err != nil {
					t.Fatalf("rejected: %v", err)
				}
			}
			snapshot := s.Snapshot()
			got := codec.AppendSnapshot(nil, &snapshot)
			if want == nil {
				want = got
				account(t, pool, &snapshot)
			}
			if !bytes.Equal(want, got) {
				t.Fatalf("another order gives another state:\n%x\n%x", want, got)
			}
			orders++
		}
	})
	if orders < 1000 && !testing.Short() {
		t.Errorf("%d orders tried, want at least 1,000", orders)
	}
}

// pool is what the branches contribute, piece by piece.
type pool struct {
	evidences []keyed
	opinions  []abi.CriterionOpinion
	results   []abi.CriterionResult
	errors    []abi.NodeError
}

type keyed struct {
	key  string
	item abi.Evidence
}

func drawPool(t *rapid.T) pool {
	few := rapid.SampledFrom([]string{"a", "b", "ab", "abc", "c"})
	sure := rapid.SampledFrom([]float64{0, 0.25, 0.5, 0.5, 1})
	var p pool
	for range rapid.IntRange(0, 30).Draw(t, "evidences") {
		p.evidences = append(p.evidences, keyed{few.Draw(t, "key"), abi.Evidence{
			SourceRef: few.Draw(t, "source"), Content: few.Draw(t, "content"), RelevanceConfidence: sure.Draw(t, "confidence"),
			Supports: rapid.SampledFrom([]string{"", "pb001", "ab001"}).Draw(t, "supports"),
			Element:  rapid.SampledFrom([]abi.Element{"", abi.Fire, abi.Water}).Draw(t, "element"),
		}})
	}
	for range rapid.IntRange(0, 15).Draw(t, "opinions") {
		o := opinion(few.Draw(t, "criterion"), few.Draw(t, "judge"), sure.Draw(t, "confidence"))
		o.Argument = few.Draw(t, "argument")
		p.opinions = append(p.opinions, o)
	}
	for range rapid.IntRange(0, 15).Draw(t, "results") {
		p.results = append(p.results, result(few.Draw(t, "criterion"), rapid.IntRange(1, 5).Draw(t, "score"), sure.Draw(t, "confidence")))
	}
	for i := range rapid.IntRange(0, 8).Draw(t, "errors") {
		p.errors = append(p.errors, nodeError(at(few.Draw(t, "node"), i/2, i), "trap"))
	}
	return p
}

// deal gives every piece of the pool to at least one of a few updates, in any order.
func deal(t *rapid.T, p pool) []abi.Update {
	updates := make([]abi.Update, rapid.IntRange(1, 6).Draw(t, "updates"))
	hands := rapid.SliceOfNDistinct(rapid.IntRange(0, len(updates)-1), 1, min(2, len(updates)), rapid.ID[int])
	for _, piece := range rapid.Permutation(p.evidences).Draw(t, "evidences") {
		for _, i := range hands.Draw(t, "hands") {
			u := &updates[i]
			if u.Evidences == nil {
				u.Evidences = map[string][]abi.Evidence{}
			}
			u.Evidences[piece.key] = append(u.Evidences[piece.key], piece.item)
		}
	}
	// A map holds one claim of a key: what does not fit goes into an update of its own.
	for _, o := range rapid.Permutation(p.opinions).Draw(t, "opinions") {
		for _, i := range hands.Draw(t, "hands") {
			updates = putOpinion(updates, i, o)
		}
	}
	for _, r := range rapid.Permutation(p.results).Draw(t, "results") {
		for _, i := range hands.Draw(t, "hands") {
			updates = putResult(updates, i, r)
		}
	}
	for _, e := range rapid.Permutation(p.errors).Draw(t, "errors") {
		for _, i := range hands.Draw(t, "hands") {
			updates[i].Errors = append(updates[i].Errors, e)
		}
	}
	return rapid.Permutation(updates).Draw(t, "order")
}

func putOpinion(updates []abi.Update, i int, o abi.CriterionOpinion) []abi.Update {
	if _, taken := updates[i].Judgements[o.CriterionID][o.Judge]; taken {
		updates, i = append(updates, abi.Update{}), len(updates)
	}
	u := &updates[i]
	if u.Judgements == nil {
		u.Judgements = map[string]map[string]abi.CriterionOpinion{}
	}
	if u.Judgements[o.CriterionID] == nil {
		u.Judgements[o.CriterionID] = map[string]abi.CriterionOpinion{}
	}
	u.Judgements[o.CriterionID][o.Judge] = o
	return updates
}

func putResult(updates []abi.Update, i int, r abi.CriterionResult) []abi.Update {
	if _, taken := updates[i].CriterionResults[r.CriterionID]; taken {
		updates, i = append(updates, abi.Update{}), len(updates)
	}
	u := &updates[i]
	if u.CriterionResults == nil {
		u.CriterionResults = map[string]abi.CriterionResult{}
	}
	u.CriterionResults[r.CriterionID] = r
	return updates
}

// account fails unless the snapshot has each distinct piece of the pool once, with the highest confidence that any of its duplicates
// stated, and nothing else.
func account(t *rapid.T, p pool, got *abi.Snapshot) {
	want := map[string]float64{}
	note := func(confidence float64, identity ...string) {
		id := fmt.Sprintf("%q", identity)
		if old, there := want[id]; !there || cmp.Less(old, confidence) {
			want[id] = confidence
		}
	}
	for _, e := range p.evidences {
		note(e.item.RelevanceConfidence, "evidence", e.key, e.item.SourceRef, e.item.Content)
	}
	for _, o := range p.opinions {
		note(o.RelevanceConfidence, "opinion", o.CriterionID, o.Judge)
	}
	for _, r := range p.results {
		note(r.RelevanceConfidence, "result", r.CriterionID)
	}
	for _, e := range p.errors {
		note(0, "error", e.At.Node, fmt.Sprint(e.At.Pass, e.At.Sequence))
	}
	meet := func(confidence float64, identity ...string) {
		id := fmt.Sprintf("%q", identity)
		if expected, there := want[id]; !there || expected != confidence {
			t.Fatalf("%s has %v, want %v (expected at all: %v)", id, confidence, expected, there)
		}
		delete(want, id)
	}
	for key, list := range got.Evidences {
		for _, e := range list {
			meet(e.RelevanceConfidence, "evidence", key, e.SourceRef, e.Content)
		}
	}
	for criterion, judges := range got.Judgements {
		for judge, o := range judges {
			meet(o.RelevanceConfidence, "opinion", criterion, judge)
		}
	}
	for criterion, r := range got.CriterionResults {
		meet(r.RelevanceConfidence, "result", criterion)
	}
	for _, e := range got.Errors {
		meet(0, "error", e.At.Node, fmt.Sprint(e.At.Pass, e.At.Sequence))
	}
	if len(want) > 0 {
		t.Fatalf("lost: %v", want)
	}
}

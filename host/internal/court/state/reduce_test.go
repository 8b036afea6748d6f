package state_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/host/internal/court/state"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
)

func TestAccept_FR8_DuplicatesAreFoundBySourceAndContent(t *testing.T) {
	t.Parallel()
	supporting := func(e abi.Evidence, label string, element abi.Element) abi.Evidence {
		e.Supports, e.Element = label, element
		return e
	}
	for _, test := range []struct {
		name    string
		updates []abi.Update
		want    []abi.Evidence
	}{
		{"the highest confidence stays", []abi.Update{
			evidence("k", item("a", "b", 0.5)), evidence("k", item("a", "b", 0.9)), evidence("k", item("a", "b", 0.7)),
		}, []abi.Evidence{item("a", "b", 0.9)}},
		{"within one list", []abi.Update{evidence("k", item("a", "b", 0.5), item("a", "b", 0.6))}, []abi.Evidence{item("a", "b", 0.6)}},
		{"the winner brings its other fields", []abi.Update{
			evidence("k", supporting(item("a", "b", 0.5), "pb001", abi.Fire)), evidence("k", supporting(item("a", "b", 0.6), "ab001", abi.Air)),
		}, []abi.Evidence{supporting(item("a", "b", 0.6), "ab001", abi.Air)}},
		{"a character that moves makes no duplicate", []abi.Update{
			evidence("k", item("ab", "c", 0.5)), evidence("k", item("a", "bc", 0.5)), evidence("k", item("abc", "", 0.5)),
		}, []abi.Evidence{item("a", "bc", 0.5), item("ab", "c", 0.5), item("abc", "", 0.5)}},
		{"separators of any kind make no duplicate", []abi.Update{
			evidence("k", item("a\x00", "b", 0.5), item("a", "\x00b", 0.5), item("a|", "b", 0.5), item("a", "|b", 0.5)),
		}, []abi.Evidence{item("a", "\x00b", 0.5), item("a", "|b", 0.5), item("a\x00", "b", 0.5), item("a|", "b", 0.5)}},
		{"lengths inside of the text make no duplicate", []abi.Update{
			evidence("k", item("s", "\x00\x00\x00\x00\x00\x00\x00\x01b", 0.5), item("s\x00\x00\x00\x00\x00\x00\x00\x09", "b", 0.5)),
		}, []abi.Evidence{item("s", "\x00\x00\x00\x00\x00\x00\x00\x01b", 0.5), item("s\x00\x00\x00\x00\x00\x00\x00\x09", "b", 0.5)}},
		{"another source or other content is another item", []abi.Update{
			evidence("k", item("a", "b", 0.5)), evidence("k", item("c", "b", 0.1)), evidence("k", item("a", "d", 0.1)),
		}, []abi.Evidence{item("a", "b", 0.5), item("a", "d", 0.1), item("c", "b", 0.1)}},
		{"an empty list changes nothing", []abi.Update{evidence("k", item("a", "b", 0.5)), evidence("k")}, []abi.Evidence{item("a", "b", 0.5)}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := state.New()
			apply(t, s, test.updates...)
			want := map[string][]abi.Evidence{"k": test.want}
			check.Same(t, cmp.Diff(want, s.Snapshot().Evidences), "(-want +got)")
		})
	}
}

func TestAccept_FR8_KeysAreApartAndAnEmptyListMakesNone(t *testing.T) {
	t.Parallel()
	s := state.New()
	apply(t, s, evidence("repo", item("a", "b", 0.5)), evidence("doc", item("a", "b", 0.2)), evidence("none"))
	want := map[string][]abi.Evidence{"repo": {item("a", "b", 0.5)}, "doc": {item("a", "b", 0.2)}}
	check.Same(t, cmp.Diff(want, s.Snapshot().Evidences), "(-want +got)")
}

// What is equally sure of two labels names none, in any order; what is surer of one names that.
func TestAccept_QU8_OneItemForTwoLabelsNamesNone(t *testing.T) {
	t.Parallel()
	said := func(label string, confidence float64, element abi.Element) abi.Update {
		e := item("log:L2", "quota exceeded", confidence)
		e.Supports, e.Element = label, element
		return evidence("k", e)
	}
	tied := []abi.Update{said("leak", 0.9, abi.Air), said("quota", 0.9, abi.Fire), said("leak", 0.9, abi.Fire), said("leak", 0.8, abi.Air)}
	assertOrderFree(t, tied)
	for _, tc := range []struct {
		updates []abi.Update
		want    string
	}{{tied, ""}, {append(tied, said("quota", 0.95, abi.Air)), "quota"}} {
		s := state.New()
		apply(t, s, tc.updates...)
		if got := s.Snapshot().Evidences["k"]; len(got) != 1 || got[0].Supports != tc.want {
			t.Errorf("got %+v, want one item for %q", got, tc.want)
		}
	}
}

func TestAccept_FR9_BothCriteriaAreKept(t *testing.T) {
	t.Parallel()
	s := state.New()
	apply(t, s, results(result("a", 2, 0.3)), results(result("b", 4, 0.6)))
	want := map[string]abi.CriterionResult{"a": result("a", 2, 0.3), "b": result("b", 4, 0.6)}
	check.Same(t, cmp.Diff(want, s.Snapshot().CriterionResults), "(-want +got)")
}

func TestAccept_FR9_ACollisionKeepsTheHighestConfidence(t *testing.T) {
	t.Parallel()
	s := state.New()
	apply(t, s, results(result("a", 2, 0.3)), results(result("a", 5, 0.8)), results(result("a", 1, 0.7)))
	check.Equal(t, s.Snapshot().CriterionResults["a"], result("a", 5, 0.8))
	assertOrderFree(t, []abi.Update{results(result("a", 2, 0.3)), results(result("a", 5, 0.8)), results(result("a", 1, 0.7))})
}

func TestEntriesStandByNodePassAndSequence(t *testing.T) {
	t.Parallel()
	s := state.New()
	want := []abi.NodeError{
		nodeError(at("a", 0, 1), "trap"), nodeError(at("a", 1, 0), "trap"), nodeError(at("a", 1, 9), "trap"),
		nodeError(at("a", 10, 0), "trap"), nodeError(at("b", 0, 0), "trap"), nodeError(at("b", 0, 2), "trap"),
	}
	for _, i := range []int{4, 0, 3, 5, 1, 2} {
		apply(t, s, abi.Update{Errors: want[i : i+1]})
	}
	check.Same(t, cmp.Diff(want, s.Snapshot().Errors), "(-want +got)")
}

// assertOrderFree applies the updates in every order, and fails unless all states are byte-equal.
func assertOrderFree(t *testing.T, updates []abi.Update) {
	t.Helper()
	var want []byte
	permute(len(updates), func(order []int) {
		s := state.New()
		for _, i := range order {
			apply(t, s, updates[i])
		}
		snapshot := s.Snapshot()
		got := codec.AppendSnapshot(nil, &snapshot)
		if want == nil {
			want = got
		}
		check.Same(t, cmp.Diff(want, got), "order", order, "gives another state")
	})
}

func permute(n int, visit func(order []int)) {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	var rec func(k int)
	rec = func(k int) {
		if k == n {
			visit(order)
			return
		}
		for i := k; i < n; i++ {
			order[k], order[i] = order[i], order[k]
			rec(k + 1)
			order[k], order[i] = order[i], order[k]
		}
	}
	rec(0)
}

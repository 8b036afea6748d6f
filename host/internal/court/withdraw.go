package court

import (
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
)

// identity is what makes an item the same as another.
type identity struct{ sourceRef, content string }

// withoutItemsOfCase is what Light gathered but for the case's own items: nobody changes another's statement by making it again, surer or for
// another label.
func (t *runner) withoutItemsOfCase(items []abi.Evidence) []abi.Evidence {
	return slices.DeleteFunc(slices.Clone(items), func(own abi.Evidence) bool {
		return abi.FindEvidence(t.subject.Evidence, own.SourceRef, own.Content) != nil
	})
}

// bring notes what Light gathered, beside what the case came with.
func (t *runner) bring(items []abi.Evidence) {
	for i := range items {
		t.brought[identity{items[i].SourceRef, items[i].Content}] = true
	}
}

// takeBack leaves out of the evidence what Light withdraws of its own items.
// What the case came with stays, whatever Light says of it: nobody withdraws
// another's word.
func (t *runner) takeBack(answer *abi.RemandAnswer) {
	if t.pass.Indictment == nil {
		return
	}
	for _, reply := range answer.Challenged {
		if reply.Status != abi.ItemWithdrawn || reply.EvidenceIndex >= len(t.pass.Indictment.Evidence) {
			continue
		}
		item := &t.pass.Indictment.Evidence[reply.EvidenceIndex]
		// A classifier that could withdraw items of the case would withdraw what speaks against it.
		if id := (identity{item.SourceRef, item.Content}); t.brought[id] {
			t.brought[id] = false
		}
	}
	t.refreshEvidence()
}

// refreshEvidence takes over what the state holds, but for what was taken back.
func (t *runner) refreshEvidence() {
	t.evidence = slices.DeleteFunc(slices.Clone(t.state.Snapshot().Evidences["case"]), func(e abi.Evidence) bool {
		stands, own := t.brought[identity{e.SourceRef, e.Content}]
		return own && !stands
	})
}

package state

import (
	"cmp"
	"maps"
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
)

// Snapshot gives the whole state. No map or list of channels is shared with
// the state, so later updates cannot reach it. What stands behind the pointers
// and slices of an entry is shared with the state and with other snapshots:
// it never changes there, and must not be changed here.
//
// Lists are in canonical order: evidence by source_ref and content, entries by
// node, pass and sequence. None is nil. Equal states give equal snapshots, and
// so equal canonical bytes.
func (s *State) Snapshot() abi.Snapshot {
	return abi.Snapshot{
		Evidences:        snapshotEvidences(s.evidences),
		Opinions:         opinions().sorted(s.opinions),
		Judgements:       snapshotJudgements(s.judgements),
		CriterionResults: maps.Clone(s.results),
		Artifacts:        artifacts().sorted(s.artifacts),
		Contests:         contests().sorted(s.contests),
		Errors:           nodeErrors().sorted(s.errors),
		Metadata:         maps.Clone(s.metadata),
		Report:           s.report,
	}
}

func snapshotEvidences(sets map[string]evidenceSet) map[string][]abi.Evidence {
	lists := make(map[string][]abi.Evidence, len(sets))
	for key, set := range sets {
		list := make([]abi.Evidence, 0, len(set))
		for _, item := range set {
			list = append(list, item)
		}
		slices.SortFunc(list, func(a, b abi.Evidence) int {
			if c := cmp.Compare(a.SourceRef, b.SourceRef); c != 0 {
				return c
			}
			return cmp.Compare(a.Content, b.Content)
		})
		lists[key] = list
	}
	return lists
}

func snapshotJudgements(judgements map[string]map[string]abi.CriterionOpinion) map[string]map[string]abi.CriterionOpinion {
	out := make(map[string]map[string]abi.CriterionOpinion, len(judgements))
	for criterion, judges := range judgements {
		out[criterion] = maps.Clone(judges)
	}
	return out
}

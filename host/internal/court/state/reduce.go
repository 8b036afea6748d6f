package state

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
)

// identity is what makes two items of evidence duplicates: SHA-256 over
// source_ref and content, each behind its length in 8 bytes big-endian, so
// that a character cannot move from one to the other.
type identity [sha256.Size]byte

// evidenceSet holds the items of one key of the evidences channel, one for
// each identity. It is ordered only when a snapshot is taken.
type evidenceSet map[identity]abi.Evidence

func identify(e *abi.Evidence, buffer []byte) (identity, []byte) {
	buffer = binary.BigEndian.AppendUint64(buffer[:0], uint64(len(e.SourceRef)))
	buffer = append(buffer, e.SourceRef...)
	buffer = binary.BigEndian.AppendUint64(buffer, uint64(len(e.Content)))
	buffer = append(buffer, e.Content...)
	return sha256.Sum256(buffer), buffer
}

// mergeEvidences is the reducer of the evidences channel. Of duplicates the
// preferred one stays; an empty list changes nothing.
func mergeEvidences(into map[string]evidenceSet, update map[string][]abi.Evidence) {
	rank := rankEvidence()
	var buffer []byte
	for key, items := range update {
		if len(items) == 0 {
			continue
		}
		set := into[key]
		if set == nil {
			set = make(evidenceSet, len(items))
			into[key] = set
		}
		for i := range items {
			var id identity
			id, buffer = identify(&items[i], buffer)
			if old, there := set[id]; there {
				set[id] = joined(rank, items[i], old)
			} else {
				set[id] = items[i]
			}
		}
	}
}

// joined is what stays of two items with one identity: the one with the higher
// confidence. Of equally sure ones that name different labels none can be
// believed rather than the other, and the item that stays names none; one without
// a label counts as another, so that the order of merging decides nothing.
func joined(rank ranking[abi.Evidence], a, b abi.Evidence) abi.Evidence {
	if a == b {
		return a
	}
	if a.RelevanceConfidence == b.RelevanceConfidence && a.Supports != b.Supports {
		a.Supports, b.Supports = "", ""
	}
	x, y := a, b
	x.Supports, y.Supports = "", "" // else the order of equals would depend on who meets whom first
	if rank.prefers(&x, &y) {
		return a
	}
	return b
}

// mergeJudgements is the reducer of the judgements channel: criterion, judge,
// opinion. Of two opinions of one judge on one criterion the preferred stays.
func mergeJudgements(into, update map[string]map[string]abi.CriterionOpinion) {
	rank := rankOpinions()
	for criterion, judges := range update {
		if len(judges) == 0 {
			continue
		}
		held := into[criterion]
		if held == nil {
			held = make(map[string]abi.CriterionOpinion, len(judges))
			into[criterion] = held
		}
		for judge, opinion := range judges {
			old, there := held[judge]
			if !there || rank.prefers(&opinion, &old) {
				held[judge] = opinion
			}
		}
	}
}

// mergeCriterionResults is the reducer of the criterion_results channel. Of
// two results of one criterion the preferred stays.
func mergeCriterionResults(into, update map[string]abi.CriterionResult) {
	rank := rankResults()
	for criterion, result := range update {
		old, there := into[criterion]
		if !there || rank.prefers(&result, &old) {
			into[criterion] = result
		}
	}
}

// mergeMetadata is the reducer of the metadata channel. Metadata carries no
// confidence to decide by: of two values of one key the bytewise smaller stays.
func mergeMetadata(into, update map[string]string) {
	for key, value := range update {
		if old, there := into[key]; !there || value < old {
			into[key] = value
		}
	}
}

// claim is a value that states how sure it is.
type claim interface {
	abi.Evidence | abi.CriterionOpinion | abi.CriterionResult
}

// ranking orders the claims of one type.
type ranking[T claim] struct {
	confidence func(*T) float64
	encode     func(dst []byte, v *T) []byte
}

// prefers says whether a stays rather than b: the higher confidence wins, and
// of equals the smaller SHA-256 of the canonical encoding. This orders all
// values that encode differently, so that keeping the first in this order is
// associative, commutative and idempotent.
func (r ranking[T]) prefers(a, b *T) bool {
	if ca, cb := r.confidence(a), r.confidence(b); ca != cb {
		return ca > cb
	}
	ha, hb := sha256.Sum256(r.encode(nil, a)), sha256.Sum256(r.encode(nil, b))
	return bytes.Compare(ha[:], hb[:]) < 0
}

func rankEvidence() ranking[abi.Evidence] {
	return ranking[abi.Evidence]{func(e *abi.Evidence) float64 { return e.RelevanceConfidence }, codec.AppendEvidence}
}

func rankOpinions() ranking[abi.CriterionOpinion] {
	return ranking[abi.CriterionOpinion]{func(o *abi.CriterionOpinion) float64 { return o.RelevanceConfidence }, codec.AppendCriterionOpinion}
}

func rankResults() ranking[abi.CriterionResult] {
	return ranking[abi.CriterionResult]{func(r *abi.CriterionResult) float64 { return r.RelevanceConfidence }, codec.AppendCriterionResult}
}

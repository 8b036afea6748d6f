package state

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
)

// leaves are the digests of all that a state holds, by where it stands.
//
// The digest of a state is SHA-256 over the digests of its entries, in the
// order of their keys, each key before its digest. So it says as much as a
// digest over the snapshot, and after a merge only what was merged is encoded.
type leaves struct {
	digests map[string][sha256.Size]byte
	keys    []string // sorted, all of digests
	buffer  []byte
}

func newLeaves() *leaves { return &leaves{digests: make(map[string][sha256.Size]byte)} }

// place makes a key of the parts that say where an entry stands.
func place(channel string, parts ...string) string {
	key := append([]byte(channel), 0)
	for _, p := range parts {
		key = binary.BigEndian.AppendUint32(key, uint32(len(p)))
		key = append(key, p...)
	}
	return string(key)
}

func placeAt(channel string, at abi.Position) string {
	var number [16]byte
	binary.BigEndian.PutUint64(number[:], uint64(at.Pass))
	binary.BigEndian.PutUint64(number[8:], uint64(at.Sequence))
	return place(channel, at.Node, string(number[:]))
}

// set notes what stands at a place now.
func set[T any](l *leaves, key string, v *T, encode func([]byte, *T) []byte) {
	l.buffer = encode(l.buffer[:0], v)
	if _, there := l.digests[key]; !there {
		l.keys = append(l.keys, key)
	}
	l.digests[key] = sha256.Sum256(l.buffer)
}

// root is the digest of all.
func (l *leaves) root() [sha256.Size]byte {
	slices.Sort(l.keys)
	all := l.buffer[:0]
	for _, key := range l.keys {
		digest := l.digests[key]
		all = binary.BigEndian.AppendUint32(all, uint32(len(key)))
		all = append(append(all, key...), digest[:]...)
	}
	l.buffer = all
	return sha256.Sum256(all)
}

// took notes what an update changed in a state that it was merged into.
func (l *leaves) took(s *State, u *abi.Update) {
	var buffer []byte
	for key, items := range u.Evidences {
		for i := range items {
			var id identity
			id, buffer = identify(&items[i], buffer)
			held := s.evidences[key][id]
			set(l, place("evidences", key, string(id[:])), &held, codec.AppendEvidence)
		}
	}
	for criterion, judges := range u.Judgements {
		for judge := range judges {
			held := s.judgements[criterion][judge]
			set(l, place("judgements", criterion, judge), &held, codec.AppendCriterionOpinion)
		}
	}
	for criterion := range u.CriterionResults {
		held := s.results[criterion]
		set(l, place("criterion_results", criterion), &held, codec.AppendCriterionResult)
	}
	for key := range u.Metadata {
		held := s.metadata[key]
		set(l, place("metadata", key), &held, func(dst []byte, v *string) []byte { return append(dst, *v...) })
	}
	entered(l, opinions(), u.Opinions)
	entered(l, artifacts(), u.Artifacts)
	entered(l, contests(), u.Contests)
	entered(l, nodeErrors(), u.Errors)
	if u.Report != nil {
		set(l, place("report"), u.Report, codec.AppendAuditReport)
	}
}

// entered notes entries of an append channel, which never change.
func entered[T entry](l *leaves, j journal[T], update []T) {
	for i := range update {
		set(l, placeAt(j.channel, j.at(&update[i])), &update[i], j.encode)
	}
}

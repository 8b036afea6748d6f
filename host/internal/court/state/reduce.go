package state

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"maps"
	"slices"
	"strconv"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
)

// identity is what makes two items of evidence duplicates: SHA-256 over source_ref and content, each behind its length in 8 bytes
// big-endian, so that a character cannot move from one to the other.
type identity [sha256.Size]byte

// evidenceSet holds the items of one key of the evidences channel, one for each identity. It is ordered only when a snapshot is taken.
type evidenceSet map[identity]abi.Evidence

func identify(e *abi.Evidence, buffer []byte) (identity, []byte) {
	buffer = binary.BigEndian.AppendUint64(buffer[:0], uint64(len(e.SourceRef)))
	buffer = append(buffer, e.SourceRef...)
	buffer = binary.BigEndian.AppendUint64(buffer, uint64(len(e.Content)))
	buffer = append(buffer, e.Content...)
	return sha256.Sum256(buffer), buffer
}

// mergeEvidences is the reducer of the evidences channel. Of duplicates the preferred one stays; an empty list changes nothing.
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

// joined is what stays of two items with one identity: the one with the higher confidence. Of equally sure ones that name different labels
// none can be believed rather than the other, and the item that stays names none; one without a label counts as another, so that the order
// of merging decides nothing.
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

// mergeCriterionResults is the reducer of the criterion_results channel. Of two results of one criterion the preferred stays.
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

// prefers says whether a stays rather than b: the higher confidence wins, and of equals the smaller SHA-256 of the canonical encoding. This
// orders all values that encode differently, so that keeping the first in this order is associative, commutative and idempotent.
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

// entry is what the append channels hold.
type entry interface {
	abi.OpinionEntry | abi.ArtifactEntry | abi.ContestEntry | abi.NodeError
}

// log is an append channel: one entry for each position, so that a retry of a node, which gives the same positions, doubles nothing.
type log[T entry] map[abi.Position]T

// journal says where an entry stands and how it encodes.
type journal[T entry] struct {
	channel string
	at      func(*T) abi.Position
	encode  func(dst []byte, v *T) []byte
}

// check finds entries whose position another entry holds already, in the
// channel or earlier in the update. The same entry again is no problem.
func (j journal[T]) check(held log[T], update []T, c *abi.Collector) {
	var fresh map[abi.Position]*T
	for i := range update {
		v := &update[i]
		at := j.at(v)
		other, there := held[at]
		rival := &other
		if !there {
			rival, there = fresh[at]
		}
		if !there {
			if fresh == nil {
				fresh = make(map[abi.Position]*T, len(update))
			}
			fresh[at] = v
			continue
		}
		if !bytes.Equal(j.encode(nil, v), j.encode(nil, rival)) {
			c.Add(abi.CodeDuplicateEntry, "another entry holds this position", abi.Field(j.channel), abi.Index(i), abi.Field("at"))
		}
	}
}

// merge puts entries that were checked into the channel.
func (j journal[T]) merge(into log[T], update []T) {
	for i := range update {
		into[j.at(&update[i])] = update[i]
	}
}

// sorted gives the entries in the order of node, pass and sequence.
func (j journal[T]) sorted(held log[T]) []T {
	list := slices.AppendSeq(make([]T, 0, len(held)), maps.Values(held))
	slices.SortFunc(list, func(a, b T) int { return comparePositions(j.at(&a), j.at(&b)) })
	return list
}

func comparePositions(a, b abi.Position) int {
	return cmp.Or(cmp.Compare(a.Node, b.Node), cmp.Compare(a.Pass, b.Pass), cmp.Compare(a.Sequence, b.Sequence))
}

func opinions() journal[abi.OpinionEntry] {
	return journal[abi.OpinionEntry]{"opinions", func(v *abi.OpinionEntry) abi.Position { return v.At }, codec.AppendOpinionEntry}
}

func artifacts() journal[abi.ArtifactEntry] {
	return journal[abi.ArtifactEntry]{"artifacts", func(v *abi.ArtifactEntry) abi.Position { return v.At }, codec.AppendArtifactEntry}
}

func contests() journal[abi.ContestEntry] {
	return journal[abi.ContestEntry]{"contests", func(v *abi.ContestEntry) abi.Position { return v.At }, codec.AppendContestEntry}
}

func nodeErrors() journal[abi.NodeError] {
	return journal[abi.NodeError]{"errors", func(v *abi.NodeError) abi.Position { return v.At }, codec.AppendNodeError}
}

// leaves are the digests of all that a state holds, by where it stands.
//
// The digest of a state is SHA-256 over the digests of its entries, in the order of their keys, each key before its digest. So it says as
// much as a digest over the snapshot, and after a merge only what was merged is encoded.
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

// check finds what the decoder cannot see: map keys that differ from the values under them, and entries that contradict the state.
func (s *State) check(u *abi.Update) error {
	var c abi.Collector
	opinions().check(s.opinions, u.Opinions, &c)
	checkJudgements(u.Judgements, &c)
	checkCriterionResults(u.CriterionResults, &c)
	artifacts().check(s.artifacts, u.Artifacts, &c)
	contests().check(s.contests, u.Contests, &c)
	nodeErrors().check(s.errors, u.Errors, &c)
	s.checkScore(u.Report, &c)
	if s.report != nil && u.Report != nil && !sameReport(s.report, u.Report) {
		c.Add(abi.CodeDuplicateEntry, "the state holds another report", abi.Field("report"))
	}
	return c.Err()
}

// checkScore compares the score of a report with that of its results. The decoder does not know their weights.
func (s *State) checkScore(report *abi.AuditReport, c *abi.Collector) {
	if report == nil || len(report.Results) == 0 {
		return
	}
	detail := "nothing says how the results are weighed"
	if s.score != nil {
		derived := s.score(report.Results)
		if report.GlobalScore == derived {
			return
		}
		detail = "is " + score(report.GlobalScore) + ", the results give " + score(derived)
	}
	c.Add(abi.CodeGlobalScore, detail, abi.Field("report"), abi.Field("global_score"))
}

func score(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

func checkJudgements(judgements map[string]map[string]abi.CriterionOpinion, c *abi.Collector) {
	for _, criterion := range slices.Sorted(maps.Keys(judgements)) {
		judges := judgements[criterion]
		for _, judge := range slices.Sorted(maps.Keys(judges)) {
			mark := c.Mark()
			opinion := judges[judge]
			checkKey(judge, opinion.Judge, "judge", c)
			checkKey(criterion, opinion.CriterionID, "criterion_id", c)
			c.Nest(mark, abi.Key(judge))
			c.Nest(mark, abi.Key(criterion))
			c.Nest(mark, abi.Field("judgements"))
		}
	}
}

func checkCriterionResults(results map[string]abi.CriterionResult, c *abi.Collector) {
	for _, criterion := range slices.Sorted(maps.Keys(results)) {
		mark := c.Mark()
		checkKey(criterion, results[criterion].CriterionID, "criterion_id", c)
		c.Nest(mark, abi.Key(criterion))
		c.Nest(mark, abi.Field("criterion_results"))
	}
}

func checkKey(key, value, field string, c *abi.Collector) {
	if key != value {
		c.Add(abi.CodeKeyMismatch, "is "+strconv.Quote(value)+" under the key "+strconv.Quote(key), abi.Field(field))
	}
}

func sameReport(a, b *abi.AuditReport) bool {
	return bytes.Equal(codec.AppendAuditReport(nil, a), codec.AppendAuditReport(nil, b))
}

package state

import (
	"math"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
)

// State is the state of one traversal. It is not safe for concurrent use: branches
// that run in parallel hand their updates to the one goroutine of the fan-in.
// The zero value is not ready; use New.
type State struct {
	evidences  map[string]evidenceSet
	judgements map[string]map[string]abi.CriterionOpinion
	results    map[string]abi.CriterionResult
	metadata   map[string]string

	opinions  log[abi.OpinionEntry]
	artifacts log[abi.ArtifactEntry]
	contests  log[abi.ContestEntry]
	errors    log[abi.NodeError]

	report *abi.AuditReport
	score  func([]abi.CriterionResult) float64 // nil where no report is expected

	leaves  *leaves // nil where nobody watches
	watcher func(digest [32]byte)
}

// New gives an empty state.
func New() *State {
	return &State{
		evidences:  map[string]evidenceSet{},
		judgements: map[string]map[string]abi.CriterionOpinion{},
		results:    map[string]abi.CriterionResult{},
		metadata:   map[string]string{},
		opinions:   log[abi.OpinionEntry]{},
		artifacts:  log[abi.ArtifactEntry]{},
		contests:   log[abi.ContestEntry]{},
		errors:     log[abi.NodeError]{},
	}
}

// Watched gives an empty state that tells its digest after each merge, which
// two states have in common if and only if they hold the same. A nil watcher
// gives one that tells nothing.
func Watched(watcher func(digest [32]byte)) *State {
	s := New()
	if watcher != nil {
		s.leaves, s.watcher = newLeaves(), watcher
	}
	return s
}

// ScoreReports says how the global score of a report follows from its results.
// A state that was not told takes no report with results.
func (s *State) ScoreReports(score func(results []abi.CriterionResult) float64) { s.score = score }

// Apply merges u, or rejects all of it with a *RejectedError and leaves the
// state as it was. The state keeps a copy: u may be changed afterwards. The
// cost is that of encoding and decoding u, and does not depend on how much
// the state holds.
func (s *State) Apply(u *abi.Update) error {
	return s.ApplyEncoded(codec.AppendUpdate(nil, u))
}

// Adopt merges an update whose values were made by the strict decoder, without
// validating or copying them again: the state keeps them, and they must not be
// changed afterwards. The rules between the update and the state are checked
// as in Apply.
func (s *State) Adopt(u *abi.Update) error {
	if err := s.check(u); err != nil {
		return rejected(err)
	}
	s.merge(u)
	return nil
}

// ApplyEncoded merges an encoded abi.Update, or rejects all of it with a
// *RejectedError and leaves the state as it was. A structural mismatch, such as
// a string in place of a list, is rejected with the path to it. There is no
// limit on the size of an update: the limits stand where modules are called.
func (s *State) ApplyEncoded(encoded []byte) error {
	u, err := codec.DecodeUpdate(encoded, math.MaxInt)
	if err != nil {
		return rejected(err)
	}
	return s.Adopt(&u)
}

// merge commits an update that was checked. Nothing in it can fail.
func (s *State) merge(u *abi.Update) {
	mergeEvidences(s.evidences, u.Evidences)
	mergeJudgements(s.judgements, u.Judgements)
	mergeCriterionResults(s.results, u.CriterionResults)
	mergeMetadata(s.metadata, u.Metadata)
	opinions().merge(s.opinions, u.Opinions)
	artifacts().merge(s.artifacts, u.Artifacts)
	contests().merge(s.contests, u.Contests)
	nodeErrors().merge(s.errors, u.Errors)
	if u.Report != nil {
		s.report = u.Report
	}
	if s.leaves != nil {
		s.leaves.took(s, u)
		s.watcher(s.leaves.root())
	}
}

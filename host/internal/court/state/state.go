package state

import (
	"cmp"
	"errors"
	"maps"
	"math"
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
)

// State is the state of one traversal. It is not safe for concurrent use: branches that run in parallel hand their updates to the one
// goroutine of the fan-in. The zero value is not ready; use New.
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

// Watched gives an empty state that tells its digest after each merge, which two states have in common if and only if they hold the same. A
// nil watcher gives one that tells nothing.
func Watched(watcher func(digest [32]byte)) *State {
	s := New()
	if watcher != nil {
		s.leaves, s.watcher = newLeaves(), watcher
	}
	return s
}

// ScoreReports says how the global score of a report follows from its results. A state that was not told takes no report with results.
func (s *State) ScoreReports(score func(results []abi.CriterionResult) float64) { s.score = score }

// Apply merges u, or rejects all of it with a *RejectedError and leaves the state as it was. The state keeps a copy: u may be changed
// afterwards. The cost is that of encoding and decoding u, and does not depend on how much the state holds.
func (s *State) Apply(u *abi.Update) error {
	return s.ApplyEncoded(codec.AppendUpdate(nil, u))
}

// Adopt merges an update whose values were made by the strict decoder, without validating or copying them again: the state keeps them, and
// they must not be changed afterwards. The rules between the update and the state are checked as in Apply.
func (s *State) Adopt(u *abi.Update) error {
	if err := s.check(u); err != nil {
		return rejected(err)
	}
	s.merge(u)
	return nil
}

// ApplyEncoded merges an encoded abi.Update, or rejects all of it with a *RejectedError and leaves the state as it was. A structural
// mismatch, such as a string in place of a list, is rejected with the path to it. There is no limit on the size of an update: the limits
// stand where modules are called.
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

// RejectedError says why an update was rejected: no part of it was merged. It unwraps to the *abi.ValidationError that holds every problem
// with its path and code.
type RejectedError struct {
	// Channel is the first one with a problem, by its wire name; empty when the update is no map of channels at all.
	Channel string
	// Problems of the whole update, in path order.
	Problems []abi.Problem

	cause error
}

// Error names the channel and gives every problem with its path.
func (e *RejectedError) Error() string {
	if e.Channel == "" {
		return "state: update rejected: " + e.cause.Error()
	}
	return "state: update rejected in channel " + e.Channel + ": " + e.cause.Error()
}

// Unwrap gives the *abi.ValidationError.
func (e *RejectedError) Unwrap() error { return e.cause }

func rejected(cause error) error {
	r := &RejectedError{cause: cause}
	if invalid, ok := errors.AsType[*abi.ValidationError](cause); ok {
		r.Problems = invalid.Problems
		r.Channel = channelOf(invalid.Problems)
	}
	return r
}

// channelOf gives the first step of the first path that has one.
func channelOf(problems []abi.Problem) string {
	for _, p := range problems {
		if len(p.Path) > 0 {
			return p.Path[:1].String()
		}
	}
	return ""
}

// Snapshot gives the whole state. No map or list of channels is shared with the state, so later updates cannot reach it. What stands behind
// the pointers and slices of an entry is shared with the state and with other snapshots: it never changes there, and must not be changed
// here.
//
// Lists are in canonical order: evidence by source_ref and content, entries by node, pass and sequence. None is nil. Equal states give
// equal snapshots, and so equal canonical bytes.
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
		list := slices.AppendSeq(make([]abi.Evidence, 0, len(set)), maps.Values(set))
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

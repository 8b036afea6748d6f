package state_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/host/internal/court/state"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// encoded gives the canonical bytes of the whole state.
func encoded(s *state.State) []byte {
	snapshot := s.Snapshot()
	return codec.AppendSnapshot(nil, &snapshot)
}

func apply(t *testing.T, s *state.State, updates ...abi.Update) {
	t.Helper()
	for i := range updates {
		must.Do(t, s.Apply(&updates[i]), "update", i)
	}
}

func evidence(key string, items ...abi.Evidence) abi.Update {
	return abi.Update{Evidences: map[string][]abi.Evidence{key: items}}
}

func item(source, content string, confidence float64) abi.Evidence {
	return abi.Evidence{SourceRef: source, Content: content, RelevanceConfidence: confidence}
}

func opinion(criterion, judge string, confidence float64) abi.CriterionOpinion {
	return abi.CriterionOpinion{
		Judge: judge, CriterionID: criterion, NumericScore: 3, Argument: "because",
		CitedEvidence: []string{"README.md"}, RelevanceConfidence: confidence,
	}
}

func result(criterion string, score int, confidence float64) abi.CriterionResult {
	return abi.CriterionResult{CriterionID: criterion, NumericScore: score, Reasoning: "so", RelevanceConfidence: confidence}
}

func results(list ...abi.CriterionResult) abi.Update {
	m := map[string]abi.CriterionResult{}
	for _, r := range list {
		m[r.CriterionID] = r
	}
	return abi.Update{CriterionResults: m}
}

func at(node string, pass, sequence int) abi.Position {
	return abi.Position{Node: node, Pass: pass, Sequence: sequence}
}

func nodeError(p abi.Position, cause string) abi.NodeError {
	return abi.NodeError{At: p, Persona: "abyss", Cause: cause, Detail: "unreachable executed"}
}

// full is an update with something in every channel.
func full() abi.Update {
	return abi.Update{
		Evidences: map[string][]abi.Evidence{"repo": {item("b.go:1", "panic", 0.5), item("a.go:1", "nil map", 0.9)}},
		Opinions:  []abi.OpinionEntry{{At: at("collect", 0, 0), Opinion: abi.JudicialOpinion{Text: "it is so", CaseID: "7", CourtName: "Shadow"}}},
		Judgements: map[string]map[string]abi.CriterionOpinion{
			"safety": {"first": opinion("safety", "first", 0.8), "second": opinion("safety", "second", 0.4)},
		},
		CriterionResults: map[string]abi.CriterionResult{"safety": result("safety", 4, 0.8)},
		Artifacts: []abi.ArtifactEntry{{
			At: at("verdict", 0, 0), Persona: "specter",
			Artifact: abi.Artifact{Verdict: &abi.Verdict{Decision: abi.Acquit, Confidence: 0.4, Reasoning: "too little"}},
		}},
		Contests: []abi.ContestEntry{{
			At: at("defend", 0, 1), Persona: "bulwark",
			Challenges: []abi.Challenge{{EvidenceIndex: 1, Challenge: "repeats the first", Severity: abi.Weakening, By: "bulwark"}},
		}},
		Errors:   []abi.NodeError{nodeError(at("defend", 0, 0), "trap")},
		Metadata: map[string]string{"pipeline": "defect-court"},
		Report:   &abi.AuditReport{Results: []abi.CriterionResult{}, Summary: "nothing to see"},
	}
}

// wantRejected applies u, and fails unless it is rejected with these problems in this order and the state stays byte-equal.
func wantRejected(t *testing.T, s *state.State, u *abi.Update, channel string, want ...string) {
	t.Helper()
	before := encoded(s)
	checkRejected(t, s.Apply(u), channel, want...)
	if !bytes.Equal(before, encoded(s)) {
		t.Error("the rejected update changed the state")
	}
}

func checkRejected(t *testing.T, err error, channel string, want ...string) {
	t.Helper()
	rejected, ok := errors.AsType[*state.RejectedError](err)
	if !ok {
		t.Fatalf("got %v, want a *state.RejectedError", err)
	}
	var got []string
	for _, p := range rejected.Problems {
		got = append(got, p.Path.String()+" "+string(p.Code))
	}
	check.Same(t, cmp.Diff(want, got), "problems (-want +got)")
	check.Equal(t, rejected.Channel, channel, "channel")
	if _, ok := errors.AsType[*abi.ValidationError](err); !ok {
		t.Errorf("%v does not unwrap to a *abi.ValidationError", err)
	}
}

func TestAccept_FR7_TheStateHoldsOnlyTheLatestMergedSnapshot(t *testing.T) {
	t.Parallel()
	s := state.New()
	apply(t, s, results(result("a", 2, 0.3)), evidence("repo", item("x", "y", 0.1)))
	apply(t, s, results(result("a", 5, 0.9)), evidence("repo", item("x", "y", 0.7)))

	want := state.New()
	apply(t, want, results(result("a", 5, 0.9)), evidence("repo", item("x", "y", 0.7)))
	check.Same(t, cmp.Diff(want.Snapshot(), s.Snapshot()), "something of the earlier values is left (-want +got)")
	if !bytes.Equal(encoded(want), encoded(s)) {
		t.Error("equal states encode differently")
	}
}

func TestSnapshotHasEveryChannelAndOutlivesLaterUpdates(t *testing.T) {
	t.Parallel()
	s := state.New()
	u := full()
	apply(t, s, u)
	first := s.Snapshot()
	want := abi.Snapshot{
		Evidences:        map[string][]abi.Evidence{"repo": {item("a.go:1", "nil map", 0.9), item("b.go:1", "panic", 0.5)}},
		Opinions:         full().Opinions,
		Judgements:       full().Judgements,
		CriterionResults: full().CriterionResults,
		Artifacts:        full().Artifacts,
		Contests:         full().Contests,
		Errors:           full().Errors,
		Metadata:         full().Metadata,
		Report:           full().Report,
	}
	check.Same(t, cmp.Diff(want, first, cmpopts.EquateEmpty()), "snapshot (-want +got)")

	// Neither later updates nor changes of what was applied reach it.
	apply(t, s,
		evidence("repo", item("a.go:1", "nil map", 1)), evidence("other", item("c", "d", 1)),
		results(result("safety", 1, 1), result("style", 1, 1)),
		abi.Update{Judgements: map[string]map[string]abi.CriterionOpinion{"safety": {"first": opinion("safety", "first", 1)}}},
		abi.Update{Errors: []abi.NodeError{nodeError(at("a", 0, 0), "trap")}, Metadata: map[string]string{"k": "v"}},
	)
	u.Artifacts[0].Artifact.Verdict.Reasoning = "changed by the caller"
	u.Report.Summary = "changed by the caller"
	u.Judgements["safety"]["first"].CitedEvidence[0] = "changed by the caller"
	check.Same(t, cmp.Diff(want, first, cmpopts.EquateEmpty()), "the snapshot changed afterwards (-want +got)")
}

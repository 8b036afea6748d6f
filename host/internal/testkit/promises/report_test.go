package promises_test

import (
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/host/audit"
	"github.com/shadowcourt/shadowcourt/host/internal/court/state"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// reports of two results, one of which weighs twice: 3.3 is their mean, 3.5 without weights.
func reports(score float64, criteria ...string) *abi.AuditReport {
	r := &abi.AuditReport{GlobalScore: score, Results: []abi.CriterionResult{
		{CriterionID: "law", NumericScore: 4}, {CriterionID: "facts", NumericScore: 3},
	}}
	for i, id := range criteria {
		r.Results[i].CriterionID = id
	}
	return r
}

// §9.1 and §9.3: a report whose score disagrees with its results, or with two results of a criterion, is rejected: by the decoder as far as
// it can tell without the weights, by the state of an audit to the last decimal.
func TestAccept_FX4_Section9_3_ReportsAgreeWithTheirResults(t *testing.T) {
	t.Parallel()
	weights := &audit.Weights{Criteria: map[string]float64{"facts": 2}}
	for name, c := range map[string]struct {
		report             *abi.AuditReport
		byDecoder, byState string
	}{
		"the weighted mean":        {reports(3.3), "", ""},
		"the mean without weights": {reports(3.5), "", "global_score report.global_score"},
		"a tenth above":            {reports(3.4), "", "global_score report.global_score"},
		"two decimals":             {reports(3.33), "global_score global_score", "global_score report.global_score"},
		"above all results":        {reports(4.1), "global_score global_score", "global_score report.global_score"},
		"below all results":        {reports(2.9), "global_score global_score", "global_score report.global_score"},
		"0":                        {reports(0), "global_score global_score", "global_score report.global_score"},
		"two of one criterion": {
			reports(3.3, "law", "law"), "duplicate_id results[1].criterion_id", "duplicate_id report.results[1].criterion_id",
		},
		"a score of nothing": {&abi.AuditReport{GlobalScore: 1}, "global_score global_score", "global_score report.global_score"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := codec.DecodeAuditReport(codec.AppendAuditReport(nil, c.report), 0)
			compare(t, "decoder", err, c.byDecoder)
			s := state.New()
			s.ScoreReports(func(results []abi.CriterionResult) float64 { return audit.GlobalScore(results, weights) })
			compare(t, "state", s.Apply(&abi.Update{Report: c.report}), c.byState)
		})
	}
	t.Run("a state that knows no weights", func(t *testing.T) {
		t.Parallel()
		compare(t, "state", state.New().Apply(&abi.Update{Report: reports(3.3)}), "global_score report.global_score")
	})
}

// §9.3: entries of the state.
func TestAccept_FX4_Section9_3_EntriesOfTheState(t *testing.T) {
	t.Parallel()
	at := abi.Position{Node: "x"}
	for name, c := range map[string]struct {
		update abi.Update
		want   string
	}{
		"a result under another key": {
			abi.Update{CriterionResults: map[string]abi.CriterionResult{"law": {CriterionID: "facts", NumericScore: 1}}},
			`key_mismatch criterion_results["law"].criterion_id`,
		},
		"an opinion under another judge": {
			abi.Update{Judgements: map[string]map[string]abi.CriterionOpinion{"law": {"a": {Judge: "b", CriterionID: "law", NumericScore: 1}}}},
			`key_mismatch judgements["law"]["a"].judge`,
		},
		"two entries at a position": {
			abi.Update{Errors: []abi.NodeError{{At: at, Cause: "trap"}, {At: at, Cause: "exit"}}},
			"duplicate_entry errors[1].at",
		},
		"a second report": {abi.Update{Report: &abi.AuditReport{Summary: "another"}}, "duplicate_entry report"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := state.New()
			must.Do(t, s.Apply(&abi.Update{Report: &abi.AuditReport{Summary: "the first"}}))
			compare(t, "state", s.Apply(&c.update), c.want)
		})
	}
}

func compare(t *testing.T, who string, err error, want string) {
	t.Helper()
	var problems strings.Builder
	if err != nil {
		for _, p := range problemsOf(t, err) {
			problems.WriteString(string(p.Code) + " " + p.Path)
		}
	}
	if got := problems.String(); got != want {
		t.Errorf("%s: problems are %q, want %q", who, got, want)
	}
}

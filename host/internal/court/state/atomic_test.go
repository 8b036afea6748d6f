package state_test

import (
	"bytes"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/internal/court/state"
)

func TestAccept_SC3_OneBadItemRejectsTheWholeUpdate(t *testing.T) {
	t.Parallel()
	bad := opinion("speed", "second", 0.5)
	bad.NumericScore = 9
	badResult := result("speed", 3, -0.5)
	for _, test := range []struct {
		name    string
		spoil   func(*abi.Update)
		channel string
		want    string
	}{
		{
			"evidence", func(u *abi.Update) { u.Evidences["repo"][1].RelevanceConfidence = 1.5 },
			"evidences", `evidences["repo"][1].relevance_confidence out_of_range`,
		},
		{
			"opinion", func(u *abi.Update) { u.Opinions[0].Opinion.Text = "" },
			"opinions", `opinions[0].opinion.text empty`,
		},
		{
			"judgement", func(u *abi.Update) { u.Judgements["speed"] = map[string]abi.CriterionOpinion{"second": bad} },
			"judgements", `judgements["speed"]["second"].numeric_score out_of_range`,
		},
		{
			"result", func(u *abi.Update) { u.CriterionResults["speed"] = badResult },
			"criterion_results", `criterion_results["speed"].relevance_confidence out_of_range`,
		},
		{
			"artifact", func(u *abi.Update) { u.Artifacts[0].Artifact.Verdict.Confidence = 2 },
			"artifacts", `artifacts[0].artifact.verdict.confidence out_of_range`,
		},
		{
			"contest", func(u *abi.Update) { u.Contests[0].Challenges[0].Severity = "grave" },
			"contests", `contests[0].challenges[0].severity invalid_value`,
		},
		{
			"error", func(u *abi.Update) { u.Errors[0].Cause = "" },
			"errors", `errors[0].cause empty`,
		},
		{
			"metadata", func(u *abi.Update) { u.Metadata["k"] = "\xff" },
			"metadata", `metadata["k"] invalid_utf8`,
		},
		{
			"report", func(u *abi.Update) { u.Report.GlobalScore = 7 },
			"report", `report.global_score out_of_range`,
		},
		{"judge under another's key", func(u *abi.Update) {
			u.Judgements["safety"]["third"] = opinion("safety", "first", 0.5)
		}, "judgements", `judgements["safety"]["third"].judge key_mismatch`},
		{"opinion under another criterion", func(u *abi.Update) {
			u.Judgements["style"] = map[string]abi.CriterionOpinion{"first": opinion("safety", "first", 0.5)}
		}, "judgements", `judgements["style"]["first"].criterion_id key_mismatch`},
		{
			"result under another criterion", func(u *abi.Update) { u.CriterionResults["style"] = result("safety", 1, 0.5) },
			"criterion_results", `criterion_results["style"].criterion_id key_mismatch`,
		},
		{"two entries in one place", func(u *abi.Update) {
			u.Errors = append(u.Errors, nodeError(u.Errors[0].At, "fuel"))
		}, "errors", `errors[1].at duplicate_entry`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := state.New()
			apply(t, s, evidence("old", item("a", "b", 0.5)), abi.Update{Errors: []abi.NodeError{nodeError(at("indict", 0, 0), "trap")}})
			u := full()
			test.spoil(&u)
			wantRejected(t, s, &u, test.channel, test.want)
			apply(t, s, full()) // the unspoilt update is the state's first sight of it
		})
	}
}

func TestAccept_SC3_AllProblemsAreReportedAtOnce(t *testing.T) {
	t.Parallel()
	s := state.New()
	u := full()
	u.Evidences["repo"][0].RelevanceConfidence = -0.1
	u.Evidences["repo"][1].SourceRef = ""
	u.CriterionResults["style"] = result("style", 0, 0.5)
	wantRejected(t, s, &u, "evidences",
		`evidences["repo"][0].relevance_confidence out_of_range`,
		`evidences["repo"][1].source_ref empty`,
		`criterion_results["style"].numeric_score out_of_range`)
}

// The encodings below are written by hand, as msgpack: 0x81 is a map of one entry, 0xa0 and above a short string.
func TestAccept_FR8_FR9_AStructuralMismatchIsFatal(t *testing.T) {
	t.Parallel()
	str := func(s string) []byte { return append([]byte{0xa0 | byte(len(s))}, s...) }
	join := func(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
	one, list := []byte{0x81}, []byte{0x91}
	for _, test := range []struct {
		name, channel, want string
		encoded             []byte
	}{
		{"a string for the update", "", " wrong_type", str("oops")},
		{"a string for the map of lists", "evidences", "evidences wrong_type", join(one, str("evidences"), str("oops"))},
		{"a list for the map of lists", "evidences", "evidences wrong_type", join(one, str("evidences"), []byte{0x90})},
		{"a string for a list", "evidences", `evidences["repo"] wrong_type`, join(one, str("evidences"), one, str("repo"), str("oops"))},
		{"a map for a list", "evidences", `evidences["repo"] wrong_type`, join(one, str("evidences"), one, str("repo"), []byte{0x80})},
		{"a string for an item", "evidences", `evidences["repo"][0] wrong_type`, join(one, str("evidences"), one, str("repo"), list, str("oops"))},
		{"a string for the results", "criterion_results", "criterion_results wrong_type", join(one, str("criterion_results"), str("oops"))},
		{"a list for the results", "criterion_results", "criterion_results wrong_type", join(one, str("criterion_results"), []byte{0x90})},
		{"a string for a result", "criterion_results", `criterion_results["a"] wrong_type`, join(one, str("criterion_results"), one, str("a"), str("oops"))},
		{"a list for the judges", "judgements", `judgements["a"] wrong_type`, join(one, str("judgements"), one, str("a"), []byte{0x90})},
		{"a map for the errors", "errors", "errors wrong_type", join(one, str("errors"), []byte{0x80})},
		{"an unknown channel", "evidence", "evidence unknown_field", join(one, str("evidence"), []byte{0x80})},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := state.New()
			apply(t, s, full())
			before := encoded(s)
			checkRejected(t, s.ApplyEncoded(test.encoded), test.channel, test.want)
			if !bytes.Equal(before, encoded(s)) {
				t.Error("the rejected update changed the state")
			}
		})
	}
}

package host_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host"
)

// deepLog begins with more of one symptom than a pass looks at; behind them
// stands another.
func deepLog(behind string) string {
	var b strings.Builder
	for i := range 6 {
		fmt.Fprintf(&b, "    cart_test.go:%d: item %s: got 1, want 2\n", 10+i, strings.Repeat("x", i+1))
	}
	b.WriteString(behind)
	b.WriteString("--- FAIL: TestCart (0.00s)\n")
	return b.String()
}

// A remand changes the classification where the documents hold what speaks for
// another, deeper than the first pass looked, and not where they don't.
func TestAccept_HD8_ARemandFindsWhatTheFirstPassDidNotReach(t *testing.T) {
	t.Parallel()
	h := open(t, host.Config{LightPath: rca(t), Pipeline: behave(t, "specter", "verdict", "remand", "rejection_threshold: 0.50", "rejection_threshold: 0.10")})
	const refused = "    cart_test.go:90: dial tcp 10.0.0.7:5432: connect: connection refused\n"
	for name, test := range map[string]struct{ behind, after string }{
		"held":     {refused, "si001"},
		"not held": {"", "pb001"},
	} {
		c := abi.Case{
			ID: "deep", Subject: "TestCart fails", Labels: []string{"pb001", "ab001", "si001", "nd001"},
			Documents: []abi.Document{{Name: "log", Text: deepLog(test.behind)}},
		}
		outcome := try(t, h, c)
		got := outcome.Result
		if got.Error != nil || got.Light.Classification != "pb001" || len(got.LightAfter) == 0 {
			t.Fatalf("%s: %+v, %+v, then %+v", name, got.Error, got.Light, got.LightAfter)
		}
		if label := got.LightAfter[0].Classification; label != test.after {
			t.Errorf("%s: after the remand %s", name, label)
		}
		brought := slices.ContainsFunc(outcome.Light[1].Gathered, func(e abi.Evidence) bool {
			return strings.Contains(e.Content, "connection refused") && e.Supports == "si001" && e.SourceRef == "seeker-report:log:L7"
		})
		if brought != (test.behind != "") {
			t.Errorf("%s: the remand brought %+v", name, outcome.Light[1].Gathered)
		}
	}
}

// No line that the case's evidence quotes is gathered again, unless another
// label is read out of it.
func TestTheLightPathHoldsNoLineTwice(t *testing.T) {
	t.Parallel()
	h := open(t, host.Config{LightPath: rca(t)})
	const line = "    cart_test.go:9: got 1, want 2"
	for supports, gathered := range map[string]bool{"pb001": false, "nd001": true, "": true} {
		c := abi.Case{
			ID: "twice", Subject: "TestCart fails", Labels: []string{"pb001", "ab001", "si001", "nd001"},
			Documents: []abi.Document{{Name: "log", Text: line + "\n        for the cart of three\n"}},
			Evidence:  []abi.Evidence{{SourceRef: "log:L1", Content: line, RelevanceConfidence: 0.55, Supports: supports}},
		}
		found := try(t, h, c).Light[0].Gathered
		if again := slices.ContainsFunc(found, func(e abi.Evidence) bool { return strings.Contains(e.Content, line) }); again != gathered {
			t.Errorf("where it stands for %q: %+v", supports, found)
		}
	}
}

// What an investigation does not give again on a later pass it has taken back.
func TestALaterPassTakesBackAnEarlierOne(t *testing.T) {
	t.Parallel()
	h := openLit(t, host.Config{}, map[string]string{"investigate": "rethink"}, "H2", "H6", "H10", "H11", "H12")
	found := try(t, h, unclassified()).Light[0].Gathered
	if len(found) != 1 || found[0].Content != "third pass" || found[0].Element != abi.Water {
		t.Errorf("after three passes the pass has %+v", found)
	}
}

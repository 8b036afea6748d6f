package render_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/render"
	"github.com/shadowcourt/shadowcourt/internal/render/testkit/sample"
)

func TestAboutSaysWhatTheIDDoesNot(t *testing.T) {
	t.Parallel()
	evidence := []abi.Evidence{
		{Content: "--- FAIL: TestSum", RelevanceConfidence: 0.3},
		{Content: "\n  sum_test.go:7: got 3, want 4\n  more", RelevanceConfidence: 0.6},
		{Content: "later", RelevanceConfidence: 0.9},
	}
	for _, test := range []struct {
		id, subject string
		evidence    []abi.Evidence
		want        string
	}{
		{"example.com/sum.TestSum", "TestSum fails in example.com/sum", evidence, "sum_test.go:7: got 3, want 4"},
		{
			"example.com/sum.TestSum", "TestSum fails in example.com/sum",
			[]abi.Evidence{
				{SourceRef: "log:L12", Content: "frame", RelevanceConfidence: 0.7},
				{SourceRef: "log:L2", Content: "aside", RelevanceConfidence: 0.3},
				{SourceRef: "log:L9", Content: "panic: boom", RelevanceConfidence: 0.6},
				{SourceRef: "other:L1", Content: "else", RelevanceConfidence: 0.9},
			},
			"panic: boom",
		},
		{"example.com/sum.TestSum", "TestSum fails in example.com/sum", evidence[:1], "--- FAIL: TestSum"},
		{"example.com/sum.TestSum", "TestSum fails in example.com/sum", nil, "TestSum fails in example.com/sum"},
		{"example.com/sum.TestSum", "TestSum fails in example.com/sum", []abi.Evidence{{Content: " \n"}}, "TestSum fails in example.com/sum"},
		{"17", "the sum is off by one", evidence, "the sum is off by one"},
		{"17", "", evidence, ""},
	} {
		outcome := trial.Trial{Result: trial.Result{ID: test.id}, Case: abi.Case{Subject: test.subject, Evidence: test.evidence}}
		if got := outcome.About(); got != test.want {
			t.Errorf("%s, %q: %q, want %q", test.id, test.subject, got, test.want)
		}
	}
}

func TestTableKeepsTheEndOfIDs(t *testing.T) {
	t.Parallel()
	outcome := sample.Accepted()
	outcome.Result.ID = strings.Repeat("example.com/deep/", 20) + "pkg.TestSum"
	out := tabled(t, 80, outcome)
	if !strings.Contains(out, "pkg.TestSum  accepted") {
		t.Error(out)
	}
}

func TestTableTellsTheFirstOpenCases(t *testing.T) {
	t.Parallel()
	var trials []*trial.Trial
	for i := range 11 {
		outcome := sample.Rejected()
		outcome.Result.ID = "case-" + strconv.Itoa(i)
		outcome.Result.GapBrief.Summary = "reason " + strconv.Itoa(i)
		trials = append(trials, outcome)
	}
	out := tabled(t, 0, trials...)
	if strings.Count(out, "  next     run the test again\n") != 8 || !strings.Contains(out, "and 3 more cases\n") {
		t.Error(out)
	}
	if (&trial.Result{Final: trial.Final{Classification: "a"}, GapBrief: &trial.GapBrief{}}).Open() != nil {
		t.Error("a case with an answer is open")
	}
}

func TestTableSaysOnceWhatHoldsOfManyOpenCases(t *testing.T) {
	t.Parallel()
	var trials []*trial.Trial
	for i := range 30 {
		outcome := sample.Mistrial()
		outcome.Result.ID = "case-" + strconv.Itoa(i)
		brief := outcome.Result.GapBrief
		brief.Gaps = append(brief.Gaps, trial.Gap{SuggestedAction: "find evidence " + strconv.Itoa(i)})
		trials = append(trials, outcome)
	}
	out := tabled(t, 0, trials...)
	for _, want := range []string{"case-0  mistrial\n  as well  case-1, case-2, case-3 and 26 more cases\n  why  ", "  next     mend the module abyss\n"} {
		if strings.Count(out, want) != 1 {
			t.Errorf("no %q, or twice, in\n%s", want, out)
		}
	}
	if strings.Contains(out, "find evidence") {
		t.Errorf("evidence mends nothing:\n%s", out)
	}
}

func TestTableTellsEqualExperimentsOnce(t *testing.T) {
	t.Parallel()
	var trials []*trial.Trial
	for i := range 30 {
		outcome := sample.Accepted()
		outcome.Result.ID = "case-" + strconv.Itoa(i)
		e := trial.Experiment{Factors: trial.Factors{Product: abi.Head, Tests: abi.Head, Environment: abi.OriginalEnvironment, Order: abi.Alone, Runs: 5}, Outcome: abi.OutcomeSame, Same: 5}
		if i%10 == 1 {
			e = trial.Experiment{Factors: e.Factors, Outcome: abi.OutcomeMixed, Passed: 1 + i/10, Same: 4 - i/10}
		}
		outcome.Result.Experiments = []trial.Experiment{e}
		trials = append(trials, outcome)
	}
	out := tabled(t, 0, trials...)
	for _, want := range []string{
		"case-0\n  as well  case-2, case-3, case-4 and 23 more cases\n  The test fails each time on this tree (5 reruns), so it is not flaky.\n",
		"case-1\n  The test is flaky: on the same tree 1 run passed and 4 failed.\n  TestOpen: permission denied\n    this tree: 4 of 5 runs failed in the same way\n",
		"case-11\n  The test is flaky: on the same tree 2 runs passed and 3", "Found      not settled 27, flaky 3\n",
	} {
		if strings.Count(out, want) != 1 {
			t.Errorf("no %q, or twice, in\n%s", want, out)
		}
	}
}

// The experiments have a part of their own, with what the judge counts for each: the opinion does not list them once more.
func TestExplainListsExperimentsOnce(t *testing.T) {
	t.Parallel()
	rerun := trial.Experiment{Factors: trial.Factors{Product: abi.Head, Tests: abi.Head, Runs: 5}, Persona: "bulwark", Outcome: abi.OutcomeSame, Same: 5}
	green := trial.Experiment{Factors: trial.Factors{Product: abi.Base, Tests: abi.Base, Runs: 2}, Persona: "abyss", Outcome: abi.OutcomePassed, Passed: 2}
	flaky := trial.Experiment{Factors: rerun.Factors, Persona: "bulwark", Outcome: abi.OutcomeMixed, Passed: 4, Same: 1}
	const told = "this tree, 5 times: 5 failed in the same way"
	for _, tc := range []struct {
		opinion, shown, part string
		first                trial.Experiment
	}{
		{
			"It stands. Experiments: " + told + " (3 nats for a against b); the base, 2 times: 2 passed (tells nothing). Two more words.",
			"It stands. Two more words.", told + " (3 nats for a against b, asked for by ", rerun,
		},
		{
			"It stands. Experiments: this tree, 5 times: 4 passed, 1 failed in the same way (3 nats for a against b); the base, 2 times: 2 passed (tells nothing).",
			"It stands.", "this tree: 1 of 5 runs failed in the same way (3 nats for a against b, asked for", flaky,
		},
		{"It stands. Experiments: " + told + " (3 nats for a against b).", "It stands. Experiments: " + told, told + " (asked for by ", rerun},
		{"It stands.", "It stands.", told + " (asked for by ", rerun},
	} {
		outcome := sample.Amended()
		outcome.Passes[len(outcome.Passes)-1].Verdict.Reasoning = tc.opinion
		outcome.Result.Experiments = []trial.Experiment{tc.first, green}
		out := explained(t, outcome, nil, render.TerminalOptions{Width: 110})
		for _, want := range []string{"  " + tc.shown, "• " + tc.part} {
			if !strings.Contains(out, want) {
				t.Errorf("no %q in\n%s", want, out)
			}
		}
	}
}

// Thresholds are such numbers: what is below one must not look as if it were not.
func TestNumberIsNotRoundedUpToAThreshold(t *testing.T) {
	t.Parallel()
	for v, want := range map[float64]string{
		0.4999: "0.49", 0.5: "0.50", 0.5049: "0.50", 0.8499: "0.84", 0.85: "0.85", 0.999: ">.99", 1: "1.00", 0.001: "<.01", 0: "0.00",
		0.79999: "0.79", 0.9999: ">.99", 0.499: "0.49", 0.756: "0.76", 0.05: "0.05", 0.29: "0.29", 0.15: "0.15", 0.95: "0.95", 0.7: "0.70",
	} {
		if got := trial.Number(v); got != want {
			t.Errorf("%v is shown as %s, want %s", v, got, want)
		}
		r := trial.Result{Final: trial.Final{Status: trial.Affirmed, Classification: "x", Confidence: v}}
		if got := r.End(); got != "affirmed x "+want {
			t.Errorf("End() = %s, want %s", got, want)
		}
	}
}

func TestSayingsAreToldOnce(t *testing.T) {
	t.Parallel()
	said := func(node string, score float64) abi.ArtifactEntry {
		return abi.ArtifactEntry{
			At: abi.Position{Node: node}, Persona: "seeker",
			Artifact: abi.Artifact{Investigate: &abi.InvestigateArtifact{ConvergenceScore: score}},
		}
	}
	pass := trial.LightPass{Artifacts: []abi.ArtifactEntry{
		said("investigate", 0.5), said("again", 0.5), said("investigate", 0.5), said("investigate", 0.6), said("investigate", 0.5),
	}}
	var got []string
	for _, s := range render.Statements(&pass) {
		got = append(got, s.Node+" "+s.What)
	}
	want := "investigate finds 0 items, convergence 0.50, 3 times the same|again finds 0 items, convergence 0.50|" +
		"investigate finds 0 items, convergence 0.60"
	if joined := strings.Join(got, "|"); joined != want {
		t.Errorf("%s\nwant %s", joined, want)
	}
}

package render_test

import (
	"bytes"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/alibi"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/render"
	"github.com/shadowcourt/shadowcourt/internal/render/testkit/sample"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// A table that goes to no terminal has 120 columns; ABOUT gives way, but not so far that it can't be read, and ids stay whole.
func TestATableOfNoTerminal(t *testing.T) {
	t.Parallel()
	for idBytes, most := range map[int]int{20: 120, 70: 166} {
		id := strings.Repeat("i", idBytes)
		got := tabled(t, 0, &trial.Trial{
			Case: abi.Case{ID: id, Subject: strings.Repeat("about ", 40)},
			Result: trial.Result{
				ID: id, Light: &trial.Answer{Classification: "label", Confidence: 0.7},
				Final: trial.Final{Status: trial.Affirmed, Classification: "label", Confidence: 0.79999},
			},
		})
		if !strings.Contains(got, id+"  ") || !strings.Contains(got, strings.Repeat("about ", 9)) {
			t.Errorf("what is searched for is cut:\n%s", got)
		}
		for line := range strings.Lines(got) {
			if n := text.StringWidthWithoutEscSequences(strings.TrimSuffix(line, "\n")); n > most {
				t.Errorf("%d columns: %s", n, line)
			}
		}
	}
}

// A table shows labels by their names, by the whole name where two labels of a case have one short name, on a narrow terminal too.
func TestATableNamesLabels(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		names map[string]string
		want  string
	}{
		{map[string]string{"pb001": "product bug, in the code"}, "product bug 0.70"},
		{map[string]string{"pb001": "product bug, minor", "pb002": "product bug, major"}, "product bug, minor 0.70"},
		{map[string]string{"pb001": "product bug", "pb002": "product bug"}, "pb001 0.70"},
		{nil, "pb001 0.70"},
	} {
		got := tabled(t, 0, &trial.Trial{LabelNames: c.names, Result: trial.Result{
			ID: "a", Light: &trial.Answer{Classification: "pb001", Confidence: 0.7},
			Final: trial.Final{Status: trial.Affirmed, Classification: "pb001", Confidence: 0.7},
		}})
		check.Contains(t, got, c.want+"  "+c.want, c.names, c.want, "twice in")
	}
}

// What people read has names of labels and enough of a failure's message at any width.
func TestAccept_FZ5_NarrowTablesNameLabels(t *testing.T) {
	t.Parallel()
	const message = "cart_test.go:10: Not equal: expected 3, actual 2"
	for width, about := range map[int]int{0: len(message), 60: 0, 80: 22, 100: 22} {
		got := tabled(t, width, &trial.Trial{
			Case: abi.Case{Subject: message}, LabelNames: map[string]string{"ab001": "automation bug, the test is wrong"},
			Result: trial.Result{
				ID: strings.Repeat("i", 70), Light: &trial.Answer{Classification: "ab001", Confidence: 0.7},
				Final: trial.Final{Status: trial.Affirmed, Classification: "ab001", Confidence: 0.7},
			},
		})
		table, _, _ := strings.Cut(got, "\n\n")
		if !strings.Contains(table, "automation bug 0.70") || strings.Contains(table, "ab001") || !strings.Contains(table, message[:about]) {
			t.Errorf("width %d:\n%s", width, table)
		}
	}
}

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
		check.Equal(t, outcome.About(), test.want, test.id, test.subject)
	}
}

func TestTableKeepsTheEndOfIDs(t *testing.T) {
	t.Parallel()
	outcome := sample.Accepted()
	outcome.Result.ID = strings.Repeat("example.com/deep/", 20) + "pkg.TestSum"
	out := tabled(t, 80, outcome)
	check.Contains(t, out, "pkg.TestSum  accepted")
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
		check.Equal(t, strings.Count(out, want), 1, "no", want, "or twice, in", out)
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
		check.Equal(t, strings.Count(out, want), 1, "no", want, "or twice, in", out)
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
			check.Contains(t, out, want)
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
		check.Equal(t, trial.Number(v), want, v, "shown as")
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
	check.Equal(t, strings.Join(got, "|"), want)
}

func answered() *trial.Trial {
	at := func(node string, a abi.Artifact) abi.ArtifactEntry {
		return abi.ArtifactEntry{At: abi.Position{Node: node}, Persona: "herald", Artifact: a}
	}
	return &trial.Trial{
		Result:   trial.Result{ID: "a", Light: &trial.Answer{Classification: "red", Confidence: 0.9}, Final: trial.Final{Status: trial.Accepted}},
		Personas: map[string]abi.Persona{"herald": {Name: "Herald"}},
		Light: []trial.LightPass{{
			Path: []string{"recall", "H1:review"},
			Artifacts: []abi.ArtifactEntry{
				at("recall", abi.Artifact{Recall: &abi.RecallResult{Match: true, PriorCase: "old \x1b[31mred", Classification: "red", Confidence: 0.9, Reasoning: "the secret word"}}),
				at("triage", abi.Artifact{Triage: &abi.TriageResult{SymptomCategory: abi.SymptomFlake, Candidates: []string{"x"}}}),
				at("resolve", abi.Artifact{Resolve: &abi.ResolveResult{Selected: []abi.SelectedComponent{{Name: "a"}, {Name: "b"}, {Name: "c"}, {Name: "d"}}}}),
				at("investigate", abi.Artifact{Investigate: &abi.InvestigateArtifact{Classification: "red", ConvergenceScore: 0.8}}),
				at("correlate", abi.Artifact{Correlate: &abi.CorrelateResult{IsDuplicate: true, LinkedCase: "old", Confidence: 0.85}}),
				at("review", abi.Artifact{Review: &abi.ReviewDecision{Decision: abi.Overturn, Confidence: 0.5}}),
				at("report", abi.Artifact{Report: &abi.LightReport{Classification: "blue", Confidence: 0.6}}),
			},
			Gathered: []abi.Evidence{{SourceRef: "log:L3", Content: "it says so", RelevanceConfidence: 0.7, Supports: "red"}},
			Calls:    []trial.Call{{Uses: []trial.Use{{Capability: abi.CapRecall}, {Capability: abi.CapRecall}, {Capability: abi.CapSource}}}},
		}},
	}
}

func TestTheStoryTellsTheLightPath(t *testing.T) {
	t.Parallel()
	redactor := redacting(t, "secret")
	story := explained(t, answered(), redactor, render.TerminalOptions{})
	for _, want := range []string{
		"The Light path\n  recall H1:review\n", ", which was red, at 0.90\n      the [redacted] word\n",
		"Herald takes the symptom for flake, 1 candidate\n", "Herald selects a, b, c and 1 more\n",
		"Herald finds 0 items, convergence 0.80, for red\n", "Herald takes it for a duplicate of old at 0.85\n",
		"Herald decides: overturn at 0.50\n", "Herald reports blue at 0.60\n", "0.70 for red, log:L3\n      it says so\n",
		"asked the host: recall 2 times, source 1 time\n",
	} {
		check.Contains(t, story, want)
	}
	if strings.ContainsRune(story, '\x1b') || strings.Count(story, "The Light path") != 1 {
		t.Errorf("%q", story)
	}
}

func TestCasesAreReadAsTheyWereTried(t *testing.T) {
	t.Parallel()
	whole := docket.Entry{
		Case: abi.Case{
			ID: "a <b>", Group: "g", Subject: "s", Labels: []string{"red", "blue"},
			Light:     &abi.LightAnswer{Classification: "red", Confidence: 0.7, Reasoning: "why"},
			Evidence:  []abi.Evidence{{SourceRef: "log:L1", Content: "c\n\t\"", RelevanceConfidence: 0.25, Supports: "blue", Element: abi.Water}, {SourceRef: "x", Content: "d"}},
			Documents: []abi.Document{{Name: "log", Text: "\x1b[31m\u2028 & <\n"}},
		},
		Truth: &trial.Truth{Classification: "blue", ExpectedVerdict: abi.Amend},
	}
	bare := docket.Entry{Case: abi.Case{ID: "b", Labels: []string{"red", "blue"}, Evidence: []abi.Evidence{}, Documents: []abi.Document{}}}
	var b bytes.Buffer
	write(t, render.NewCases(&b), &trial.Trial{Case: whole.Case, Truth: whole.Truth}, &trial.Trial{Case: bare.Case})
	var got []docket.Entry
	for entry, err := range new(docket.Reader).JSONL("cases", &b) {
		must.Do(t, err)
		entry.Source, entry.Line = "", 0
		got = append(got, entry)
	}
	check.Same(t, cmp.Diff([]docket.Entry{whole, bare}, got))
}

// TestAccept_AL7_EachEndingOfASearch has a sentence that does not say more than was shown, and nothing hostile reaches a terminal.
func TestAccept_AL7_EachEndingOfASearch(t *testing.T) {
	t.Parallel()
	culprit := func(verified bool, beside ...string) *alibi.Culprit {
		c := *sample.Answers()[1].Culprit
		c.Verified, c.Beside, c.Title = verified, beside, "Trim \x1b[31m|input"
		c.Pair = &alibi.Pair{Parent: "1111111111112222", OfParent: alibi.Tally{Passed: 3}, Culprit: alibi.Tally{Failed: 2, Passed: 1}}
		c.Skipped = []alibi.Skipped{{Commit: "aaaaaaaaaaaabbbb", Why: "it does not\x1b build"}, {Commit: "ccccccccccccdddd", Why: "it does not\x1b build"}}
		return &c
	}
	for _, c := range []struct {
		b    alibi.Beginning
		want []string
		sure bool
	}{
		{
			alibi.Beginning{Ending: alibi.Found, Culprit: culprit(true)},
			[]string{"began to fail with 9ab12cd0e1f2", "at 98%; verified: 2 of 3 failed there, none of 3 failed at the parent 111111111111.", "aaaaaaaaaaaa, cccccccccccc (it does not"},
			true,
		},
		{alibi.Beginning{Ending: alibi.Found, Culprit: culprit(true, "3333333333333333")}, []string{"or a commit before it that can't be run, at 98%", "It may as well be 333333333333."}, false},
		{alibi.Beginning{Ending: alibi.Found, Culprit: culprit(false)}, []string{"probably began to fail with", "not confirmed: 2 of 3 failed there"}, false},
		{alibi.Beginning{Ending: alibi.Undecided, Culprit: culprit(true), Why: "the budget is used up"}, []string{"the budget is used up"}, false},
		{alibi.Beginning{Ending: alibi.Undecided, Why: "the budget is used up"}, []string{"No commit is found that TestTotal", "the budget is used up"}, false},
		{alibi.Beginning{Ending: alibi.Passes, After: alibi.Tally{Passed: 100}}, []string{"TestTotal does not fail at your working tree: none of 100 failed."}, false},
		{alibi.Beginning{Ending: alibi.Before, Before: alibi.Tally{Failed: 5}, After: alibi.Tally{Failed: 4, Passed: 1}}, []string{"fails at v1", "5 of 5 failed there, 4 of 5 failed here"}, false},
		{alibi.Beginning{Ending: alibi.NotRun, Why: "it does not build: x\x1b"}, []string{"can't be run at your working tree: it does not build: x"}, false},
	} {
		c.b.Test, c.b.Since, c.b.Message = "TestTotal", "0123456789abcdef", "\x1b]0;pwned\a"
		check.Equal(t, c.b.Confirmed(), c.sure, c.b, "confirmed")
		for _, format := range []string{"table", "md", "jsonl"} {
			var out bytes.Buffer
			must.Do(t, render.WriteBeginning(&out, format, &c.b, "v1", "", render.TerminalOptions{}))
			if strings.ContainsAny(out.String(), "\x1b\a") {
				t.Errorf("%s: %q", format, out.String())
			}
			if one := strings.Join(strings.Fields(out.String()), " "); format == "table" {
				for _, want := range c.want {
					if !strings.Contains(one, want) {
						t.Errorf("want %q:\n%s", want, out.String())
					}
				}
			}
			if format == "md" && out.Len() > render.MarkdownAnswerBytes {
				t.Errorf("%d bytes", out.Len())
			}
		}
	}
}

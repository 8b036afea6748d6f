package roles

import (
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/abitest"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

func discovery(t *testing.T, text string, labels []string, p *abi.Profile) *abi.Discovery {
	t.Helper()
	v := discover(&abi.NodeRequest{Case: abi.CaseView{Labels: labels, Documents: []abi.Document{{Name: "log", Text: text}}}, Profile: p})
	var c abi.Collector
	abi.CheckDiscovery(v, labels, nil, func(document, quote string) (bool, bool) {
		return document == "log", strings.Contains(text, quote)
	}, &c)
	must.Do(t, c.Err())
	return v
}

func TestReadNames(t *testing.T) {
	t.Parallel()
	builds := []string{"compilation_failure", "test_failure", "dependency_resolution_failure"}
	for _, tc := range []struct {
		name, text string
		labels     []string
		supports   []string
		quote      string
	}{
		{"a label's name beside a word of trouble", "ok\n  [ERROR] Compilation failed: see below \nbye", builds, []string{"compilation_failure"}, "[ERROR] Compilation failed: see below"},
		{"another form of the words", "Could not resolve dependencies for project x", builds, []string{"dependency_resolution_failure"}, ""},
		{"without trouble", "compilation of 7 files\nall tests passed", builds, nil, ""},
		{"trouble that is denied", "Tests run: 7, Failures: 0, Errors: 0\ntests: no errors", builds, nil, ""},
		{"trouble that isn't", "Tests run: 7, Failures: 1, Errors: 0", builds, []string{"test_failure"}, ""},
		{"the plainest line is quoted", "error: something about the compilation of many files went wrong\nCompilation error", builds, []string{"compilation_failure"}, "Compilation error"},
		{"a word that all labels share tells nothing", "failure", builds, nil, ""},
		{"codes tell nothing", "pb001 failed, ab001 failed", []string{"pb001", "ab001"}, nil, ""},
		{"only the beginning of a long word need agree, all of a short one", "testimony of an error", builds, nil, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			v := discovery(t, tc.text, tc.labels, nil)
			must.Len(t, v.Findings, len(tc.supports), "findings")
			for i, f := range v.Findings {
				if f.Supports != tc.supports[i] || (tc.quote != "" && f.Quote != tc.quote) {
					t.Errorf("finding %+v", f)
				}
			}
			if len(v.Findings) < len(tc.labels) && len(v.Missing) == 0 {
				t.Error("nothing is named as missing")
			}
		})
	}
}

func TestReadSignals(t *testing.T) {
	t.Parallel()
	labels := []string{"pb001", "si001"}
	p := &abi.Profile{Signals: []abi.Signal{
		{Phrase: "connection refused", Weights: []abi.LabelWeight{{Label: "si001", Weight: 2}}},
		{Phrase: "nil pointer", Weights: []abi.LabelWeight{{Label: "pb001", Weight: 1}}},
		{Phrase: "timed out", Weights: []abi.LabelWeight{{Label: "pb001", Weight: 1}, {Label: "si001", Weight: 1}}},
	}}
	v := discovery(t, "a\ndial tcp: Connection Refused by host\nconnection refused\ntimed out\n", labels, p)
	must.Len(t, v.Findings, 1, "findings")
	f := v.Findings[0]
	if f.Supports != "si001" || f.Quote != "dial tcp: Connection Refused by host" || f.Strength < 0.87 || f.Strength > 0.89 || !strings.Contains(f.Observation, "2 times") {
		t.Errorf("finding %+v", f)
	}
	if len(v.Missing) != 1 || !strings.Contains(v.Missing[0], "pb001") {
		t.Errorf("missing %q", v.Missing)
	}
}

// A line in which several signals stand is one finding, with what they tell together.
func TestALineOfSeveralSignalsIsOneFinding(t *testing.T) {
	t.Parallel()
	weights := func(b float64) []abi.LabelWeight { return []abi.LabelWeight{{Label: "b", Weight: b}} }
	p := &abi.Profile{Signals: []abi.Signal{{Phrase: "refused", Weights: weights(1)}, {Phrase: "dial tcp", Weights: weights(0.5)}, {Phrase: "elsewhere", Weights: weights(-1)}}}
	v := discovery(t, "dial tcp: refused\nelsewhere, refused\n", []string{"a", "b"}, p)
	must.Len(t, v.Findings, 2, "findings")
	if f := v.Findings[0]; f.Supports != "b" || f.Observation != `the signals "refused" (2 times, for b), "dial tcp" (once, for b) stand in one line` || f.Strength < 0.81 || f.Strength > 0.82 {
		t.Errorf("finding %+v", f)
	}
}

// That a profile knows no phrases does not make the labels' own names say less.
func TestAProfileWithoutSignalsLeavesTheNames(t *testing.T) {
	t.Parallel()
	v := discovery(t, "error: network timeout\n", []string{"disk_full", "network_timeout"}, &abi.Profile{})
	if len(v.Findings) != 1 || v.Findings[0].Supports != "network_timeout" {
		t.Errorf("findings %+v", v.Findings)
	}
}

func TestDiscoveryIsBounded(t *testing.T) {
	t.Parallel()
	var p abi.Profile
	var text strings.Builder
	for i := range 500 {
		phrase := "phrase-" + strings.Repeat("x", i%50) + string(rune('a'+i%26)) + strings.Repeat("y", i/50) + "."
		p.Signals = append(p.Signals, abi.Signal{Phrase: phrase, Weights: []abi.LabelWeight{{Label: "b", Weight: 0.01 * float64(i)}}})
		text.WriteString(phrase + strings.Repeat(" padding", 100) + "\n")
	}
	v := discovery(t, text.String(), []string{"a", "b"}, &p)
	if len(v.Findings) != maxFindings || v.Findings[0].Strength < 0.98 {
		t.Errorf("%d findings, the first %+v", len(v.Findings), v.Findings[0])
	}
	for _, f := range v.Findings {
		if len(f.Quote) > 300 {
			t.Errorf("a quote of %d bytes", len(f.Quote))
		}
	}
}

func TestWithoutDocumentsThatIsWhatIsMissing(t *testing.T) {
	t.Parallel()
	v := discover(&abi.NodeRequest{Case: abi.CaseView{Labels: []string{"a", "b"}}})
	if len(v.Findings) != 0 || len(v.Missing) != 1 {
		t.Errorf("discovery %+v", v)
	}
}

func TestNoteChallengesWhatNobodyRaised(t *testing.T) {
	t.Parallel()
	r := &abi.NodeRequest{
		Case: abi.CaseView{Labels: []string{"a", "b"}},
		Indictment: &abi.Indictment{ChargedDefectType: "a", Evidence: []abi.IndictmentItem{
			{SourceRef: "log:1", Content: "made up", Supports: "a"},
			{SourceRef: "log:2", Content: "made up too", Supports: "b"},
			{SourceRef: "log:3", Content: "there", Supports: "b"},
			{SourceRef: "x", Content: "chance", Supports: "a"},
		}},
		Exhibits: []abi.Exhibit{
			{EvidenceIndex: 0, Quote: abi.QuoteAbsent},
			{EvidenceIndex: 1, Quote: abi.QuoteAbsent},
			{EvidenceIndex: 2, Quote: abi.QuoteStands},
			{EvidenceIndex: 3, Quote: abi.QuoteUnclaimed},
		},
		DefenseBrief: &abi.DefenseBrief{Challenges: []abi.Challenge{{EvidenceIndex: 0, Challenge: "made up", Severity: abi.Fatal, By: "abyss"}}},
		Turn:         &abi.TurnRequest{Round: 1, MaxRounds: 3, Speaker: abi.Bench},
	}
	turn := note(r)
	if len(turn.NewChallenges) != 1 || turn.NewChallenges[0].EvidenceIndex != 1 || turn.NewChallenges[0].Severity != abi.Fatal {
		t.Errorf("challenges %+v", turn.NewChallenges)
	}
	for _, want := range []string{"Of 4 items: 1 in the documents ([2] log:3)", "2 quoting what stands nowhere", "1 without a quote", "2 fatal", "1 challenge"} {
		check.Contains(t, turn.Argument, want, "the notes don't say")
	}
}

func TestContestVague(t *testing.T) {
	t.Parallel()
	contested := func(index int, content string, quote abi.QuoteStatus) abi.ContestItem {
		return abi.ContestItem{
			EvidenceIndex: index, Item: abi.IndictmentItem{SourceRef: "x", Content: content, Supports: "a"},
			Exhibit: abi.Exhibit{EvidenceIndex: index, Quote: quote, RelevanceConfidence: 0.8},
		}
	}
	challenges, failure := ContestBench(&abi.ContestRequest{ChargedDefectType: "a", Labels: []string{"a", "b"}, Items: []abi.ContestItem{
		contested(1, "it broke", abi.QuoteUnclaimed), contested(2, "exit 7", abi.QuoteStands), contested(5, "the disk of the host was full", abi.QuoteUnclaimed),
	}})
	if failure != nil || len(challenges) != 1 || challenges[0].EvidenceIndex != 1 || challenges[0].Severity != abi.Weakening {
		t.Errorf("challenges %+v, failure %v", challenges, failure)
	}
}

// Discovery asks for the first experiment only, and Light, should it stand in the request, has no part in the choice. In the hearing nobody asks.
func TestWhoAsksForWhichExperiment(t *testing.T) {
	t.Parallel()
	refutes := abi.Experiment{Product: abi.Head, Tests: abi.Head, Environment: abi.StarvedEnvironment, Order: abi.Alone, Runs: 1}
	confirms := abi.Experiment{Product: abi.Head, Tests: abi.Head, Environment: abi.OriginalEnvironment, Order: abi.OriginalOrder, Runs: 1}
	sure := func(r *abi.NodeRequest) {
		r.Case.Light.Confidence = 1
		r.Case.Evidence = []abi.Evidence{{SourceRef: "x", Content: "it was a, nothing else", Supports: "a", RelevanceConfidence: 1}}
	}
	begun := func(r *abi.NodeRequest) {
		r.Params = nil
		r.Case.Experiments = []abi.ExperimentResult{{Experiment: abi.Experiment{Runs: 7}, Outcome: abi.OutcomePassed, Passed: 1}}
	}
	for _, tc := range []struct {
		name   string
		choose func(*abi.NodeRequest) *abi.Experiment
		family abi.Family
		change func(*abi.NodeRequest)
		want   *abi.Experiment
	}{
		{"discovery", ChooseAtDiscovery, abi.FamilyDiscover, nil, &refutes},
		{"discovery with a conclusion of Light", ChooseAtDiscovery, abi.FamilyDiscover, sure, &refutes},
		{"discovery with a result", ChooseAtDiscovery, abi.FamilyDiscover, begun, nil},
		{"the bench in the hearing", ChooseAtDiscovery, abi.FamilyHearing, nil, nil},
	} {
		r := &abi.NodeRequest{
			Family:     tc.family,
			Case:       abi.CaseView{Labels: []string{"a", "b"}, Light: &abi.LightAnswer{Classification: "a", Confidence: 0.6}},
			Indictment: &abi.Indictment{ChargedDefectType: "a"},
			Profile:    &abi.Profile{Outcomes: abitest.Outcomes([]string{"a", "b"}, abitest.Passing{Of: refutes, Given: []float64{0.01, 0.5}}, abitest.Passing{Of: confirms, Given: []float64{0.5, 0.01}})},
			Offers:     []abi.ExperimentOffer{{Experiment: refutes, Seconds: 2}, {Experiment: confirms, Seconds: 2}},
			Turn:       &abi.TurnRequest{Round: 1, MaxRounds: 3},
			Params:     []abi.Param{{Name: "max_experiments", Number: new(9.0)}},
		}
		if tc.change != nil {
			tc.change(r)
		}
		if got := tc.choose(r); (got == nil) != (tc.want == nil) || got != nil && *got != *tc.want {
			t.Errorf("%s asks for %v, want %v", tc.name, got, tc.want)
		}
	}
}

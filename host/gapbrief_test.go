package host_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/module"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// open to doubt is a case in which nothing speaks for any label.
func openCase(confidence float64, evidence ...abi.Evidence) abi.Case {
	return abi.Case{
		ID: "open", Subject: "TestGolden fails", Labels: []string{"pb001", "ab001", "si001", "nd001"},
		Light:     &abi.LightAnswer{Classification: "ab001", Confidence: confidence, Reasoning: "A file is missing."},
		Evidence:  append([]abi.Evidence{}, evidence...),
		Documents: []abi.Document{{Name: "log", Text: "open golden.json: no such file or directory\n"}},
	}
}

func gapOf(b *trial.GapBrief, source string) *trial.Gap {
	i := slices.IndexFunc(b.Gaps, func(g trial.Gap) bool { return g.Source == source })
	if i < 0 {
		return &trial.Gap{}
	}
	return &b.Gaps[i]
}

// A rejected case says why, and what would help.
func TestAccept_CT7_ARejectedCaseSaysWhyAndWhatWouldHelp(t *testing.T) {
	t.Parallel()
	outcome := try(t, open(t, host.Config{}), openCase(0.4))
	must.Equal(t, outcome.Result.Final.Status, trial.Rejected, outcome.Result.Final)
	wantGaps(t, outcome)
	b := outcome.Result.GapBrief
	for _, want := range []string{"ab001 (automation bug", "0.4", "0.5", "A file is missing."} {
		check.Contains(t, b.Summary, want, "the summary")
	}
	if g := gapOf(b, "ab001"); g.Severity != abi.GapHigh {
		t.Errorf("nothing would show Light's own label: %+v", b.Gaps)
	}
}

// What would settle a case comes from the pipeline's words for its labels and elements.
func TestAccept_HD9_TheBriefNamesTheEvidenceThatWouldSettleTheCase(t *testing.T) {
	t.Parallel()
	outcome := try(t, open(t, host.Config{}), openCase(0.6))
	must.Equal(t, outcome.Result.Final.Status, trial.Acquitted, outcome.Result.Final)
	b := outcome.Result.GapBrief
	for _, label := range outcome.Case.Labels {
		if gapOf(b, label).SuggestedAction == "" {
			t.Errorf("nothing would show %s: %+v", label, b.Gaps)
		}
	}
	if !strings.Contains(gapOf(b, "nd001").SuggestedAction, "again on the same commit") {
		t.Errorf("no rerun is asked for: %+v", gapOf(b, "nd001"))
	}
	check.Contains(t, gapOf(b, "air").SuggestedAction, "last green run", "no earlier run is asked for", b.Gaps)
	if strings.Contains(b.Summary+gapText(b), "signals") {
		t.Errorf("the brief speaks of the bench's signals: %+v", b)
	}
}

// Only the labels that something speaks for are to be told apart, and kinds of evidence that speak are not asked for.
func TestTheBriefAsksForWhatTheCaseLacks(t *testing.T) {
	t.Parallel()
	outcome := try(t, open(t, host.Config{}), openCase(0.4,
		abi.Evidence{SourceRef: "log:L1", Content: "a", RelevanceConfidence: 0.5, Supports: "si001", Element: abi.Air}))
	b := outcome.Result.GapBrief
	for source, wanted := range map[string]bool{"ab001": true, "si001": true, "pb001": false, "nd001": false, "air": false, "water": true} {
		check.Equal(t, gapOf(b, source).Description != "", wanted, source, "in the brief")
	}
}

// What was given is not asked for, even if it speaks for no label: documents of earlier runs, the source with its changes, and a
// test that was run again.
func TestTheBriefDoesNotAskForWhatWasGiven(t *testing.T) {
	t.Parallel()
	green := openCase(0.4)
	green.Documents = append(green.Documents, abi.Document{Name: "last green run", Text: "ok\n"})
	unset := openCase(0.4, abi.Evidence{SourceRef: "diff", Content: "a", RelevanceConfidence: 0.5, Supports: "pb001"})
	p := must.Get(module.LoadProfile(filepath.Join("..", "pipelines", "profiles", "go-test.yaml")))(t)
	p.BaseRates, p.Sources, p.Signals, p.Light = nil, nil, nil, nil
	passes := func(abi.Experiment) abi.ExperimentOutcome { return abi.OutcomeOther }
	run := openCase(0.6)
	for _, tc := range []struct {
		name       string
		config     host.Config
		c          abi.Case
		earth, air bool
	}{
		{"nothing", host.Config{}, openCase(0.4), true, true},
		{"the log of a green run", host.Config{}, green, true, false},
		{"an item without an element", host.Config{}, unset, false, true},
		{
			"experiments before the judge broke",
			host.Config{Pipeline: behave(t, "specter", "verdict", "trap"), Profile: p, Experiments: laboratory{world: passes}},
			run,
			false, false,
		},
	} {
		result := try(t, open(t, tc.config), tc.c).Result
		if result.GapBrief == nil {
			t.Errorf("%s: %+v", tc.name, result.Final)
			continue
		}
		for source, want := range map[string]bool{"earth": tc.earth, "air": tc.air} {
			if got := gapOf(result.GapBrief, source).Description != ""; got != want {
				t.Errorf("%s: the brief asks for %s: %v, want %v\n%s", tc.name, source, got, want, gapText(result.GapBrief))
			}
		}
	}
}

// A pipeline without words still gives a brief.
func TestAPipelineWithoutWordsGivesABriefToo(t *testing.T) {
	t.Parallel()
	def := shipped(t)
	def.Labels, def.Kinds = nil, nil
	for _, confidence := range []float64{0.4, 0.6} {
		outcome := try(t, open(t, host.Config{Pipeline: def}), openCase(confidence))
		wantGaps(t, outcome)
		check.Contains(t, gapText(outcome.Result.GapBrief), "ab001", "the brief does not name the charge", outcome.Result.GapBrief)
	}
}

func gapText(b *trial.GapBrief) string {
	var text strings.Builder
	for _, g := range b.Gaps {
		text.WriteString(g.Description + ". " + g.SuggestedAction + ".\n")
	}
	return text.String()
}

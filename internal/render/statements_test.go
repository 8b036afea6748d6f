package render_test

import (
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/render"
)

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
		if !strings.Contains(story, want) {
			t.Errorf("no %q in\n%s", want, story)
		}
	}
	if strings.ContainsRune(story, '\x1b') || strings.Count(story, "The Light path") != 1 {
		t.Errorf("%q", story)
	}
}

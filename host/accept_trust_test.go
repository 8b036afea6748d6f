package host_test

import (
	"slices"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host"
)

// disk is a case that Light isn't sure of.
func disk(items ...abi.Evidence) abi.Case {
	return abi.Case{
		ID: "disk", Subject: "a disk that fills up", Labels: []string{"leak", "load", "quota"}, Documents: []abi.Document{},
		Light: &abi.LightAnswer{Classification: "leak", Confidence: 0.6, Reasoning: "so it seems"}, Evidence: items,
	}
}

func says(source, content, label string, confidence float64) abi.Evidence {
	return abi.Evidence{SourceRef: source, Content: content, Supports: label, RelevanceConfidence: confidence}
}

// The result names the sources that a profile doesn't know, where it measured others; they don't change the answer.
func TestAccept_QU1_TheResultNamesUnknownSources(t *testing.T) {
	t.Parallel()
	stated := &abi.LogitMap{Slope: 1}
	p := &abi.Profile{
		Name: "measured", SignalCap: 1, Sources: []abi.SourceReliability{{Source: "operator", Share: 1, Stated: stated, Cap: 3}},
		Light: &abi.SourceReliability{Source: "light", Share: 1, Stated: stated, Cap: 1},
	}
	h := open(t, host.Config{Profile: p})
	alone := try(t, h, disk(says("operator:1", "the quota is used up", "quota", 0.9))).Result
	lied := try(t, h, disk(
		says("operator:1", "the quota is used up", "quota", 0.9), says("stranger:1", "it leaks", "leak", 0.99), says("a:1", "a leak", "leak", 0.99),
		says("b:1", "it is leaking", "leak", 0.99), says("note:1", "a disk", "", 0.9))).Result
	if alone.Final.Classification != "quota" || lied.Final.Classification != "quota" {
		t.Errorf("quota is %v alone, %v beside strangers", alone.Final, lied.Final)
	}
	if want := []string{"a", "b", "stranger"}; alone.UnmeasuredSources != nil || !slices.Equal(lied.UnmeasuredSources, want) {
		t.Errorf("unknown are %q alone and %q, want %q", alone.UnmeasuredSources, lied.UnmeasuredSources, want)
	}
	if unfitted := try(t, open(t, host.Config{}), disk(says("stranger:1", "it leaks", "leak", 0.99))).Result; unfitted.UnmeasuredSources != nil {
		t.Errorf("without a profile nobody was measured, yet %q are named", unfitted.UnmeasuredSources)
	}
}

// Strangers count little also where nobody speaks whom the profile measured, Light included.
func TestAccept_QU1_UnknownSourcesCountLittleAmongThemselves(t *testing.T) {
	t.Parallel()
	p := &abi.Profile{
		Name: "measured", SignalCap: 1, Sources: []abi.SourceReliability{{Source: "operator", Share: 1, Stated: &abi.LogitMap{Slope: 1}, Cap: 3}},
	}
	strangers := disk(says("a:1", "a leak", "quota", 0.99), says("b:1", "it is leaking", "quota", 0.99))
	fitted, unfitted := try(t, open(t, host.Config{Profile: p}), strangers).Result, try(t, open(t, host.Config{}), strangers).Result
	if unfitted.Final.Classification != "quota" {
		t.Errorf("without a profile they are not believed: %v", unfitted.Final)
	}
	if fitted.Final.Classification == "quota" && fitted.Final.Confidence > 0.6 {
		t.Errorf("the profile doesn't know them, and they are believed: %v", fitted.Final)
	}
}

// The same item for two labels decides nothing, whichever comes first, and the result tells it.
func TestAccept_QU8_TheSameItemForTwoLabelsIsTold(t *testing.T) {
	t.Parallel()
	h := open(t, host.Config{})
	leak, quota := says("log:L2", "the volume grew", "leak", 0.9), says("log:L2", "the volume grew", "quota", 0.9)
	first, second := try(t, h, disk(leak, quota)).Result, try(t, h, disk(quota, leak)).Result
	if first.Final.Classification != second.Final.Classification || first.Final.Confidence != second.Final.Confidence {
		t.Errorf("the order of the items decides: %v and %v", first.Final, second.Final)
	}
	if first.Final.Classification == "quota" {
		t.Errorf("a contradicted item decides: %v", first.Final)
	}
	if want := []string{"log:L2"}; !slices.Equal(first.ContradictoryEvidence, want) {
		t.Errorf("told are %q, want %q", first.ContradictoryEvidence, want)
	}
	if plain := try(t, h, disk(quota, says("log:L3", "the volume grew", "leak", 0.9))).Result; plain.ContradictoryEvidence != nil {
		t.Errorf("two sources may differ: %q", plain.ContradictoryEvidence)
	}
}

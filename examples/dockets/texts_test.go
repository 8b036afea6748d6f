package dockets_test

import (
	"slices"
	"testing"

	"github.com/shadowcourt/shadowcourt/host/docket"
)

// TestHalvesOfTextsAreApart checks the dockets of other domains: each case is valid and has a true label, ids are unique, no
// group and no text is in both halves, and there are enough cases of each label and in the band.
func TestHalvesOfTextsAreApart(t *testing.T) {
	t.Parallel()
	for _, d := range []struct {
		halves                [2]string
		cases, groups, labels int
		least                 int // cases of each label in each half
	}{
		{[2]string{"sentiment-fit", "sentiment-test"}, 330, 441, 3, 80},
		{[2]string{"banking-1", "banking-2"}, 400, 0, 8, 50},
		{[2]string{"domains-1", "domains-2"}, 390, 60, 6, 65},
	} {
		t.Run(d.halves[0], func(t *testing.T) {
			t.Parallel()
			ids, groups, texts := map[string]bool{}, map[string]string{}, map[string]string{}
			for _, half := range d.halves {
				all := entries(t, half+".jsonl")
				labels, band := map[string]int{}, 0
				for _, e := range all {
					checkText(t, e, all[0].Case.Labels)
					labels[e.Truth.Classification]++
					if inBand(e) {
						band++
					}
					if ids[e.Case.ID] {
						t.Errorf("two cases have the id %s", e.Case.ID)
					}
					ids[e.Case.ID] = true
					if other := groups[e.Case.Group]; e.Case.Group != "" && other != "" && other != half {
						t.Errorf("the group %s is in both halves", e.Case.Group)
					}
					if e.Case.Group != "" {
						groups[e.Case.Group] = half
					}
					text := e.Case.Documents[0].Text
					if other := texts[text]; other != "" && other != half {
						t.Errorf("a text is in both halves: %s", text)
					}
					texts[text] = half
				}
				if len(all) != d.cases || len(labels) != d.labels || 10*band < 9*len(all) {
					t.Errorf("%s has %d cases, %d labels, %d cases in the band; want %d, %d and nine of ten", half, len(all), len(labels), band, d.cases, d.labels)
				}
				for label, n := range labels {
					if n < d.least {
						t.Errorf("%s has %d cases of %s, want at least %d", half, n, label, d.least)
					}
				}
			}
			if len(groups) != d.groups {
				t.Errorf("%d groups, want %d", len(groups), d.groups)
			}
		})
	}
}

// checkText checks that a case has a text, the docket's labels, and its own labels alone.
func checkText(t *testing.T, e docket.Entry, labels []string) {
	t.Helper()
	if len(e.Case.Documents) != 1 || e.Case.Documents[0].Text == "" {
		t.Fatalf("case %s has no text", e.Case.ID)
	}
	if !slices.Equal(e.Case.Labels, labels) {
		t.Errorf("case %s has the labels %q, the first case %q", e.Case.ID, e.Case.Labels, labels)
	}
	if e.Truth == nil || !slices.Contains(labels, e.Truth.Classification) {
		t.Fatalf("case %s has no true label of its labels", e.Case.ID)
	}
}

package fit_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/odds"
	"github.com/shadowcourt/shadowcourt/host/calibrate/fit"
	"github.com/shadowcourt/shadowcourt/host/calibrate/fit/internal/simulate"
	"github.com/shadowcourt/shadowcourt/host/docket"
)

// crowd is a world of witnesses whose reliability is known.
func crowd(labels int) simulate.World {
	return simulate.World{
		Labels: simulate.Names(labels), Light: simulate.Witness{Accuracy: 0.62, States: 0.7},
		Witnesses: []simulate.Witness{
			{Name: "good", Accuracy: 0.85, States: 0.6},
			{Name: "fair", Accuracy: 0.7, States: 0.99},
			{Name: "weak", Accuracy: 0.5, States: 0.9, Speaks: 0.7},
			{Name: "constant", Accuracy: 0.5, Says: "alpha", States: 0.9},
			{Name: "chance", Accuracy: 1 / float64(labels), States: 0.8},
		},
	}
}

// blind takes the truth away.
func blind(entries []docket.Entry) []docket.Entry {
	for i := range entries {
		entries[i].Truth = nil
	}
	return entries
}

// TestAccept_FT2_RecoversTheReliabilitiesOfSimulatedSources: every entry of the
// diagonal within 0.08, and the accuracy of the source within 0.05.
func TestAccept_FT2_RecoversTheReliabilitiesOfSimulatedSources(t *testing.T) {
	t.Parallel()
	w := crowd(3)
	entries := blind(w.Draw(rand.New(rand.NewPCG(4, 4)), 900))
	p, report := written(t, fit.Unlabelled, entries)
	for source, want := range map[string]float64{"light": 0.62, "good": 0.85, "fair": 0.7, "weak": 0.5, "chance": 1.0 / 3} {
		known := odds.Source(p, source)
		if source == "light" {
			known = p.Light
		}
		mean := 0.0
		for _, statement := range known.Statements {
			got := given(&statement, statement.Says)
			mean += got / 3
			if math.Abs(got-want) > 0.08 {
				t.Errorf("P(%s says %s | it is so) = %.3f, want %.3f", source, statement.Says, got, want)
			}
		}
		if math.Abs(mean-want) > 0.05 {
			t.Errorf("%s is right with probability %.3f, want %.3f", source, mean, want)
		}
	}
	for _, statement := range odds.Source(p, "constant").Statements {
		if v := statement.Given; math.Abs(v[0].Weight-v[1].Weight) > 0.01 || math.Abs(v[1].Weight-v[2].Weight) > 0.01 {
			t.Errorf("the constant witness tells labels apart: %+v", v)
		}
	}
	if !report.Unlabelled || len(p.Signals) > 0 {
		t.Errorf("report %+v, %d signals", report, len(p.Signals))
	}
}

func given(s *abi.SourceStatement, label string) float64 {
	for _, g := range s.Given {
		if g.Label == label {
			return g.Weight
		}
	}
	return math.NaN()
}

func TestAccept_FT2_WithoutTruthBetterThanTheVote(t *testing.T) {
	t.Parallel()
	w := crowd(4)
	entries := w.Draw(rand.New(rand.NewPCG(5, 5)), 600)
	truths := make([]docket.Entry, len(entries))
	copy(truths, entries)
	p, _ := written(t, fit.Unlabelled, blind(entries))
	m := fit.NewModel(p)
	right, voted := 0, 0
	for i := range truths {
		c := &truths[i].Case
		if top(m, c) == truths[i].Truth.Classification {
			right++
		}
		if plurality(c) == truths[i].Truth.Classification {
			voted++
		}
	}
	if rate(right, len(truths)) < rate(voted, len(truths))+0.1 {
		t.Errorf("right in %d of %d, the vote in %d", right, len(truths), voted)
	}
}

// plurality is the label that most voices name; Light decides ties.
func plurality(c *abi.Case) string {
	votes := map[string]int{}
	for i := range c.Evidence {
		votes[c.Evidence[i].Supports]++
	}
	best := c.Light.Classification
	votes[best]++
	for _, label := range c.Labels {
		if votes[label] > votes[best] {
			best = label
		}
	}
	return best
}

func TestAccept_FT2_TooFewSourcesAreRejectedWithTheReason(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		keep   map[string]bool // of the witnesses; Light is always there
		cases  int
		want   error
		reason string
	}{
		"one witness beside Light":      {map[string]bool{"good": true}, 100, fit.ErrTooFewSources, "at most 2 "},
		"a constant one is none":        {map[string]bool{"good": true, "constant": true}, 100, fit.ErrTooFewSources, "at most 2 "},
		"Light alone":                   {nil, 100, fit.ErrTooFewSources, "at most 1 "},
		"they overlap in too few cases": {map[string]bool{"good": true, "weak": true}, 24, fit.ErrTooFewSources, "cases have 3 sources"},
		"too few cases":                 {map[string]bool{"good": true, "fair": true}, 19, fit.ErrTooFew, "19"},
		"three":                         {map[string]bool{"good": true, "fair": true}, 100, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := crowd(3)
			entries := w.Draw(rand.New(rand.NewPCG(6, 6)), tc.cases)
			for i := range entries {
				var kept []abi.Evidence
				for _, item := range entries[i].Case.Evidence {
					if tc.keep[odds.SourceKey(item.SourceRef)] {
						kept = append(kept, item)
					}
				}
				entries[i].Case.Evidence = kept
			}
			_, err := fit.Unlabelled(t.Context(), entries, fit.Config{})
			if !errors.Is(err, tc.want) || err != nil && !strings.Contains(err.Error(), tc.reason) {
				t.Errorf("error %v, want %v because of %q", err, tc.want, tc.reason)
			}
		})
	}
}

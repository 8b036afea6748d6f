package measure

import (
	"slices"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
)

// What a Light path says adds up the profile's own figures and must not count a second time: the profile is the one of the same cases
// without Light's word, and says that Light counts nothing.
func TestALightPathCountsNothing(t *testing.T) {
	t.Parallel()
	entries := shape("correlated witnesses").Docket(3, 300)
	without := slices.Clone(entries)
	for i := range entries {
		entries[i].Case.Light = &abi.LightAnswer{Classification: entries[i].Truth.Classification, Confidence: 0.9}
		without[i].Case.Light = nil
	}
	path, err := Fit(t.Context(), entries, FitConfig{LightPath: true})
	if err != nil {
		t.Fatal(err)
	}
	plain, err := Fit(t.Context(), without, FitConfig{TrustText: true})
	if err != nil {
		t.Fatal(err)
	}
	if l := path.Profile.Light; l == nil || len(l.Statements) != 0 || l.Stated != nil {
		t.Errorf("Light counts: %+v", l)
	}
	if entries[0].Case.Light == nil {
		t.Error("the entries were changed")
	}
	for i := range entries[:20] {
		if got, want := NewModel(path.Profile).Posterior(&entries[i].Case), NewModel(plain.Profile).Posterior(&without[i].Case); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", entries[i].Case.ID, got, want)
		}
	}
	if path.Report.TextTurns != nil || len(path.Report.Figures) != 2 {
		t.Errorf("report %+v", path.Report)
	}
}

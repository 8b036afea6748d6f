package fit_test

import (
	"fmt"
	"testing"

	"github.com/shadowcourt/shadowcourt/internal/calibrate"
	"github.com/shadowcourt/shadowcourt/internal/calibrate/fit"
	"github.com/shadowcourt/shadowcourt/internal/calibrate/fit/testkit/simulate"
)

// A row that fit and calibrate both have is right in the same cases: with twenty labels, statements below one half and sources that
// name several labels, too.
func TestVotesAreThoseOfCalibrate(t *testing.T) {
	t.Parallel()
	labels := make([]string, 20)
	for i := range labels {
		labels[i] = fmt.Sprintf("cause %02d", i)
	}
	world := simulate.Shape{Name: "twenty labels", World: simulate.World{Labels: labels, Light: simulate.Witness{Accuracy: 0.3, Spread: 0.3}, Witnesses: []simulate.Witness{
		{Name: "x", Accuracy: 0.3, Spread: 0.3}, {Name: "y", Accuracy: 0.4, Spread: 0.3}, {Name: "z", Accuracy: 0.2, Spread: 0.3},
	}}}
	entries := world.Docket(7, 150)
	for i := range entries {
		c := &entries[i].Case
		if i%3 == 0 { // a second and third statement of x
			for k := range 2 {
				again := c.Evidence[0]
				again.Content, again.Supports = again.Content+" again", c.Labels[(i+k)%len(c.Labels)]
				c.Evidence = append(c.Evidence, again)
			}
		}
	}
	result, err := fit.Fit(t.Context(), entries, fit.Config{Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, m := range calibrate.Methods() {
		rule, right := m.Rule(nil), 0
		for i := range entries {
			c := calibrate.NewBaselineCase(&entries[i].Case, entries[i].Truth.Classification)
			if rule(&c) == c.Truth {
				right++
			}
		}
		for _, f := range result.Report.Figures {
			if f.Name == m.Name {
				compared++
				if want := rate(right, len(entries)); f.Accuracy != want || want == 0 {
					t.Errorf("%s: %.3f in fit, %.3f in calibrate", f.Name, f.Accuracy, want)
				}
			}
		}
	}
	if compared != 3 {
		t.Errorf("%d rows of one name, want 3", compared)
	}
}

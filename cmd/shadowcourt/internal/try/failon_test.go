package try

import (
	"slices"
	"testing"

	"github.com/shadowcourt/shadowcourt/cmd/shadowcourt/internal/open"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

func TestFailOnTakesLabelsByThemselves(t *testing.T) {
	t.Parallel()
	known := (&tryOptions{Flags: open.Flags{Pipeline: open.ShippedPipeline}}).knownLabels()
	f, err := parseFailOn([]string{"pb001", "label:mine", "mistrial", "flaky test"}, false, known)
	if err != nil || !slices.Equal(f.labels, []string{"pb001", "mine", "nd001"}) || !slices.Equal(f.statuses, []trial.Status{trial.Mistrial}) {
		t.Errorf("%+v, %v", f, err)
	}
	for _, word := range []string{"mine", "pb0001", "", "label:"} {
		if _, err := parseFailOn([]string{word}, false, known); err == nil {
			t.Errorf("%q was taken", word)
		}
	}
	if f, err := parseFailOn([]string{"mistrial"}, false, map[string]string{"mistrial": ""}); err != nil || len(f.labels) > 0 {
		t.Errorf("a label that is called as a status: %+v, %v", f, err)
	}
}

package inquiry

import (
	"math"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
)

// Lists of changes and comments of code tell more than other documents, and add up; where the test was changed itself all counts half.
func TestWeightOfIntent(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		paths   []string
		changed bool
		want    float64
	}{
		{[]string{"README.md"}, false, intentDocumentsNats},
		{[]string{"README.md", "CHANGELOG.md"}, false, intentNewsNats},
		{[]string{"docs/release-notes.md"}, false, intentNewsNats},
		{[]string{"cart.go", "CHANGELOG.md"}, false, factCap},
		{[]string{"CHANGELOG.md"}, true, intentNewsNats * updatedShare},
	} {
		source := &abi.SourceAnswer{Tests: []abi.FailingTest{{Name: "TestA", Changed: tt.changed}}}
		for _, path := range tt.paths {
			source.Intent = append(source.Intent, abi.SourceIntent{Kind: abi.IntentDocuments, Path: path})
		}
		if got := (&scene{source: source, product: true}).intent(); math.Abs(got-tt.want) > 1e-9 {
			t.Errorf("%v: %v, want %v", tt.paths, got, tt.want)
		}
	}
}

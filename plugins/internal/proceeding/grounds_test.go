package proceeding

import (
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/plugins/internal/weigh"
)

// Only what nobody measured is challenged for how it says what it says.
func TestKnownSourcesAreChallengedForWhatIsNotThere(t *testing.T) {
	t.Parallel()
	p := &abi.Profile{Sources: []abi.SourceReliability{{Source: "x", Share: 1, Cap: 9}}}
	for _, tc := range []struct {
		name           string
		item           weigh.Testimony
		known, unknown int
	}{
		{"at chance", weigh.Testimony{Content: "it is a", Supports: "a", Confidence: 0.5}, 0, 1},
		{"certain", weigh.Testimony{Content: "it is a", Supports: "a", Confidence: 1}, 0, 1},
		{"empty", weigh.Testimony{Supports: "a", Confidence: 0.7}, 0, 1},
		{"absent", weigh.Testimony{Content: "a quote", Supports: "a", Confidence: 0.7, Quote: abi.QuoteAbsent}, 1, 1},
		{"sound", weigh.Testimony{Content: "it is a", Supports: "a", Confidence: 0.7}, 0, 0},
	} {
		for source, want := range map[string]int{"x:3": tc.known, "y:3": tc.unknown} {
			tc.item.SourceRef = source
			if tc.item.Quote == "" {
				tc.item.Quote = abi.QuoteUnclaimed
			}
			items := &Items{labels: []string{"a", "b"}, profile: p, testimony: []weigh.Testimony{tc.item}}
			got := items.grounds(Everything)
			if len(got) != want {
				t.Errorf("%s of %s: %+v, want %d challenges", tc.name, source, got, want)
			}
		}
	}
}

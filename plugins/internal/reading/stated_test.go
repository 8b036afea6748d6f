package reading

import (
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
)

func TestStated(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]float64{
		"We hold this with a confidence of 0.81.":                         0.81,
		"The probability is 64%, no more.":                                0.64,
		"The probability is 64 %.":                                        0.64,
		"With 64 percent confidence it was the belt.":                     0.64,
		"We are 64% sure of it.":                                          0.64,
		"Our confidence is .64 at most.":                                  0.64,
		"It was the belt (confidence 0.64).":                              0.64,
		"Confidence: 0,64":                                                0.64,
		"Confidence = 6/10.":                                              0.6,
		"We are sure. Our confidence is 1.":                               1,
		"The confidence of the prosecution was 0.9. Our confidence: 0.4.": 0.4,
		"Version 0.81 was deployed.":                                      -1,
		"Our confidence is 81.":                                           -1,
		"Our confidence is 1.7.":                                          -1,
	} {
		got, ok := Stated(&abi.JudicialOpinion{}, Statements(text))
		if !ok {
			got = -1
		}
		if diff := got - want; diff > 1e-9 || diff < -1e-9 {
			t.Errorf("%q states %v, want %v", text, got, want)
		}
	}
	for value, want := range map[string]float64{"": 0.9, "lots": 0.9, "0.3": 0.3, "30 %": 0.3} {
		o := &abi.JudicialOpinion{Metadata: map[string]string{keyConfidence: value}}
		if got, _ := Stated(o, Statements("We conclude it with a confidence of 0.9.")); got != want {
			t.Errorf("%q: %v", value, got)
		}
	}
}

package odds_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/odds"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
)

func labels() []string { return []string{"a", "b", "c"} }

func near(t *testing.T, got, want []float64) {
	t.Helper()
	if !slices.EqualFunc(got, want, func(x, y float64) bool { return math.Abs(x-y) < 1e-9 }) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestAddStatement(t *testing.T) {
	t.Parallel()
	e := math.Log
	source := abi.SourceReliability{Source: "x", Share: 1, Statements: []abi.SourceStatement{
		{Says: "a", Given: []abi.LabelWeight{{Label: "a", Weight: 0.8}, {Label: "b", Weight: 0.1}, {Label: "c", Weight: 0.1}}},
		{Says: "b", Given: []abi.LabelWeight{{Label: "a", Weight: 0.4}, {Label: "b", Weight: 0.1}}},
		{Says: "", Given: nil},
	}}
	half, stated := source, source
	half.Share = 0.5
	stated.Stated = &abi.LogitMap{Offset: 0.25, Slope: 2}
	upTo, from := stated, stated
	upTo.Stated = &abi.LogitMap{Offset: 0.25, Slope: 2, Range: &abi.ConfidenceRange{Least: 0.6, Most: 0.7}}
	from.Stated = &abi.LogitMap{Offset: 0.25, Slope: 2, Range: &abi.ConfidenceRange{Least: 0.95, Most: 0.99}}
	third := (e(0.8) + 2*e(0.1)) / 3
	two := (e(0.4) + e(0.1)) / 2
	for _, tc := range []struct {
		name string
		s    *abi.SourceReliability
		says string
		want []float64
	}{
		{"by the table", &source, "a", []float64{e(0.8) - third, e(0.1) - third, e(0.1) - third}},
		{"a label that is not listed has the mean", &source, "b", []float64{e(0.4) - two, e(0.1) - two, 0}},
		{"a share", &half, "b", []float64{(e(0.4) - two) / 2, (e(0.1) - two) / 2, 0}},
		{"nothing given", &source, "", []float64{0, 0, 0}},
		{"not in the table", &source, "c", []float64{0, 0, 0}},
		{"the stated confidence", &stated, "c", []float64{0, 0, 0.25 + 2*e(0.9/0.1)}},
		{"no confidence in no label", &stated, "", []float64{0, 0, 0}},
		{"more than was measured", &upTo, "c", []float64{0, 0, 0.25 + 2*e(0.7/0.3)}},
		{"less than was measured", &from, "c", []float64{0, 0, 0.25 + 2*e(0.95/0.05)}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got := make([]float64, 3)
			odds.AddStatement(got, labels(), tc.s, tc.says, 0.9)
			near(t, got, tc.want)
		})
	}
}

func TestAddElement(t *testing.T) {
	t.Parallel()
	e := math.Log
	source := abi.SourceReliability{Source: "x", Share: 0.5, Statements: []abi.SourceStatement{
		{Says: "a", Given: []abi.LabelWeight{{Label: "a", Weight: 0.8}, {Label: "b", Weight: 0.1}}, Elements: []abi.ElementLikelihood{
			{Element: abi.Fire, Given: []abi.LabelWeight{{Label: "a", Weight: 0.9}, {Label: "b", Weight: 0.1}}},
			{Element: abi.Earth, Given: []abi.LabelWeight{{Label: "a", Weight: 0.1}, {Label: "b", Weight: 0.4}}},
		}},
	}}
	fire, earth := (e(0.9)-e(0.1))/4, (e(0.1)-e(0.4))/4
	for _, tc := range []struct {
		name, says string
		element    abi.Element
		want       []float64
	}{
		{"by the element alone, and the source's share of it", "a", abi.Fire, []float64{fire, -fire, 0}},
		{"no element is earth", "a", "", []float64{earth, -earth, 0}},
		{"an element that is not listed", "a", abi.Water, []float64{0, 0, 0}},
		{"a statement that is not listed", "b", abi.Fire, []float64{0, 0, 0}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got := make([]float64, 3)
			odds.AddElement(got, labels(), &source, tc.says, tc.element)
			near(t, got, tc.want)
		})
	}
}

func TestLimit(t *testing.T) {
	t.Parallel()
	v := []float64{3, -1, 1}
	odds.Limit(v, 2)
	near(t, v, []float64{1.5, -0.5, 0.5})
	odds.Limit(v, 9)
	near(t, v, []float64{1.5, -0.5, 0.5})
}

func TestSignalsStandAsWords(t *testing.T) {
	t.Parallel()
	s := odds.FindPhrases([]string{"fail", "fail:", "größ"})
	for text, want := range map[string]int{
		"Fail": 1, "a FAIL b": 1, "failed": 0, "9fail": 0, "fail: fail:": 4, "fail:x": 2, "größer": 1, "größ": 1, "größé": 1, "": 0,
	} {
		n := 0
		s.Scan(text, func(_, start, end int) {
			if start < 0 || end > len(text) {
				t.Errorf("%q: [%d, %d)", text, start, end)
			}
			n++
		})
		check.Equal(t, n, want, text, "places")
	}
	if !odds.NewSignals(nil).Empty() || s.Empty() {
		t.Error("emptiness is wrong")
	}
}

func TestAddSignal(t *testing.T) {
	t.Parallel()
	got := make([]float64, 3)
	odds.AddSignal(got, labels(), &abi.Signal{Weights: []abi.LabelWeight{{Label: "a", Weight: 20}, {Label: "nowhere", Weight: 3}, {Label: "c", Weight: -1.5}}})
	near(t, got, []float64{20, 0, -1.5})
}

func TestProbabilities(t *testing.T) {
	t.Parallel()
	near(t, odds.Probabilities([]float64{math.Log(3), 0}, 0), []float64{0.75, 0.25})
	near(t, odds.Probabilities([]float64{math.Log(3), 0}, 0.1), []float64{0.725, 0.275})
	near(t, odds.Probabilities([]float64{1e300, -1e300}, 0.02), []float64{0.99, 0.01})
}

func TestWitness(t *testing.T) {
	t.Parallel()
	var got []float64
	for _, c := range []float64{0, 0.2, 1.0 / 3, 0.5, 0.75, 0.999, 1} {
		got = append(got, odds.Witness(c, 3, 2.9))
	}
	near(t, got, []float64{0, 0, 0, math.Log(2), math.Log(6), 2.9, 2.9})
	near(t, []float64{odds.Witness(0.9, 1, 2.9)}, []float64{0})
}

func TestPassagesThatHoldTooMuchAreLeftOut(t *testing.T) {
	t.Parallel()
	p := &abi.Profile{Name: "p", SignalCap: 9, SignalPassage: &abi.SignalPassage{Bytes: 40, Nats: 2.5}}
	for _, phrase := range []string{"alpha", "beta", "ga", "delta", "omega"} {
		p.Signals = append(p.Signals, abi.Signal{Phrase: phrase, Weights: []abi.LabelWeight{{Label: "a", Weight: 1}}})
	}
	p.Signals[4].Weights[0].Weight = -1
	far := " some words that are no signals at all, forty bytes of them "
	for _, tc := range []struct{ name, text, want string }{
		{"two", "alpha and beta", "alpha beta"},
		{"three within forty bytes", "alpha, and beta or ga", ""},
		{"three that are apart", "alpha and beta" + far + "ga", "alpha beta ga"},
		{"beside others", "alpha" + far + "alpha beta ga" + far + "delta", "alpha delta"},
		{"behind them without a word between", "alpha beta ga, omega" + far + "delta", "delta"},
		{"before them without a word between", "omega; alpha; beta; ga; delta", ""},
		{"what speaks against them counts", "alpha of beta of omega of ga", "alpha beta omega ga"},
		{"one that is repeated", "alpha alpha alpha alpha", "alpha alpha alpha alpha"},
		{"behind them, less than twenty bytes", "alpha beta ga and then also delta" + far + "delta", "delta"},
		{"before them, less than twenty bytes", "omega" + far + "omega is then alpha or it was beta or it was ga", "omega"},
	} {
		var got []string
		odds.NewSignals(p).Scan(tc.text, func(_, start, end int) { got = append(got, tc.text[start:end]) })
		check.Equal(t, strings.Join(got, " "), tc.want, tc.name, got)
	}
	p.Signals = append(p.Signals, abi.Signal{Phrase: "a very strong one", Weights: []abi.LabelWeight{{Label: "a", Weight: 9}}}, abi.Signal{Phrase: "strong one", Weights: []abi.LabelWeight{{Label: "a", Weight: 1}}})
	alone := 0
	odds.NewSignals(p).Scan("a very strong one", func(int, int, int) { alone++ })
	check.Equal(t, alone, 2, "of one signal, and one within it", "count")
	check.Equal(t, odds.NewSignals(p).Densest(p, 40)("alpha and beta"+far+"omega"), 2, "the densest passage", "nats")
}

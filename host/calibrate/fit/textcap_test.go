package fit

import (
	"slices"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/calibrate/fit/internal/simulate"
)

// Texts are trusted as far as they predict cases not fitted on, and no further: those whose weights are of the cases need more than a
// quarter of them, those with weights of many times as much are cut to a quarter.
func TestTextsAreTrustedAsFarAsTheyHelp(t *testing.T) {
	t.Parallel()
	c := read(simulate.Shapes(2)[11].Docket(4, 240)) // issue texts
	c.minePhrases(2)
	use := every(c)
	x := &crossed{use: use, k: 2, part: c.folds(use, 2, 1)}
	for part := range x.k {
		train := x.without(part)
		x.models = append(x.models, []*linear{c.regress(train, nil, newKnown(c, train).first(fewSignals), 2)})
	}
	share := func(times float64) int {
		w := weights{[]float64{times}, make([]float64, len(c.labels))}
		return c.textShare(x, &judged{weights: []weights{w, w}}, use)
	}
	if got := share(1); got <= 25 {
		t.Errorf("texts that tell the label count as much as a share of %d tells", got)
	}
	if got := share(12); got != 25 {
		t.Errorf("texts that are trusted far too much count as much as a share of %d tells", got)
	}
	if got := share(0); got != allTexts {
		t.Errorf("where no text tells anything, the share is %d", got)
	}
}

// The cap on signals is what they tell at most in the share of the cases in which they tell anything.
func TestTheCapOfSignalsIsWhatTheShareTells(t *testing.T) {
	t.Parallel()
	entries := simulate.Shapes(2)[0].Docket(5, 40)
	for i := range entries {
		entries[i].Case.Light, entries[i].Case.Documents = nil, nil
		if i < 20 { // and the others have no signal
			entries[i].Case.Documents = []abi.Document{{Name: "log", Text: []string{"faint", "plain", "loud", "shrill"}[i/5]}}
		}
	}
	c := read(entries)
	label := c.labels[0]
	signal := func(phrase string, nats float64) abi.Signal {
		return abi.Signal{Phrase: phrase, Weights: []abi.LabelWeight{{Label: label, Weight: nats}}}
	}
	p := &abi.Profile{Name: "p", Signals: []abi.Signal{signal("faint", 0.5), signal("plain", 1), signal("loud", 2), signal("shrill", 4)}}
	var caps []float64
	for _, s := range []int{25, 50, 75, allTexts} {
		c.setCaps(p, every(c), s)
		caps = append(caps, p.SignalCap)
	}
	if want := []float64{0.5, 1, 2, 4}; !slices.Equal(caps, want) {
		t.Errorf("caps %v, want %v", caps, want)
	}
	m := NewModel(p)
	p.SignalCap = 1
	told := m.nats(&entries[19].Case)
	without := entries[19].Case
	without.Documents = nil
	addTo(told, m.nats(&without), -1)
	if got := spread(told); got != 1 {
		t.Errorf("a document that tells 4 nats counts %v within a cap of 1", got)
	}
}

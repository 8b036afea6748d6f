package measure

import (
	"slices"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
)

// A profile caps its signals at the cap that was chosen. If no case of the fit had signals that told as much, it caps them at what they told.
func TestTheCapOfSignalsIsWithinWhatTheyTold(t *testing.T) {
	t.Parallel()
	entries := shape("independent witnesses").Docket(5, 40)
	for i := range entries {
		entries[i].Case.Light, entries[i].Case.Documents = nil, nil
		if i < 20 { // and the others have no signal
			entries[i].Case.Documents = []abi.Document{{Name: "log", Text: []string{"faint", "plain", "loud", "shrill"}[i/5]}}
		}
	}
	c := newCorpus(entries)
	label := c.labels[0]
	signal := func(phrase string, nats float64) abi.Signal {
		return abi.Signal{Phrase: phrase, Weights: []abi.LabelWeight{{Label: label, Weight: nats}}}
	}
	p := &abi.Profile{Name: "p", Signals: []abi.Signal{signal("faint", 0.5), signal("plain", 1), signal("loud", 2), signal("shrill", 4)}}
	var caps []float64
	for _, most := range []float64{0, 0.15, 3, mostNats} {
		c.setCaps(p, places(len(c.samples)), most)
		caps = append(caps, p.SignalCap)
	}
	if want := []float64{0, 0.15, 3, 4}; !slices.Equal(caps, want) {
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

// An answer counts as one that a text turns exactly if the strongest text that there can be turns it.
func TestTheStrongestTextTurnsWhatIsSaidToTurn(t *testing.T) {
	t.Parallel()
	entries := shape("independent witnesses").Docket(5, 400)
	result, err := Fit(t.Context(), entries[:200], FitConfig{Seed: 1, Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	p := result.Profile
	p.SignalCap, p.SignalPassage = 0.5, nil
	for _, label := range entries[0].Case.Labels {
		p.Signals = append(p.Signals, abi.Signal{Phrase: "surely " + label, Weights: []abi.LabelWeight{{Label: label, Weight: mostNats}}})
	}
	m, turned := NewModel(p), 0
	for i := range entries[200:] {
		e := &entries[200+i]
		truth := slices.Index(e.Case.Labels, e.Truth.Classification)
		right := best(m.Posterior(&e.Case)) == truth
		turns := false
		for _, label := range e.Case.Labels {
			c := e.Case
			c.Documents = append(slices.Clone(c.Documents), abi.Document{Name: "made up", Text: "surely " + label})
			turns = turns || right && best(m.Posterior(&c)) != truth
		}
		if got := m.turns(&e.Case, truth, p.SignalCap); got != turns {
			t.Errorf("%s: said to turn %v, turned %v", e.Case.ID, got, turns)
		}
		if turns {
			turned++
		}
	}
	if turned < 5 || turned > 195 {
		t.Errorf("%d of 200 answers were turned", turned)
	}
}

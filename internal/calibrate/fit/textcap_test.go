package fit

import (
	"slices"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/internal/calibrate/fit/internal/simulate"
)

// trusting crosses a docket, and gives what finds how far its best candidate may trust texts.
func trusting(t *testing.T, shape int, config *Config) (trust *textTrust, chosen int, use []int) {
	t.Helper()
	c := read(simulate.Shapes(2)[shape].Docket(22, 350))
	c.minePhrases(2)
	use = every(c)
	x, err := c.cross(t.Context(), use, 2, 1)
	if err != nil {
		t.Fatal(err)
	}
	judgements := c.compare(x, 2)
	return newTextTrust(c, x, judgements, config), c.choose(judgements, x, use, true), use
}

// Where witnesses decide too, the largest cap is taken with which no text turns more than a share of the answers; whoever trusts texts
// gets a larger one.
func TestTextsMayTurnFewAnswers(t *testing.T) {
	t.Parallel()
	config := Config{Workers: 2}
	trust, chosen, use := trusting(t, 6, &config) // scanner findings
	list := trust.of(chosen)
	safe := slices.IndexFunc(list, func(x capped) bool { return mean(x.turned, use) > mostTurned }) - 1
	if safe < 1 {
		t.Fatalf("no cap above nothing is safe, or all are: %d", safe)
	}
	for i := range list[1:] {
		if mean(list[i].turned, use) > mean(list[i+1].turned, use)+0.02 {
			t.Errorf("a cap of %v turns more answers than one of %v", list[i].most, list[i+1].most)
		}
	}
	// As if larger caps predicted no better.
	for i := range list {
		list[i].losses = list[safe].losses
	}
	list[len(list)-1].losses = slices.Clone(list[safe].losses)
	for _, i := range use {
		list[len(list)-1].losses[i] *= 0.97 // a little
	}
	if got := trust.cap(chosen, use); got.most != list[safe].most {
		t.Errorf("cap %v, want %v, the largest that is safe", got.most, list[safe].most)
	}
	config.TrustText = true
	if got := trust.cap(chosen, use); got.most != mostNats {
		t.Errorf("where texts are trusted, the cap is %v, want what predicts best", got.most)
	}
}

// Where texts decide, a small cap would make every answer worse.
func TestTextsThatDecideAreNotCapped(t *testing.T) {
	t.Parallel()
	trust, chosen, use := trusting(t, 11, &Config{Workers: 2}) // issue texts
	got := trust.cap(chosen, use)
	if got.most < 5 || mean(got.hits, use) < 0.9 || mean(got.turned, use) < 0.8 {
		t.Errorf("cap %v: right in %.2f, of which texts could turn %.2f", got.most, mean(got.hits, use), mean(got.turned, use))
	}
	if none := trust.of(chosen)[0]; none.most != 0 || mean(none.turned, use) != 0 || mean(none.hits, use) > 0.7 {
		t.Errorf("without texts %.2f are right, and texts turn %.2f", mean(none.hits, use), mean(none.turned, use))
	}
}

// The report warns where texts decide, unless it was asked to trust them.
func TestTheReportWarnsOfTextsThatDecide(t *testing.T) {
	t.Parallel()
	for _, config := range []Config{{Workers: 2}, {Workers: 2, TrustText: true}, {Workers: 2, NoText: true}} {
		result, err := Fit(t.Context(), simulate.Shapes(2)[11].Docket(22, 200), config)
		if err != nil {
			t.Fatal(err)
		}
		turns := *result.Report.TextTurns
		if warns := len(result.Report.Warnings) > 0; warns == (config.TrustText || config.NoText) || config.NoText == (turns > 0.8) || config.NoText && turns != 0 {
			t.Errorf("%+v: texts turn %.2f, warnings %q", config, turns, result.Report.Warnings)
		}
	}
}

// A candidate that reads no texts trusts none.
func TestWhatReadsNoTextTrustsNone(t *testing.T) {
	t.Parallel()
	trust, _, use := trusting(t, 6, &Config{Workers: 2})
	if got := trust.cap(unprofiled, use); got.most != 0 || len(trust.of(unprofiled)) != 1 {
		t.Errorf("cap %v of %d", got.most, len(trust.of(unprofiled)))
	}
}

// Beside texts that tell nothing, what sources say is weighed as if there were none.
func TestSourcesAreWeighedBesideCappedTexts(t *testing.T) {
	t.Parallel()
	trust, chosen, _ := trusting(t, 6, &Config{Workers: 2})
	c, x, by := trust.c, &trust.x, &trust.judgements[chosen]
	w := c.blendWeights(x, &by.candidate, nobody)
	alone, all := c.beside(x, &by.candidate, w, 0, nobody), c.beside(x, &by.candidate, w, mostNats, nobody)
	if m := c.mix(x.models[0], alone); len(m.text) != 0 {
		t.Error("phrases count although texts may tell nothing")
	}
	if m := c.mix(x.models[0], all); len(m.text) == 0 {
		t.Error("no phrase counts although texts may tell all")
	}
	lossOfAll := func(w weights, most float64) (sum float64) {
		j := capped{judged{candidate: by.candidate, losses: make([]float64, len(c.samples)), weights: slices.Repeat([]weights{w}, x.k)}, most, make([]float64, len(c.samples)), make([]float64, len(c.samples))}
		for part := range x.k {
			c.judgeCapped(x, &j, part)
		}
		return j.loss(x.use)
	}
	if with, without := lossOfAll(w, mostNats), lossOfAll(w, 0); with >= without {
		t.Errorf("log loss %.3f with texts, %.3f without", with, without)
	}
}

// The signals of a profile are capped at the cap that was chosen, or at the most that they told in a case of the fit if that is less.
func TestTheCapOfSignalsIsWithinWhatTheyTold(t *testing.T) {
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
	for _, most := range []float64{0, 0.15, 3, mostNats} {
		c.setCaps(p, every(c), most)
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
	entries := simulate.Shapes(2)[0].Docket(5, 400)
	result, err := Fit(t.Context(), entries[:200], Config{Seed: 1, Workers: 2})
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

package weigh

import (
	"math"
	"slices"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/abitest"
	"github.com/shadowcourt/shadowcourt/abi/odds"
)

func given(a, b, c float64) []abi.LabelWeight {
	return []abi.LabelWeight{{Label: "a", Weight: a}, {Label: "b", Weight: b}, {Label: "c", Weight: c}}
}

func profiled(p *abi.Profile, m Matter) *Scale {
	m.Labels, m.Profile = labels, p
	return Weigh(&m)
}

func TestAKnownSourceCountsByItsTable(t *testing.T) {
	t.Parallel()
	p := &abi.Profile{Sources: []abi.SourceReliability{{Source: "x", Share: 1, Cap: 5, Statements: []abi.SourceStatement{
		{Says: "a", Given: given(0.6, 0.3, 0.3)},
		{Says: "b", Given: given(0.2, 0.2, 0.2)},
		{Says: "", Given: given(0.1, 0.4, 0.1)},
	}}}}
	for _, tc := range []struct {
		name     string
		supports string
		want     []float64
	}{
		{"its word is worth what its table says, however sure it is", "a", []float64{0.5, 0.25, 0.25}},
		{"who always says the same says nothing", "b", []float64{1.0 / 3, 1.0 / 3, 1.0 / 3}},
		{"saying nothing can speak", "", []float64{1.0 / 6, 4.0 / 6, 1.0 / 6}},
		{"a statement that the table does not have says nothing", "c", []float64{1.0 / 3, 1.0 / 3, 1.0 / 3}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s := profiled(p, Matter{Testimony: []Testimony{item("x:7", "says so", tc.supports, 0.99)}})
			for i := range tc.want {
				near(t, "P("+labels[i]+")", s.Posterior[i], 0.99*tc.want[i]+0.01/3)
			}
		})
	}
}

// What a source says again counts nothing, but that it says it by another element counts once.
func TestElementsCountBesideTheStatement(t *testing.T) {
	t.Parallel()
	p := &abi.Profile{Sources: []abi.SourceReliability{{Source: "x", Share: 1, Cap: 9, Statements: []abi.SourceStatement{
		{Says: "a", Given: given(0.4, 0.2, 0.2), Elements: []abi.ElementLikelihood{
			{Element: abi.Fire, Given: given(0.6, 0.2, 0.2)},
			{Element: abi.Water, Given: given(0.1, 0.4, 0.4)},
		}},
	}}}}
	by := func(element abi.Element, left float64) Testimony {
		it := item("x:1", "says so by "+string(element), "a", 0.9)
		it.Element, it.Left = element, left
		return it
	}
	for _, tc := range []struct {
		name  string
		items []Testimony
		want  float64 // ratio of P(a) and P(b)
	}{
		{"an element that is not listed", []Testimony{by(abi.Air, 1)}, 2},
		{"one element", []Testimony{by(abi.Fire, 1)}, 6},
		{"one element twice", []Testimony{by(abi.Fire, 1), by(abi.Fire, 1)}, 6},
		{"two elements", []Testimony{by(abi.Water, 1), by(abi.Fire, 1)}, 1.5},
		{"half of an item", []Testimony{by(abi.Fire, 0.5)}, math.Sqrt(6)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s := profiled(p, Matter{Testimony: tc.items})
			near(t, "a against b", s.Evidence[0]-s.Evidence[1], math.Log(tc.want))
		})
	}
}

// However little the highest stated confidence moves, it is the one that was measured.
func TestAStatementCountsByItsHighestConfidence(t *testing.T) {
	t.Parallel()
	p := &abi.Profile{Sources: []abi.SourceReliability{{Source: "x", Share: 1, Cap: 9, Stated: &abi.LogitMap{Slope: 1}}}}
	said := func(confidence, left float64) Testimony {
		it := item("x:1", "says so", "a", confidence)
		it.Left = left
		return it
	}
	for _, tc := range []struct {
		name  string
		items []Testimony
		want  float64 // odds of a against b
	}{
		{"the highest, though it moves less", []Testimony{said(0.1, 1), said(0.6, 1), said(0.2, 1)}, 1.5},
		{"the highest, though it moves nothing", []Testimony{said(0.1, 1), said(0.5, 1)}, 1},
		{"one of which more is left", []Testimony{said(0.9, 0.5), said(0.6, 1)}, 1.5},
		{"none that is refuted", []Testimony{said(0.9, 0), said(0.6, 1)}, 1.5},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s := profiled(p, Matter{Testimony: tc.items})
			near(t, "a against b", s.Evidence[0]-s.Evidence[1], math.Log(tc.want))
		})
	}
}

func TestAKnownSourceStaysWithinItsOwnCap(t *testing.T) {
	t.Parallel()
	p := &abi.Profile{Sources: []abi.SourceReliability{{Source: "x", Share: 1, Cap: 0.5, Statements: []abi.SourceStatement{{Says: "a", Given: given(0.9, 0.1, 0.1)}}}}}
	s := profiled(p, Matter{Testimony: []Testimony{item("x:1", "one", "a", 0.5), item("x:2", "two", "a", 0.5)}})
	near(t, "evidence", s.Evidence[0]-s.Evidence[1], 0.5)
}

func TestBaseRatesAndLightsCorrection(t *testing.T) {
	t.Parallel()
	s := profiled(&abi.Profile{BaseRates: given(0.7, 0.2, 0.1)}, Matter{})
	near(t, "P(a)", s.Of("a"), 0.99*0.7+0.01/3)
	s = profiled(&abi.Profile{BaseRates: []abi.LabelWeight{{Label: "a", Weight: 0.6}, {Label: "b", Weight: 0.2}}}, Matter{})
	near(t, "P(c) without a base rate", s.Of("c"), 0.99*0.2+0.01/3)
	light := &abi.LightAnswer{Classification: "a", Confidence: 0.99}
	s = profiled(&abi.Profile{Light: &abi.SourceReliability{Source: "light", Share: 0.5, Cap: 9, Statements: []abi.SourceStatement{{Says: "a", Given: given(0.8, 0.2, 0.2)}}}}, Matter{Light: light})
	near(t, "P(a) by a Light whose word is worth half of 4 to 1", s.Of("a"), 0.99*0.5+0.01/3)
	s = profiled(&abi.Profile{Light: &abi.SourceReliability{Source: "light", Cap: 9, Stated: &abi.LogitMap{Offset: -1, Slope: 0.5}}}, Matter{Light: light})
	near(t, "nats that a stated 0.99 adds", math.Log((s.Of("a")-0.01/3)/(s.Of("b")-0.01/3)), 0.5*math.Log(99)-1)
}

func TestSignals(t *testing.T) {
	t.Parallel()
	p := &abi.Profile{SignalCap: 3, Signals: []abi.Signal{
		{Phrase: "disk full", Weights: []abi.LabelWeight{{Label: "a", Weight: 1}}},
		{Phrase: "no route", Weights: []abi.LabelWeight{{Label: "b", Weight: 2.5}, {Label: "nowhere", Weight: 9}}},
		{Phrase: "weird", Weights: []abi.LabelWeight{{Label: "c", Weight: -1}}},
	}}
	finding := func(quote, supports string) abi.Finding {
		return abi.Finding{Document: "log", Quote: quote, Supports: supports, Strength: 0.9}
	}
	for _, tc := range []struct {
		name     string
		signals  []int
		findings []abi.Finding
		want     []float64
	}{
		{"what the host found in the documents", []int{0}, nil, []float64{1, 0, 0}},
		{"all together stay within the cap", []int{0, 1, 2}, nil, []float64{1 * 3 / 3.5, 2.5 * 3 / 3.5, -1 * 3 / 3.5}},
		{"a finding that quotes one adds nothing", []int{0}, []abi.Finding{finding("Disk FULL on host", "c")}, []float64{1, 0, 0}},
		{"nor does one that the host did not find", nil, []abi.Finding{finding("no route", "b")}, []float64{0, 0, 0}},
		{"a finding without a signal is a party's statement", nil, []abi.Finding{finding("the door was open", "b")}, []float64{0, odds.UnmeasuredModel, 0}},
		{"and so are many", nil, []abi.Finding{finding("the door was open", "b"), finding("the light was on", "b")}, []float64{0, odds.UnmeasuredModel, 0}},
		{"an index beyond the profile's", []int{3}, nil, []float64{0, 0, 0}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s := profiled(p, Matter{Signals: tc.signals, Findings: tc.findings})
			for i := range tc.want {
				near(t, "nats of "+labels[i], s.Evidence[i], tc.want[i])
			}
		})
	}
}

// Text in an item that names a label is no signal: its source spoke already.
func TestSignalsInItems(t *testing.T) {
	t.Parallel()
	p := &abi.Profile{SignalCap: 3, Signals: []abi.Signal{{Phrase: "disk full", Weights: []abi.LabelWeight{{Label: "c", Weight: 2}}}}}
	evidence := func(supports string, quote abi.QuoteStatus, subject, content string) float64 {
		it := item("x", content, supports, 0.7)
		it.Quote = quote
		s := profiled(p, Matter{Subject: subject, Testimony: []Testimony{it}})
		return s.Evidence[2] - s.Evidence[1]
	}
	near(t, "an item with a label", evidence("a", abi.QuoteUnclaimed, "", "it broke\ndisk full"), 0)
	near(t, "an item without one", evidence("", abi.QuoteUnclaimed, "", "it broke\ndisk full"), 2)
	near(t, "one whose quote is not there", evidence("", abi.QuoteAbsent, "", "it broke\ndisk full"), 0)
	near(t, "the subject", evidence("a", abi.QuoteUnclaimed, "Disk full!", "it broke"), 2)
	near(t, "part of a word", evidence("", abi.QuoteUnclaimed, "", "disk fullness"), 0)
	party := item("log", "disk full", "", 0.7)
	party.Party = true
	near(t, "an item of a party", profiled(p, Matter{Testimony: []Testimony{party}}).Evidence[2], 0)
}

// Whatever a persona names and quotes, it is its own statement: it moves no decision, and takes nothing from what it quotes.
func TestAPersonaSpeaksForItself(t *testing.T) {
	t.Parallel()
	p := &abi.Profile{Sources: []abi.SourceReliability{{Source: "x", Share: 1, Cap: 9, Statements: []abi.SourceStatement{
		{Says: "a", Given: given(0.6, 0.3, 0.3)}, {Says: "b", Given: given(0.05, 0.9, 0.05)},
	}}}}
	for name, measured := range map[string]*abi.Profile{"measured": p, "without a profile": nil} {
		m := Matter{Testimony: []Testimony{item("x:1", "the disk was full on the first host", "a", 0.7)}}
		alone := profiled(measured, m)
		for _, content := range []string{"the disk was full on the first host", "another line of the log"} {
			for range 5 {
				forged := item("x:forged", content, "b", partyConfidence)
				forged.Quote, forged.Party = abi.QuoteStands, true
				m.Testimony = append(m.Testimony, forged)
			}
		}
		s := profiled(measured, m)
		if top, _ := s.Top(""); top != "a" || s.Flaws[0] != (Flaw{}) || s.Nats[0] != alone.Nats[0] {
			t.Errorf("%s: %v, the witness has the flaw %v and %v nats, alone %v", name, s.Posterior, s.Flaws[0], s.Nats[0], alone.Nats[0])
		}
		if !slices.Equal(s.Settled().Posterior, alone.Posterior) {
			t.Errorf("%s: settled %v, want %v", name, s.Settled().Posterior, alone.Posterior)
		}
	}
}

func TestNewItemsThatRepeatFindingsCountOnce(t *testing.T) {
	t.Parallel()
	findings := []abi.Finding{{Document: "log", Quote: "disk full", Supports: "a", Strength: 0.7}}
	items := []abi.IndictmentItem{
		{SourceRef: "log", Content: "disk full", Weight: 1, Supports: "a"},
		{SourceRef: "log", Content: "no route", Weight: 1, Supports: "a"},
	}
	items = append(items, abi.IndictmentItem{SourceRef: "witness", Content: "says so", Supports: "b", Weight: 1})
	got := FromNewItems(items, []abi.Evidence{{SourceRef: "witness", Content: "says so", Supports: "b"}}, findings)
	if len(got) != 1 || got[0].Content != "no route" || got[0].Confidence != partyConfidence {
		t.Errorf("got %+v", got)
	}
}

// A line that is read twice, as a witness's quote and as a signal, counts once
// and a quarter; a profile that knows the source has weighed them together.
func TestAQuoteOfASignalsLineRepeatsIt(t *testing.T) {
	t.Parallel()
	signals := []abi.Signal{{Phrase: "disk full", Weights: []abi.LabelWeight{{Label: "a", Weight: 1}}}}
	findings := []abi.Finding{{Document: "log", Quote: "17:01 disk full on the first host", Supports: "a", Strength: 0.6}}
	word := 0.6 * math.Log(0.6*2/0.4)
	known := []abi.SourceReliability{{Source: "log", Share: 1, Cap: 9, Statements: []abi.SourceStatement{{Says: "a", Given: given(0.8, 0.2, 0.2)}}}}
	for _, tc := range []struct {
		name    string
		item    Testimony
		sources []abi.SourceReliability
		want    float64
	}{
		{"the same line for the same label", item("log:7", "17:01 disk full on the first host", "a", 0.6), nil, 1 + word/4},
		{"another line", item("log:8", "17:02 cannot write the output file", "a", 0.6), nil, 1 + word},
		{"the same line for another label", item("log:7", "17:01 disk full on the first host", "b", 0.6), nil, 1},
		{"a known source", item("log:7", "17:01 disk full on the first host", "a", 0.6), known, 1 + math.Log(4)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s := profiled(&abi.Profile{SignalCap: 3, Signals: signals, Sources: tc.sources}, Matter{Testimony: []Testimony{tc.item}, Findings: findings, Signals: []int{0}})
			near(t, "evidence for a", s.Evidence[0]-s.Evidence[2], tc.want)
		})
	}
}

// What two known sources say alike was weighed when they were measured; who copies a known source brings nothing.
func TestKnownSourcesDoNotRepeat(t *testing.T) {
	t.Parallel()
	p := &abi.Profile{Sources: []abi.SourceReliability{{Source: "x", Share: 1, Cap: 9}, {Source: "y", Share: 1, Cap: 9}}}
	content := "says so with a score of 17 points"
	for _, tc := range []struct {
		other, says string
		want        []Kind
	}{
		{"y", "a", []Kind{Sound, Sound}},
		{"y", "b", []Kind{Sound, Sound}},
		{"copycat", "a", []Kind{Sound, Repeats}},
		{"copycat", "b", []Kind{Sound, FitsTwo}},
	} {
		flaws := Flaws([]Testimony{item("x", content, "a", 0.9), item(tc.other, content, tc.says, 0.8)}, p)
		if got := []Kind{flaws[0].Kind, flaws[1].Kind}; !slices.Equal(got, tc.want) {
			t.Errorf("%s says %s: got %v, want %v", tc.other, tc.says, got, tc.want)
		}
	}
}

// What was read is divided by the temperature, what experiments have shown is not.
func TestATemperatureDividesWhatIsRead(t *testing.T) {
	t.Parallel()
	again := abi.Experiment{Product: abi.Head, Tests: abi.Head, Environment: abi.OriginalEnvironment, Order: abi.Alone, Runs: 1}
	two := 2.0
	p := &abi.Profile{Outcomes: abitest.Outcomes([]string{"a", "b", "c"}, abitest.Passing{Of: again, Given: []float64{0.8, 0.2, 0.2}})}
	lead := func(temperature *float64, results ...abi.ExperimentResult) float64 {
		q := *p
		q.Temperature = temperature
		s := profiled(&q, Matter{Testimony: []Testimony{item("x:1", "says so", "a", 0.8)}, Light: &abi.LightAnswer{Classification: "a", Confidence: 0.6}, Experiments: results})
		return math.Log((s.Posterior[0] - 0.01/3) / (s.Posterior[1] - 0.01/3))
	}
	read, passed := lead(nil), abi.ExperimentResult{Experiment: again, Outcome: abi.OutcomePassed, Passed: 1}
	near(t, "at temperature 2", lead(&two), read/2)
	near(t, "after an experiment", lead(nil, passed), read+math.Log(4))
	near(t, "at temperature 2, after an experiment", lead(&two, passed), read/2+math.Log(4))
}

// Once revisions were mixed, what a reading of the diff guessed counts a quarter, or what puts its label as far ahead as before;
// what another reads counts as before.
func TestMixedRevisionsReplaceTheReadingOfTheDiff(t *testing.T) {
	t.Parallel()
	of := func(product, tests abi.TreeRevision) abi.Experiment {
		return abi.Experiment{Product: product, Tests: tests, Environment: abi.OriginalEnvironment, Order: abi.Alone, Runs: 1}
	}
	base, again := of(abi.Base, abi.Base), abi.ExperimentResult{Experiment: of(abi.Head, abi.Head), Outcome: abi.OutcomeSame, Test: abi.TestUnchanged}
	passes := abi.ExperimentResult{Experiment: base, Outcome: abi.OutcomePassed}
	mixed := abi.ExperimentResult{Experiment: of(abi.Head, abi.Base), Outcome: abi.OutcomeSame, Same: 1}
	unbuilt := mixed
	unbuilt.Outcome, unbuilt.Same = abi.OutcomeNotBuilt, 0
	unchanged := passes
	unchanged.Test = abi.TestUnchanged
	evidence := func(p *abi.Profile, ref string, results ...abi.ExperimentResult) float64 {
		s := profiled(p, Matter{Testimony: []Testimony{item(ref, "says so", "a", 0.8)}, Experiments: results})
		return s.Evidence[0] - s.Evidence[1]
	}
	whole := evidence(nil, "seeker-source:cart.go")
	near(t, "a mixture", evidence(nil, "seeker-source:cart.go", again, passes, mixed), whole/4)
	near(t, "one that does not build", evidence(nil, "seeker-source:cart.go", again, passes, unbuilt), whole)
	near(t, "a rerun", evidence(nil, "seeker-source:cart.go", again), whole)
	near(t, "a base with the same test", evidence(nil, "seeker-source:cart.go", again, unchanged), whole/4)
	near(t, "a base that fails, too", evidence(nil, "seeker-source:cart.go", again, abi.ExperimentResult{Experiment: base, Outcome: abi.OutcomeSame}), 0)
	for _, other := range []string{"log:7"} {
		near(t, other, evidence(nil, other, again, passes, mixed), whole)
	}
	for _, tc := range []struct {
		name       string
		a, b, want float64
	}{
		{"confirmed a little", 0.6, 0.4, whole},
		{"confirmed clearly", 0.99, 0.01, whole/4 + math.Log(99)},
		{"refuted", 0.4, 0.6, whole/4 + math.Log(0.4/0.6)},
	} {
		p := &abi.Profile{Outcomes: abitest.Outcomes([]string{"a", "b", "c"}, abitest.Passing{Of: mixed.Experiment, Given: []float64{1 - tc.a, 1 - tc.b, 0.999}})}
		near(t, tc.name, evidence(p, "seeker-source:cart.go", again, passes, mixed), tc.want)
	}
}

// Sources that nobody measured count for one label as two of the surest, however many they are; beside those that a profile lists as seen, strangers decide nothing.
func TestStrangersAreBoundedTogether(t *testing.T) {
	t.Parallel()
	liars := func(n int) (list []Testimony) {
		for i := range n {
			list = append(list, item(string(rune('k'+i)), "is sure of b "+string(rune('k'+i)), "b", 0.99))
		}
		return list
	}
	lead := func(p *abi.Profile, n int) float64 {
		s := profiled(p, Matter{Testimony: append(liars(n), item("x", "says so", "a", 0.7))})
		return s.Evidence[1] - s.Evidence[0]
	}
	near(t, "ten against one", lead(nil, 10), odds.UnmeasuredAll-odds.Unmeasured(0.7, 3))
	near(t, "three against one", lead(nil, 3), lead(nil, 10))
	seen := &abi.Profile{Name: "p", Seen: []string{"x"}}
	for _, n := range []int{1, 10} {
		if top, _ := profiled(seen, Matter{Testimony: append(liars(n), item("x", "says so", "a", 0.7))}).Top(""); top != "a" {
			t.Errorf("%d strangers decide for %s", n, top)
		}
	}
	near(t, "what is seen counts as without a profile", lead(seen, 0), lead(nil, 0))
}

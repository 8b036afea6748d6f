package weigh

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
)

var labels = []string{"a", "b", "c"}

func item(source, content, supports string, confidence float64) Testimony {
	return Testimony{SourceRef: source, Content: content, Supports: supports, Confidence: confidence, Quote: abi.QuoteUnclaimed, Left: 1}
}

func weigh(items ...Testimony) *Scale {
	return Weigh(&Matter{Labels: labels, Testimony: items})
}

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > 1e-9 {
		t.Errorf("%s = %v, want %v", what, got, want)
	}
}

// One witness of confidence c among k labels, whom nobody measured, counts c of the nats that make its label c probable.
func TestOneWitnessIsBelievedLessThanItsWord(t *testing.T) {
	t.Parallel()
	s := weigh(item("x", "says so", "b", 0.8))
	odds := math.Pow(0.8*2/0.2, 0.8)
	near(t, "P(b)", s.Of("b"), 0.99*odds/(odds+2)+0.01/3)
	near(t, "P(a)", s.Of("a"), 0.99/(odds+2)+0.01/3)
	if sum := s.Posterior[0] + s.Posterior[1] + s.Posterior[2]; math.Abs(sum-1) > 1e-12 {
		t.Errorf("the posterior sums to %v", sum)
	}
}

func TestWhatOneItemCounts(t *testing.T) {
	t.Parallel()
	left := func(x Testimony, share float64) Testimony { x.Left = share; return x }
	quote := func(x Testimony, q abi.QuoteStatus) Testimony { x.Quote = q; return x }
	full := 0.8 * math.Log(0.8*2/0.2)
	sound := item("x", "a sound statement", "a", 0.8)
	for _, tc := range []struct {
		name string
		item Testimony
		want float64
	}{
		{"sound", sound, full},
		{"a quote that stands", quote(sound, abi.QuoteStands), full},
		{"a quote that stands nowhere", quote(sound, abi.QuoteAbsent), full / 10},
		{"certain", item("x", "a sound statement", "a", 1), 2.9},
		{"at chance", item("x", "a sound statement", "a", 1.0/3), 0},
		{"below chance counts nothing against", item("x", "a sound statement", "a", 0.1), 0},
		{"no label", item("x", "a sound statement", "", 0.9), 0},
		{"no content", item("x", " \n", "a", 0.9), 0},
		{"fatal", left(sound, Left(abi.Fatal)), 0},
		{"weakening", left(sound, Left(abi.Weakening)), full / 2},
		{"minor", left(sound, Left(abi.Minor)), full * 0.8},
		{"a challenge of a flaw takes no more than the flaw", left(quote(sound, abi.QuoteAbsent), Left(abi.Weakening)), full / 10},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s := weigh(tc.item)
			near(t, "nats", s.Nats[0], tc.want)
			near(t, "evidence", s.Speaks("a"), tc.want)
		})
	}
}

func TestRepetition(t *testing.T) {
	t.Parallel()
	full := 0.6 * math.Log(0.6*2/0.4)
	for _, tc := range []struct {
		name  string
		items []Testimony
		want  []float64
	}{
		{
			"two sources say different things",
			[]Testimony{item("x", "the disk was full", "a", 0.6), item("y", "the network was down", "a", 0.6)},
			[]float64{full, full},
		},
		{
			"one source says it thrice",
			[]Testimony{item("x:1", "the disk was full", "a", 0.6), item("x:2", "the network was down", "a", 0.6), item("x#3", "the door was open", "a", 0.6)},
			[]float64{full, full / 2, full / 4},
		},
		{
			"one source speaks for two labels",
			[]Testimony{item("x:1", "the disk was full", "a", 0.6), item("x:2", "the network was down", "b", 0.6)},
			[]float64{full, full},
		},
		{
			"two sources say the same but for figures",
			[]Testimony{item("x", "10:01 the disk was full, 17 bytes left", "a", 0.6), item("y", "12:33 The disk was full: 0 bytes left!", "a", 0.6)},
			[]float64{full, full / 4},
		},
		{
			"one line of several is shared",
			[]Testimony{item("x", "the disk of the first host was full\nand more", "a", 0.6), item("y", "another line that says something\nthe disk of the first host was full", "a", 0.6)},
			[]float64{full, full / 4},
		},
		{
			"the same for two labels, beside more",
			[]Testimony{item("x", "the disk of the first host was full\nand much more was wrong with it", "a", 0.6), item("y", "the disk of the first host was full", "b", 0.6)},
			[]float64{full / 4, full / 4},
		},
		{
			"one line of several is shared by two labels",
			[]Testimony{item("x", "the disk of the first host was full\nand much more was wrong with it", "a", 0.6), item("y", "goroutine running as it always does\nthe disk of the first host was full", "b", 0.6)},
			[]float64{full, full},
		},
		{
			"the same content for two labels",
			[]Testimony{item("x", "the disk was full", "a", 0.6), item("y", "the disk was full", "b", 0.6)},
			[]float64{full / 4, full / 4},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s := weigh(tc.items...)
			for i, want := range tc.want {
				near(t, "nats", s.Nats[i], want)
			}
		})
	}
}

func TestOfARepetitionTheStrongestCounts(t *testing.T) {
	t.Parallel()
	s := weigh(item("x", "the disk was full", "a", 0.5), item("y", "the disk was full", "a", 0.9))
	if s.Flaws[0] != (Flaw{Kind: Repeats, Other: 1}) || s.Flaws[1].Kind != Sound {
		t.Errorf("flaws %v", s.Flaws)
	}
}

func TestASourceStaysWithinItsCap(t *testing.T) {
	t.Parallel()
	var items []Testimony
	for _, content := range []string{"one", "two", "three", "four"} {
		items = append(items, item("x:"+content, content, "a", 0.95))
	}
	s := weigh(items...)
	near(t, "evidence", s.Evidence[0]-s.Evidence[1], 3.6)
}

func TestEachOfManySourcesIsOneSource(t *testing.T) {
	t.Parallel()
	const sources = 3 * fewSpeakers
	var items []Testimony
	for i := range 2 * sources {
		items = append(items, item(strconv.Itoa(i%sources), strings.Repeat("x", i+1), "a", 0.6))
	}
	full := 0.6 * math.Log(0.6*2/0.4)
	for i, nats := range weigh(items...).Nats {
		want := full
		if i >= sources {
			want /= 2 // said again
		}
		near(t, "item "+strconv.Itoa(i), nats, want)
	}
}

func TestLightIsOneCappedWitness(t *testing.T) {
	t.Parallel()
	s := Weigh(&Matter{Labels: labels, Light: &abi.LightAnswer{Classification: "a", Confidence: 0.99}})
	near(t, "P(a)", s.Of("a"), 0.99*math.E/(math.E+2)+0.01/3)
	check.Equal(t, s.Speaks("a"), 0, "Light's own word counts as evidence")
}

func TestTopAndRival(t *testing.T) {
	t.Parallel()
	even := weigh()
	if label, _ := even.Top("b"); label != "b" {
		t.Errorf("of equal labels Top gives %s, not the preferred", label)
	}
	if _, _, ok := even.Rival("a"); ok {
		t.Error("a label without evidence is a rival")
	}
	s := weigh(item("x", "one", "b", 0.8), item("y", "two", "c", 0.6))
	if label, _ := s.Top("a"); label != "b" {
		t.Errorf("Top = %s", label)
	}
	if rival, p, ok := s.Rival("b"); rival != "c" || p != s.Of("c") || !ok {
		t.Errorf("Rival = %s %v %v", rival, p, ok)
	}
}

// What speaks for a label is not undone by what speaks for another.
func TestSpeaksIsOneSided(t *testing.T) {
	t.Parallel()
	s := Weigh(&Matter{Labels: []string{"a", "b"}, Testimony: []Testimony{item("x", "one", "a", 0.7), item("y", "two", "b", 0.8)}})
	near(t, "for a", s.Speaks("a"), 0.7*math.Log(0.7/0.3))
	near(t, "for b", s.Speaks("b"), 0.8*math.Log(0.8/0.2))
	if rival, _, ok := s.Rival("b"); rival != "a" || !ok {
		t.Errorf("the weaker of two labels is no rival")
	}
}

// Light's word rests on the evidence that lies here: beside an item for its label it adds what it says beyond that, against one for another
// it counts in full.
func TestLightsWordIsNoSecondObservation(t *testing.T) {
	t.Parallel()
	light := &abi.LightAnswer{Classification: "a", Confidence: 0.6}
	for _, tc := range []struct {
		name string
		item Testimony
		want float64 // the log-odds of a and c
	}{
		{"nothing", item("x", "", "", 0), 1},
		{"less than Light", item("x", "a sound statement", "a", 0.6), 1},
		{"more than Light", item("x", "a sound statement", "a", 0.8), 0.8 * math.Log(8)},
		{"another label", item("x", "a sound statement", "b", 0.8), 1},
	} {
		s := Weigh(&Matter{Labels: labels, Testimony: []Testimony{tc.item}, Light: light})
		doubtless := func(label string) float64 { return s.Of(label) - 0.01/3 }
		near(t, tc.name, math.Log(doubtless("a")/doubtless("c")), tc.want)
	}
}

// However many unknown witnesses there are, and however sure they are, beside measured ones they don't decide; where those are
// silent, they count a little.
func TestUnknownSourcesBesideMeasuredOnesDecideNothing(t *testing.T) {
	t.Parallel()
	p := &abi.Profile{Name: "p", SignalCap: 1, Sources: []abi.SourceReliability{{Source: "known", Share: 1, Cap: 3, Stated: &abi.LogitMap{Slope: 1}}}}
	m := &Matter{Labels: labels, Profile: p, Testimony: []Testimony{item("known:1", "says so", "a", 0.7)}}
	alone := Weigh(m)
	for i := range 10 {
		m.Testimony = append(m.Testimony, item(string(rune('q'+i))+":1", "something else "+string(rune('q'+i)), "b", 0.99))
	}
	s := Weigh(m)
	if top, _ := s.Top(""); top != "a" {
		t.Errorf("they decide for %s: %v", top, s.Posterior)
	}
	if s.Of("b") <= alone.Of("b") {
		t.Errorf("they count nothing: %v", s.Posterior)
	}
	m.Testimony = m.Testimony[1:]
	if top, most := Weigh(m).Top(""); top != "b" || most > 0.5 {
		t.Errorf("where no measured source speaks, %s is at %v", top, most)
	}
}

// said is what a language model says, in quotes that stand.
func said(model, quote, label string) abi.Finding {
	return abi.Finding{Document: "log", Quote: quote, Supports: label, Strength: 1, Source: abi.ModelSource + model}
}

// However many lines unmeasured language models quote, and however sure they are, together they count as much as Light.
func TestUnmeasuredModelsAreAWeakSource(t *testing.T) {
	t.Parallel()
	m := &Matter{Labels: labels, Findings: []abi.Finding{said("x", "the disk was full", "b"), said("x", "nothing else was wrong", "b")}}
	s := Weigh(m)
	near(t, "one model", s.Evidence[1]-s.Evidence[0], 1)
	m.Findings = append(m.Findings, said("y", "the network was down as well", "b"))
	s = Weigh(m)
	near(t, "two models", s.Evidence[1]-s.Evidence[0], 1)
}

// What the other evidence says leads, however close it is, and whatever an unmeasured model quotes: not even the quotes of that evidence
// itself, for another label, have it count less.
func TestAnUnmeasuredModelDecidesNothing(t *testing.T) {
	t.Parallel()
	lines := []string{"the disk of the first host was full", "the network of the second was down"}
	m := &Matter{Labels: labels, Testimony: []Testimony{item("x", lines[0], "a", 0.61), item("y", lines[1], "b", 0.6)}}
	alone := Weigh(m)
	check.Equal(t, alone.Settled(), alone, "without a model nothing is set aside")
	for _, label := range labels {
		for _, quoted := range []string{"a", "b", "c"} {
			m.Findings = []abi.Finding{said("x", lines[0], label), said("x", lines[1], quoted), said("y", lines[1], label)}
			s := Weigh(m)
			if top, _ := s.Top("b"); top != "a" {
				t.Errorf("a model for %s and %s decides for %s: %v", label, quoted, top, s.Posterior)
			}
			if s.Flaws[0] != (Flaw{}) || s.Flaws[1] != (Flaw{}) {
				t.Errorf("a model for %s and %s makes flaws %v", label, quoted, s.Flaws)
			}
			if !slices.Equal(s.Settled().Posterior, alone.Posterior) {
				t.Errorf("settled %v, want %v", s.Settled().Posterior, alone.Posterior)
			}
		}
	}
	m.Findings = []abi.Finding{said("x", "a line of its own", "b")}
	if s := Weigh(m); s.Of("b") <= alone.Of("b") {
		t.Errorf("a model counts nothing: %v, alone %v", s.Posterior, alone.Posterior)
	}
	// A measured model counts by its table where an item of the case has its statement. A persona may say what it likes of a model.
	m.Profile = &abi.Profile{Name: "p", Sources: []abi.SourceReliability{{Source: "model:x", Share: 1, Cap: 3, Stated: &abi.LogitMap{Slope: 1}}}}
	if s := Weigh(m); slices.Max(s.Settled().Posterior) > 0.4 || s.Of("b") > 0.45 {
		t.Errorf("a persona speaks for a measured model: %v", s.Posterior)
	}
	m.Testimony, m.Findings = append(m.Testimony, item("model:x", "a line of its own", "b", 0.9)), nil
	s := Weigh(m)
	if top, _ := s.Top(""); top != "b" || s.Settled() != s {
		t.Errorf("a measured model counts by its table: %v", s.Posterior)
	}
}

package calibrate

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/shadowcourt/shadowcourt/abi"
)

func method(t *testing.T, id MethodID) Method {
	t.Helper()
	for _, m := range Methods() {
		if m.ID == id {
			return m
		}
	}
	t.Fatalf("no method %q", id)
	return Method{}
}

func says(source, label string, confidence float64) Statement {
	return Statement{Source: source, Label: label, Confidence: confidence}
}

func caseOf(truth, light string, confidence float64, statements ...Statement) *BaselineCase {
	return &BaselineCase{
		Labels: []string{"a", "b", "c"}, Truth: truth, Light: says(LightSource, light, confidence), Statements: statements,
	}
}

// withWords puts words into a case, so many times each.
func withWords(c *BaselineCase, times int, words ...string) *BaselineCase {
	c.Words = map[string]int{}
	for _, word := range words {
		c.Words[word] = times
	}
	return c
}

func TestNewCase(t *testing.T) {
	t.Parallel()
	c := NewBaselineCase(&abi.Case{
		ID: "1", Group: "g", Labels: []string{"a", "b"},
		Light: &abi.LightAnswer{Classification: "b", Confidence: .6},
		Evidence: []abi.Evidence{
			{SourceRef: "log:L7", Content: "Disk FULL, 0x1F 42", RelevanceConfidence: .5, Supports: "b"},
			{SourceRef: "log:L9", Content: "", RelevanceConfidence: .4, Supports: "a"},
			{SourceRef: "log#x", Content: "", RelevanceConfidence: .3, Supports: "a"}, // log says a: 0.7 against 0.5
			{SourceRef: "rule", Content: "disk", RelevanceConfidence: .9, Supports: "b"},
			{SourceRef: "tied:1", RelevanceConfidence: .2, Supports: "b"},
			{SourceRef: "tied:2", RelevanceConfidence: .2, Supports: "a"}, // the label that comes first
			{SourceRef: "mute", Content: "é", RelevanceConfidence: 1},
		},
		Documents: []abi.Document{{Name: "unread", Text: "disk über_all x 1234"}},
	}, "a")
	want := BaselineCase{
		ID: "1", Group: "g", Labels: []string{"a", "b"}, Truth: "a", Light: says(LightSource, "b", .6),
		Statements: []Statement{says("log", "a", .4), says("rule", "b", .9), says("tied", "a", .2)},
		Words:      map[string]int{"0x1f": 1, "all": 1, "disk": 3, "full": 1, "é": 1, "über": 1},
	}
	if d := cmp.Diff(want, c); d != "" {
		t.Error(d)
	}
}

func TestVotesByHand(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name                      string
		c                         *BaselineCase
		plain, confident, logOdds string
	}{
		{"Light alone", caseOf("", "b", .3), "b", "b", "a"}, // less than chance speaks for the others
		{"Light alone, better than chance", caseOf("", "b", .35), "b", "b", "b"},
		{"one against one", caseOf("", "b", .6, says("x", "a", .9)), "b", "a", "a"}, // a tie of one vote each goes to Light
		// a: 2 votes, 1.1, 0.4055-0.4055+2*0.693; b: 1 vote, 0.9, 2.197+0.693
		{"many against a sure one", caseOf("", "a", .6, says("x", "a", .4), says("y", "b", .9)), "a", "a", "b"},
		// b and c have two votes, Light's label one: the first in the case's order
		{"tie without Light", caseOf("", "a", .5, says("w", "c", .5), says("x", "b", .5), says("y", "c", .5), says("z", "b", .5)), "b", "b", "b"},
		{"equal stated confidence", caseOf("", "c", .7, says("x", "a", .7)), "c", "c", "c"},
		{"certain", caseOf("", "a", 1, says("x", "b", .99), says("y", "b", .99)), "b", "b", "b"}, // 6.9 against 2*4.6
	} {
		for id, want := range map[MethodID]string{
			PlainVote: test.plain, ConfidenceVote: test.confident, LogOddsVote: test.logOdds, LightAlone: test.c.Light.Label,
		} {
			if got := method(t, id).Rule(nil)(test.c); got != want {
				t.Errorf("%s: the %s says %s, want %s", test.name, id, got, want)
			}
		}
	}
}

func TestBestWitnessByHand(t *testing.T) {
	t.Parallel()
	var training []*BaselineCase
	// Ten cases, Light right in five. x speaks in all and is right in eight: 9/12 = 0.75. y speaks in two and is right in
	// both, Light right in one of them: (2*3/4 + 8*5/10)/10 = 0.55. z is always wrong.
	for i := range 10 {
		light, x := "b", "a"
		if i < 5 {
			light = "a"
		}
		if i >= 8 {
			x = "b"
		}
		c := caseOf("a", light, .6, says("x", x, .5))
		if i == 0 || i == 9 {
			c.Statements = append(c.Statements, says("y", "a", .99))
		}
		c.Statements = append(c.Statements, says("z", "c", .99))
		training = append(training, c)
	}
	training = append(training, caseOf("", "a", .9, says("z", "a", 1))) // teaches nothing
	rule := method(t, BestWitness).Rule(training)
	if got := rule(caseOf("", "a", .6, says("x", "b", .1), says("y", "c", 1))); got != "b" {
		t.Errorf("follows another than x: %s", got)
	}
	if got := rule(caseOf("", "a", .6, says("y", "c", 1))); got != "a" {
		t.Errorf("x is silent, and the answer is %s", got)
	}
	for _, c := range training {
		c.Statements = slices.DeleteFunc(c.Statements, func(s Statement) bool { return s.Source == "x" || s.Source == "y" })
	}
	if got := method(t, BestWitness).Rule(training)(caseOf("", "a", .6, says("z", "c", 1), says("", "b", 1))); got != "a" {
		t.Errorf("a witness worse than Light is followed: %s", got)
	}
}

func TestNaiveBayesByHand(t *testing.T) {
	t.Parallel()
	training := []*BaselineCase{
		withWords(caseOf("a", "a", .6, says("x", "b", .5)), 1, "disk", "full"),
		withWords(caseOf("a", "a", .6, says("x", "b", .5)), 1, "disk"),
		withWords(caseOf("b", "a", .6, says("x", "a", .5)), 1, "full", "once"),
		caseOf("", "c", .6, says("x", "c", .5)),
	}
	rule := method(t, NaiveBayes).Rule(training)
	// Priors 3/6, 2/6, 1/6. Light says a: 3/5, 2/4, 1/3. Without more: a.
	if got := rule(caseOf("", "a", .6)); got != "a" {
		t.Errorf("prior: %s", got)
	}
	// x says a: 1/5 for a, 2/4 for b, 1/3 for c. a: .5*.6*.2 = .06; b: .333*.5*.5 = .083; c: .167*.333*.333 = .019.
	if got := rule(caseOf("", "a", .6, says("x", "a", .1))); got != "b" {
		t.Errorf("a witness that is always mistaken: %s", got)
	}
	// The vocabulary is disk, full ("once" stands in one case only). disk: 3/5 for a, 1/3 for b, 1/2 for c: a again, .036
	// against .028.
	if got := rule(withWords(caseOf("", "a", .6, says("x", "a", .1)), 1, "disk", "once", "never")); got != "a" {
		t.Errorf("text: %s", got)
	}
	if got := method(t, NaiveBayes).Rule(nil)(caseOf("", "b", .6)); got != "b" {
		t.Errorf("fitted on nothing it answers %s, not Light's answer", got)
	}
}

func TestLogisticRegression(t *testing.T) {
	t.Parallel()
	var training []*BaselineCase
	for i := range 30 {
		// x says a or b and is right where both are; the word says what the label is where it stands.
		training = append(training,
			withWords(caseOf("a", "b", .6, says("x", "a", .5+float64(i)/100)), 1, "ash", "the"),
			withWords(caseOf("b", "b", .6, says("x", "b", .6)), 3, "bee", "the"),
			withWords(caseOf("c", "b", .6), 1, "cat", "the"))
	}
	rule := method(t, Logistic).Rule(append(training, caseOf("", "c", .9)))
	for _, test := range []struct {
		c    *BaselineCase
		want string
	}{
		{caseOf("", "b", .6, says("x", "a", .6)), "a"},
		{caseOf("", "b", .6, says("x", "b", .6)), "b"},
		{withWords(caseOf("", "b", .6), 1, "cat", "new"), "c"},
		{withWords(caseOf("", "b", .6, says("y", "a", .9)), 9, "bee", "the"), "b"},
	} {
		if got := rule(test.c); got != test.want {
			t.Errorf("%v %v: %s", test.c.Statements, test.c.Words, got)
		}
	}
	other := caseOf("", "e", .6)
	other.Labels = []string{"d", "e"}
	if got := rule(other); got != "e" {
		t.Errorf("of labels that it never saw it says %s, not what Light says", got)
	}
	if got := method(t, Logistic).Rule(nil)(caseOf("", "b", .6)); got != "b" {
		t.Errorf("fitted on nothing it answers %s, not Light's answer", got)
	}
}

// TestChooseIsHonest: labels that no source and no text knows anything of, in groups that each have a word of their own.
// A naive Bayes that saw a group's other cases would be right in all of them.
func TestChooseIsHonest(t *testing.T) {
	t.Parallel()
	r := randOf(5, "honest")
	labels := []string{"a", "b", "c"}
	var cases []*BaselineCase
	for g := range 60 {
		truth := labels[r.IntN(3)]
		for range 4 {
			c := caseOf(truth, labels[r.IntN(3)], .6)
			c.Group = fmt.Sprint("g", g)
			cases = append(cases, withWords(c, 1, fmt.Sprint("word", g)))
		}
	}
	right, counted := crossValidate(cases, func(*BaselineCase) bool { return true }, randOf(1, "folds"))
	if counted != 240 {
		t.Fatalf("%d counted", counted)
	}
	for i, m := range Methods() {
		if right[i] > 120 { // a third is 80, with a standard deviation of about 13 over groups
			t.Errorf("%s knows what nobody can: %d of %d", m.ID, right[i], counted)
		}
	}
}

func TestChoosePicksTheBestAndTheSimplerOfTwo(t *testing.T) {
	t.Parallel()
	var cases []*BaselineCase
	for i := range 100 {
		truth := []string{"a", "b", "c"}[i%3]
		cases = append(cases, caseOf(truth, "a", .6, says("mute", "b", .9), says("wise", truth, .2)))
	}
	if _, f := choose(cases, &Options{Seed: 1, Activation: 1}); f.Best != BestWitness { // naive Bayes is as good, and comes later
		t.Errorf("chose %s", f.Best)
	}
	if _, counted := crossValidate(cases, func(*BaselineCase) bool { return false }, randOf(1, "folds")); counted != 0 {
		t.Errorf("of no case: %d counted", counted)
	}
}

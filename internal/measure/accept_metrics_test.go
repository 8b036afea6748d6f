package measure

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/testkit/check"
	"github.com/shadowcourt/shadowcourt/internal/testkit/must"
)

// ratio is a share without its interval.
type ratio struct{ count, of int }

func ratioOf(s Share) ratio { return ratio{s.Count, s.Of} }

// wantShare checks a share against counts worked by hand, and its value against their quotient.
func wantShare(t *testing.T, name string, got Share, count, of int) {
	t.Helper()
	if ratioOf(got) != (ratio{count, of}) {
		t.Errorf("%s: %d of %d, want %d of %d", name, got.Count, got.Of, count, of)
	}
	switch {
	case of == 0 && (got.Share != nil || got.Interval != nil):
		t.Errorf("%s: a share of nothing is %v", name, *got.Share)
	case of > 0 && (got.Share == nil || *got.Share != float64(count)/float64(of)):
		t.Errorf("%s: share %v", name, got.Share)
	case of > 0 && (got.Interval == nil || got.Interval.Low > *got.Share || got.Interval.High < *got.Share):
		t.Errorf("%s: %v lies outside of %v", name, *got.Share, got.Interval)
	}
}

// flipTable: ten cases before the court. By hand: 5 flips (cases 2 to 6); of those with a known truth one to right (2), one
// from right to wrong (3), two between (4, 5); 6 has no truth. Cases 1, 7, 8 keep Light's answer or are left open. Case 9
// came to another answer of Light's by a remand and was accepted: a flip to right. 10 was left open, though Light was wrong.
func flipTable() []Observation {
	accepted := func(o *Observation) { o.Status, o.Remands = trial.Accepted, 1 }
	return []Observation{
		tried("a", .6, "a", .9, "a"),
		tried("a", .6, "b", .9, "b"),
		tried("a", .6, "b", .9, "a"),
		tried("a", .6, "b", .9, "c"),
		tried("b", .6, "a", .9, "c"),
		tried("a", .6, "b", .9, ""),
		tried("a", .6, "", .3, "a"),
		tried("a", .6, "a", .7, "b"),
		with(tried("a", .6, "c", .9, "c"), accepted),
		tried("a", .6, "", .3, "b"),
		untried("a", .9, "a"), untried("a", .9, "b"), untried("a", .2, "b"), // not before the court
	}
}

func TestAccept_ME1_FlipRate(t *testing.T) {
	t.Parallel()
	f := MetricsOf(flipTable()).Flips
	wantShare(t, "flip rate", f.Rate, 6, 10)
	if f.ToRight != 2 || f.ToWrong != 1 || f.Between != 2 {
		t.Errorf("to right %d, to wrong %d, between %d; want 2, 1, 2", f.ToRight, f.ToWrong, f.Between)
	}
}

func onTrial(truth string, answers ...OnTrial) Observation {
	return with(tried("a", .6, "a", .8, truth), func(o *Observation) {
		o.OnTrial, o.Remands = answers, max(0, len(answers)-1)
	})
}

func TestAccept_ME2_DefenseChallengeAccuracy(t *testing.T) {
	t.Parallel()
	// By hand: challenged answers with a known truth are those of cases 1 (wrong), 2 (right), 5 (both: a wrong, c right):
	// 4, of which 2 are wrong. Wrong answers before a defense: 1, 3, 5's a: 3, of which 2 were challenged.
	d := MetricsOf([]Observation{
		onTrial("b", OnTrial{Label: "a", Challenged: true}),
		onTrial("a", OnTrial{Label: "a", Challenged: true}),
		onTrial("b", OnTrial{Label: "a"}),
		onTrial("a", OnTrial{Label: "a"}),
		onTrial("c", OnTrial{Label: "a", Challenged: true}, OnTrial{Label: "c", Challenged: true}),
		onTrial("", OnTrial{Label: "a", Challenged: true}), // no truth
		onTrial("b"), // ended before the defense
	}).Defense
	wantShare(t, "challenged that were wrong", d.Precision, 2, 4)
	wantShare(t, "wrong that were challenged", d.Recall, 2, 3)
}

func TestAccept_ME2_WhatCountsAsAChallenge(t *testing.T) {
	t.Parallel()
	weak := []abi.Challenge{{Severity: abi.Minor}, {Severity: abi.Weakening}}
	for name, test := range map[string]struct {
		brief abi.DefenseBrief
		want  bool
	}{
		"nothing":       {abi.DefenseBrief{}, false},
		"plea":          {abi.DefenseBrief{PleaDeal: true}, false},
		"weak":          {abi.DefenseBrief{Challenges: weak}, false},
		"fatal":         {abi.DefenseBrief{Challenges: append(weak, abi.Challenge{Severity: abi.Fatal})}, true},
		"motion":        {abi.DefenseBrief{MotionToDismiss: true}, true},
		"alternative":   {abi.DefenseBrief{AlternativeHypothesis: &abi.AlternativeHypothesis{Label: "b"}}, true},
		"weak and plea": {abi.DefenseBrief{Challenges: weak, PleaDeal: true}, false},
	} {
		o := Observe(&trial.Trial{
			Result: trial.Result{Activated: true}, Passes: []trial.Pass{{Light: abi.LightAnswer{Classification: "a"}, Brief: &test.brief}, {}},
		})
		if len(o.OnTrial) != 1 || o.OnTrial[0] != (OnTrial{Label: "a", Challenged: test.want}) {
			t.Errorf("%s: %+v", name, o.OnTrial)
		}
	}
}

func TestAccept_ME3_RemandEffectiveness(t *testing.T) {
	t.Parallel()
	remanded := func(o *Observation) { o.Remands = 1 }
	// By hand: five were remanded, four of them with a known truth: one wrong and then right (1), one right and then wrong
	// (2), one wrong and left open, which counts as Light's first answer (3), one right before and after (4).
	m := MetricsOf([]Observation{
		with(tried("a", .6, "b", .8, "b"), remanded),
		with(tried("a", .6, "b", .8, "a"), remanded),
		with(tried("a", .6, "", .3, "b"), remanded),
		with(tried("a", .6, "a", .8, "a"), remanded),
		with(tried("a", .6, "b", .8, ""), remanded),
		tried("a", .6, "b", .8, "b"), // not remanded
	}).Remands
	check.Equal(t, m.Cases, 5, "remanded")
	wantShare(t, "wrong before, right after", m.ToRight, 1, 4)
	wantShare(t, "right before, wrong after", m.ToWrong, 1, 4)
}

func TestAccept_ME4_VerdictsAsExpected(t *testing.T) {
	t.Parallel()
	expects := func(o Observation, d abi.Decision) Observation {
		o.Expected = d
		return o
	}
	// By hand: of five expectations before the court the first, third and fifth are met.
	v := MetricsOf([]Observation{
		expects(tried("a", .6, "a", .8, "a"), abi.Affirm),
		expects(tried("a", .6, "a", .8, ""), abi.Amend),
		expects(tried("a", .6, "b", .8, ""), abi.Amend),
		expects(tried("a", .6, "", .3, "b"), abi.Amend),
		expects(tried("a", .6, "", .3, ""), abi.Acquit),
		tried("a", .6, "a", .8, "a"),
		expects(untried("a", .9, "a"), abi.Affirm), // not before the court
	}).Verdicts
	wantShare(t, "verdicts as expected", v, 3, 5)
}

func TestAccept_ME4_AMistrialIsOneWhateverTheLastVerdictWas(t *testing.T) {
	t.Parallel()
	verdict := &trial.Ruling{Decision: abi.Remand}
	outcome := &trial.Trial{Result: trial.Result{Activated: true, Verdict: verdict, Final: trial.Final{Status: trial.Mistrial}}}
	if o := Observe(outcome); o.Decision != abi.Mistrial {
		t.Errorf("decision %q, want mistrial", o.Decision)
	}
	outcome.Result.Final.Status, verdict.Decision = trial.Acquitted, abi.Acquit
	if o := Observe(outcome); o.Decision != abi.Acquit {
		t.Errorf("decision %q, want acquit", o.Decision)
	}
}

func TestAccept_ME5_EmptyDocketAndMissingTruth(t *testing.T) {
	t.Parallel()
	untold := []Observation{tried("a", .6, "b", .8, ""), with(tried("a", .6, "a", .8, ""), func(o *Observation) {
		o.Remands, o.OnTrial = 1, []OnTrial{{Label: "a", Challenged: true}}
	})}
	for name, list := range map[string][]Observation{"empty": nil, "no truth": untold, "none tried": {untried("a", .9, "a")}} {
		m := MetricsOf(list)
		flips, cases := 0, 0
		if name == "no truth" {
			flips, cases = 1, 2
			check.Equal(t, m.Remands.Cases, 1, name, "remands")
		}
		wantShare(t, name+": flips", m.Flips.Rate, flips, cases)
		check.Equal(t, m.Flips.ToRight+m.Flips.ToWrong+m.Flips.Between, 0, name, "flips with a direction", m.Flips)
		for what, share := range map[string]Share{
			"precision": m.Defense.Precision, "recall": m.Defense.Recall,
			"to right": m.Remands.ToRight, "to wrong": m.Remands.ToWrong, "verdicts": m.Verdicts,
		} {
			wantShare(t, name+": "+what, share, 0, 0)
		}
		if r := Measure(list, nil); r.Band.Finding != NotWorse || r.Band.P != 1 || r.Bands != nil {
			t.Errorf("%s: finds %+v", name, r.Band)
		}
	}
}

// TestComparisonByHand: seven cases with a known truth in the band and three outside. The court, where it leaves a case
// open, counts as Light.
//
//	case  truth  Light  court  counts as  Light right  court right
//	1     a      a      a      a          yes          yes
//	2     b      a      b      b          no           yes
//	3     a      a      b      b          yes          no
//	4     c      a      b      b          no           no
//	5     c      b      a      a          no           no
//	7     a      a      -      a          yes          yes
//	8     b      a      a      a          no           no
//	9     c      a      c      c          no           yes
//	10    b      a      -      a          no           no
func TestAccept_ME5_ComparisonByHand(t *testing.T) {
	t.Parallel()
	r := Measure(flipTable(), nil)
	wantShare(t, "court in the band", r.Band.Court, 4, 9)
	wantShare(t, "Light in the band", r.Band.Light, 3, 9)
	wantShare(t, "coverage", r.Band.Coverage, 7, 9)
	// Outside: accepted a/a is right, accepted a/b wrong, rejected a/b counts as Light's answer: wrong.
	wantShare(t, "court overall", r.Overall.Court, 5, 12)
	wantShare(t, "Light overall", r.Overall.Light, 4, 12)
	// Of three differing cases two: P = 2 * (1+3)/8, at most 1.
	if b := &r.Band; b.CourtOnly != 2 || b.LightOnly != 1 || b.P < 1-1e-12 || b.Finding != NotWorse {
		t.Errorf("difference to Light: %+v", b)
	}
	if r.Cases.Cases != 13 || r.Cases.Known != 12 || r.Cases.Tried != 10 {
		t.Errorf("cases %+v", r.Cases)
	}
}

// duel are n cases in the band: plus that only the court has right, minus that only Light has, the others both.
func duel(n, plus, minus int) []Observation {
	var list []Observation
	for i := range n {
		switch {
		case i < plus:
			list = append(list, tried("b", .6, "a", .8, "a"))
		case i < plus+minus:
			list = append(list, tried("a", .6, "b", .8, "a"))
		default:
			list = append(list, tried("a", .6, "a", .8, "a"))
		}
	}
	return list
}

func TestFindings(t *testing.T) {
	t.Parallel()
	oneGroup := duel(100, 12, 0)
	for i := range 12 {
		oneGroup[i].Group = "one"
	}
	for _, test := range []struct {
		name string
		list []Observation
		want Finding
	}{
		{"six ahead", duel(100, 6, 0), Better},
		{"five ahead: the test can't tell", duel(100, 5, 0), NotWorse},
		{"twelve ahead, all of one group", oneGroup, NotWorse},
		{"six behind", duel(100, 0, 6), Worse},
		{"all alike", duel(40, 0, 0), NotWorse},
		{"a little behind", duel(100, 3, 4), NotWorse},
	} {
		if r := Measure(test.list, nil); r.Band.Finding != test.want || r.Overall.Finding != test.want {
			t.Errorf("%s: %s, want %s (%+v)", test.name, r.Band.Finding, test.want, r.Band)
		}
	}
}

func TestGroupsWidenTheIntervals(t *testing.T) {
	t.Parallel()
	single := duel(200, 40, 10)
	grouped := slices.Clone(single)
	for i := range grouped {
		grouped[i].Group = strconv.Itoa(i / 10)
	}
	a, b := Measure(single, nil).Band, Measure(grouped, nil).Band
	width := func(s Share) float64 { return s.Interval.High - s.Interval.Low }
	if width(b.Court) <= width(a.Court) || b.P <= a.P {
		t.Errorf("the groups make no difference: %+v, %+v", a, b)
	}
}

// TestTheDocumentationHasEveryField: docs/measuring.md names each field of the JSON.
func TestTheDocumentationHasEveryField(t *testing.T) {
	t.Parallel()
	page := must.Get(os.ReadFile(filepath.Join("..", "..", "docs", "measuring.md")))(t)
	data := must.Get(json.Marshal(Measure(duel(100, 40, 0), &BandOptions{})))(t)
	for _, field := range regexp.MustCompile(`"(\w+)":`).FindAllSubmatch(data, -1) {
		if !bytes.Contains(page, append(append([]byte("`"), field[1]...), '`')) {
			t.Errorf("the page does not name %s", field[1])
		}
	}
}

// tried is a case that went before the court: Light's answer with its confidence, the court's with its own ("" leaves it
// open), and the right label.
func tried(light string, stated float64, court string, final float64, truth string) Observation {
	status := trial.Affirmed
	decision := abi.Affirm
	switch court {
	case "":
		status, decision = trial.Acquitted, abi.Acquit
	case light:
	default:
		status, decision = trial.Amended, abi.Amend
	}
	return Observation{
		Truth: truth, Light: trial.Answer{Classification: light, Confidence: stated},
		Activated: true, Status: status, Decision: decision, Final: trial.Answer{Classification: court, Confidence: final},
	}
}

// with changes an observation.
func with(o Observation, change func(*Observation)) Observation {
	change(&o)
	return o
}

// untried is a case that Light was sure of, or hopeless at.
func untried(light string, stated float64, truth string) Observation {
	o := tried(light, stated, "", 0, truth)
	o.Activated, o.Decision, o.Status = false, "", trial.Rejected
	if stated >= 0.85 {
		o.Status, o.Final = trial.Accepted, trial.Answer{Classification: light, Confidence: stated}
	}
	return o
}

package calibrate

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

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
		oneGroup[i].Case.Group = "one"
	}
	for _, test := range []struct {
		name string
		list []Observation
		want Finding
		says string
	}{
		{"too few cases for anything", duel(19, 19, 0), Undecided, "is not shown to beat"},
		{"six ahead", duel(100, 6, 0), Better, "beats"},
		{"five ahead: the sign test could not tell", duel(100, 5, 0), NonInferior, "is ahead of Light alone, but they differ in too few cases"},
		{"twelve ahead, all of one group", oneGroup, NonInferior, "does not beat"},
		{"six behind", duel(100, 0, 6), Worse, "does not beat Light alone, it is worse"},
		{"all alike", duel(40, 0, 0), NonInferior, "does not beat Light alone, but is not worse"},
		{"one behind of many: within the margin", duel(300, 0, 1), NonInferior, "does not beat"},
		{"a little behind", duel(100, 3, 4), Undecided, "is not shown to beat"},
		{"even, and the interval is narrow", duel(90, 3, 3), Level, "is level with Light alone, and not shown to be as good"},
		{"even, and the interval is wide", duel(30, 5, 5), Undecided, "is not shown to beat"},
	} {
		r := Measure(test.list, nil, options())
		if r.Conclusion.Light != test.want {
			t.Errorf("%s: %s, want %s (%+v)", test.name, r.Conclusion.Light, test.want, r.Band.Rivals[0].Difference)
		}
		if !strings.HasPrefix(r.Conclusion.Text[0], "The court "+test.says) {
			t.Errorf("%s: %q", test.name, r.Conclusion.Text[0])
		}
	}
}

// TestTheBestIsChosenOnTheFittingHalf: in the fitting half's band a witness with high confidences knows; outside of it, and
// in the tested half, the same witness is always wrong.
func TestTheBestIsChosenOnTheFittingHalf(t *testing.T) {
	t.Parallel()
	sample := func(light string, stated float64, witness string, confidence float64, truth string) BaselineCase {
		return BaselineCase{
			Labels: []string{"a", "b"}, Truth: truth, Light: Statement{Source: LightSource, Label: light, Confidence: stated},
			Statements: []Statement{{Source: "witness", Label: witness, Confidence: confidence}},
		}
	}
	var fitting []*BaselineCase
	for i := range 240 {
		truth, other := "a", "b"
		if i%2 == 0 {
			truth, other = other, truth
		}
		c := sample(truth, .9, other, .99, truth)
		if i < 40 {
			c = sample([]string{"a", "b"}[i/2%2], .6, truth, .9, truth)
		}
		fitting = append(fitting, &c)
	}
	var tested []Observation
	for range 30 {
		o := tried("a", .6, "a", .8, "a")
		o.Case = sample("a", .6, "b", .9, "a")
		tested = append(tested, o)
	}
	r := Measure(tested, fitting, options())
	f := r.Fitting
	if !f.Band || f.Counted != 40 || f.Cases != 240 || f.Best != ConfidenceVote {
		t.Errorf("chosen on the fitting half: %+v", f)
	}
	for i, s := range f.Scores[:3] {
		if want := []int{20, 20, 40}[i]; s.Accuracy.Count != want {
			t.Errorf("%s has %d right in the band of the fitting half, want %d", s.ID, s.Accuracy.Count, want)
		}
	}
	if c := r.Conclusion; c.Beside != ConfidenceVote || c.ByHindsight || c.Best != Better || c.Light != NonInferior {
		t.Errorf("the court is set beside another: %+v", c)
	}
	for i := range r.Band.Rivals {
		if rival := &r.Band.Rivals[i]; rival.Chosen != (rival.ID == ConfidenceVote) {
			t.Errorf("%s: chosen %t", rival.ID, rival.Chosen)
		}
	}
	// Without a fitting half: the best in the tested cases, said to be so, and nothing fitted.
	r = Measure(tested, nil, options())
	if c := r.Conclusion; c.Beside != LightAlone || !c.ByHindsight || r.Fitting != nil {
		t.Errorf("by hindsight: %+v", c)
	}
	if slices.ContainsFunc(r.Band.Rivals, func(v Rival) bool {
		return slices.Contains([]MethodID{BestWitness, NaiveBayes, Logistic}, v.ID)
	}) {
		t.Error("a fitted baseline without a half to fit on")
	}
	// With too few in the fitting half's band, all of it counts.
	if r = Measure(tested, fitting[25:], options()); r.Fitting.Band || r.Fitting.Counted != 215 || r.Fitting.Best != Logistic {
		t.Errorf("with 15 cases in the band: %+v", r.Fitting)
	}
}

func TestGroupsWidenTheIntervals(t *testing.T) {
	t.Parallel()
	single := duel(200, 40, 10)
	grouped := slices.Clone(single)
	for i := range grouped {
		grouped[i].Case.Group = fmt.Sprint("g", i/10)
	}
	a, b := Measure(single, nil, options()).Band, Measure(grouped, nil, options()).Band
	width := func(i Interval) float64 { return i.High - i.Low }
	if a.Clusters != 200 || b.Clusters != 20 {
		t.Errorf("%d and %d clusters", a.Clusters, b.Clusters)
	}
	if width(b.Rivals[0].Difference.Interval) < 1.5*width(a.Rivals[0].Difference.Interval) || width(*b.Court.Interval) <= width(*a.Court.Interval) {
		t.Errorf("the groups make no difference: %+v, %+v", a.Rivals[0].Difference, b.Rivals[0].Difference)
	}
}

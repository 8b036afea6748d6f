package calibrate

import (
	"testing"
)

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
	r := Measure(flipTable(), nil, Options{Activation: .85, Rejection: .5, Resamples: 200, Simulations: 10})
	wantShare(t, "court in the band", r.Band.Court, 4, 9)
	wantShare(t, "Light in the band", r.Band.Rivals[0].Accuracy, 3, 9)
	wantShare(t, "coverage", r.Band.Coverage, 7, 9)
	wantShare(t, "court where it named a label", r.Band.Covered, 3, 7)
	// Outside: accepted a/a is right, accepted a/b wrong, rejected a/b counts as Light's answer: wrong.
	wantShare(t, "court overall", r.Overall.Court, 5, 12)
	wantShare(t, "Light overall", r.Overall.Rivals[0].Accuracy, 4, 12)
	d := r.Band.Rivals[0].Difference
	if d.CourtOnly != 2 || d.OtherOnly != 1 || d.Estimate != 1.0/9 {
		t.Errorf("difference to Light: %+v", d)
	}
	if d.SignTest < 1-1e-12 { // of three differing cases two: P = 2 * (1+3)/8, at most 1
		t.Errorf("sign test %v, want 1", d.SignTest)
	}
	if d.Finding != Undecided {
		t.Errorf("nine cases are found to be %q", d.Finding)
	}
	if r.Court.Cases != 7 || r.Light.Cases != 9 || r.LightOverall.Cases != 12 {
		t.Errorf("confidences of %d, %d and %d cases, want 7, 9 and 12", r.Court.Cases, r.Light.Cases, r.LightOverall.Cases)
	}
	if r.Cases.Cases != 13 || r.Cases.Known != 12 || r.Cases.Tried != 10 {
		t.Errorf("cases %+v", r.Cases)
	}
}

func TestAccept_ME5_ThresholdsByHand(t *testing.T) {
	t.Parallel()
	list := []Observation{
		tried("a", .50, "b", .9, "b"), // right before the court, wrong by Light
		tried("a", .60, "b", .9, "a"), // the reverse
		tried("a", .80, "b", .9, "b"),
		untried("a", .90, "a"), untried("a", .30, "b"),
	}
	r := Measure(list, nil, Options{Activation: .85, Rejection: .5, Resamples: 10, Simulations: 10})
	if n := len(r.Thresholds); n != 8 || r.Thresholds[0].Threshold != .5 || r.Thresholds[n-1].Threshold != .85 {
		t.Fatalf("thresholds %+v", r.Thresholds)
	}
	for i, want := range []struct {
		threshold                                      float64
		tried, right, all, acceptedRight, acceptedOfIt int
	}{
		{.50, 0, 2, 5, 2, 4}, // nothing is tried: Light's answers
		{.55, 1, 3, 5, 2, 3},
		{.60, 1, 3, 5, 2, 3},
		{.65, 2, 2, 5, 1, 2},
	} {
		p := r.Thresholds[i]
		if p.Threshold != want.threshold || p.Tried != want.tried {
			t.Errorf("point %d: %+v, want %+v", i, p, want)
		}
		wantShare(t, "accuracy", p.Accuracy, want.right, want.all)
		wantShare(t, "accepted", p.Accepted, want.acceptedRight, want.acceptedOfIt)
	}
	last := r.Thresholds[7]
	wantShare(t, "at the threshold in force", last.Accuracy, 3, 5)
	if last.Tried != 3 {
		t.Errorf("%d tried at the threshold in force", last.Tried)
	}
}

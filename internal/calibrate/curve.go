package calibrate

import (
	"cmp"
	"slices"
)

// RiskCoverage says how well confidences tell right answers from wrong ones: the share of wrong answers among the surest of
// them (risk) over how many these are (coverage).
type RiskCoverage struct {
	Cases int `json:"cases"`
	// AURC is the area under the curve: the mean of the risk over the coverages 1/n, 2/n, ..., 1, answers of equal confidence in
	// any order. Nil without a case.
	AURC *float64 `json:"aurc"`
	// Ideal is the AURC if every right answer were surer than every wrong one, Unranked that of a confidence that tells
	// nothing: the share of wrong answers.
	Ideal    *float64 `json:"aurc_ideal"`
	Unranked *float64 `json:"aurc_unranked"`
	// Points of the curve, from the surest answers to all; each accepts at least a hundredth of the answers more than the one before.
	Points []CoveragePoint `json:"points"`
}

// CoveragePoint is what accepting the answers from a confidence on would give.
type CoveragePoint struct {
	Threshold float64 `json:"threshold"`
	Accepted  int     `json:"accepted"`
	Wrong     int     `json:"wrong"`
	Coverage  float64 `json:"coverage"`
	Risk      float64 `json:"risk"`
}

const pointsApart = 0.01

// RiskCoverageOf ranks answers by their confidence. The order of points has no influence.
func RiskCoverageOf(points []Point) RiskCoverage {
	out := RiskCoverage{Cases: len(points), Points: []CoveragePoint{}}
	if len(points) == 0 {
		return out
	}
	sorted := slices.SortedFunc(slices.Values(points), func(a, b Point) int { return cmp.Compare(b.Confidence, a.Confidence) })
	n, area := float64(len(sorted)), 0.0
	p := CoveragePoint{}
	for i := 0; i < len(sorted); {
		equal, wrong := 0, 0
		p.Threshold = sorted[i].Confidence
		for ; i < len(sorted) && sorted[i].Confidence == p.Threshold; i++ {
			equal++
			if !sorted[i].Right {
				wrong++
			}
		}
		for j := 1; j <= equal; j++ {
			area += (float64(p.Wrong) + float64(wrong*j)/float64(equal)) / float64(p.Accepted+j)
		}
		p.Accepted, p.Wrong = p.Accepted+equal, p.Wrong+wrong
		p.Coverage, p.Risk = float64(p.Accepted)/n, float64(p.Wrong)/float64(p.Accepted)
		if last := len(out.Points) - 1; last < 0 || i == len(sorted) || p.Coverage-out.Points[last].Coverage >= pointsApart {
			out.Points = append(out.Points, p)
		}
	}
	area /= n
	ideal := 0.0
	for wrong := 1; wrong <= p.Wrong; wrong++ {
		ideal += float64(wrong) / float64(len(sorted)-p.Wrong+wrong) / n
	}
	out.AURC, out.Ideal, out.Unranked = &area, &ideal, &p.Risk
	return out
}

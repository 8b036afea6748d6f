package report

import (
	"fmt"

	"github.com/shadowcourt/shadowcourt/internal/calibrate"
	"github.com/shadowcourt/shadowcourt/internal/calibrate/bands"
)

// row is one method in the tables.
type row struct {
	Mark, Name                    string
	Accuracy, Interval, Overall   string
	Difference, Between, SignTest string
	Finding                       calibrate.Finding
	CourtOnly, OtherOnly          int
}

// rows lists the court, and below it the baselines. The chosen one has a star.
func rows(r *calibrate.Report) []row {
	list := []row{{
		Name: "court", Accuracy: shareOnly(r.Band.Court), Interval: intervalText(r.Band.Court), Overall: shareOnly(r.Overall.Court),
	}}
	for i := range r.Band.Rivals {
		rival := &r.Band.Rivals[i]
		d := &rival.Difference
		out := row{
			Name: rival.Name, Accuracy: shareOnly(rival.Accuracy), Interval: intervalText(rival.Accuracy),
			Overall: shareOnly(r.Overall.Rivals[i].Accuracy), Finding: d.Finding,
			Difference: none, Between: none, SignTest: none, CourtOnly: d.CourtOnly, OtherOnly: d.OtherOnly,
		}
		if r.Band.Cases > 0 {
			out.Difference, out.SignTest = points(d.Estimate), probability(d.SignTest)
			out.Between = points(d.Interval.Low) + " to " + points(d.Interval.High)
		}
		if rival.Chosen {
			out.Mark = "*"
		}
		list = append(list, out)
	}
	return list
}

// coverageRows shows the curves of risk over coverage at every tenth: the first point that accepts at least so many.
func coverageRows(r *calibrate.Report) [][]string {
	if len(r.CourtRanking.Points)+len(r.LightRanking.Points) == 0 {
		return nil
	}
	var list [][]string
	for tenth := 1; tenth <= 10; tenth++ {
		row := []string{fmt.Sprintf("%d %%", 10*tenth)}
		for _, c := range []*bands.RiskCoverage{&r.CourtRanking, &r.LightRanking} {
			cells := []string{none, none}
			for _, p := range c.Points {
				if 10*p.Accepted >= tenth*c.Cases {
					cells = []string{fraction(p.Threshold), fmt.Sprintf("%d of %d (%.1f %%)", p.Wrong, p.Accepted, 100*p.Risk)}
					break
				}
			}
			row = append(row, cells...)
		}
		list = append(list, row)
	}
	return list
}

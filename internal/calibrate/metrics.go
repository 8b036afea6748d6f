package calibrate

// Share is a count of a number of cases. Share and Interval (Wilson's) are nil when there is none to count.
type Share struct {
	Count    int       `json:"count"`
	Of       int       `json:"of"`
	Share    *float64  `json:"share"`
	Interval *Interval `json:"interval"`
}

// shareOf counts independent cases.
func shareOf(count, of int) Share { return shareWorth(count, of, float64(of)) }

// shareWorth counts cases that are worth a number of independent ones.
func shareWorth(count, of int, worth float64) Share {
	s := Share{Count: count, Of: of}
	if of > 0 {
		share := float64(count) / float64(of)
		interval := wilson(share*worth, worth)
		s.Share, s.Interval = &share, &interval
	}
	return s
}

// clustered counts values of 0 and 1 whose cases belong together in clusters.
func clustered(values []float64, clusters []int) Share {
	return shareWorth(int(sum(values)), len(values), effectiveCases(values, clusters))
}

// Metrics are ME1 to ME4, over the cases that went before the court.
type Metrics struct {
	Flips   Flips   `json:"flips"`
	Defense Defense `json:"defense"`
	Remands Remands `json:"remands"`
	// Verdicts are the decisions that are as expected, of the cases with an expected verdict.
	Verdicts Share `json:"verdicts"`
}

// Flips are the cases in which the court named another label than Light's first answer (ME1).
type Flips struct {
	// Rate is over all cases that went before the court.
	Rate Share `json:"rate"`
	// ToRight, ToWrong (Light was right) and Between (both wrong) are counts of those whose right label is known.
	ToRight int `json:"to_right"`
	ToWrong int `json:"to_wrong"`
	Between int `json:"between"`
}

// Defense says whether the defense challenges the right answers of Light's (ME2). It counts answers, not cases: after a
// remand there is a second one. Answers of cases whose right label is not known don't count.
type Defense struct {
	// Precision: of the challenged answers, how many were wrong.
	Precision Share `json:"precision"`
	// Recall: of the wrong answers, how many were challenged.
	Recall Share `json:"recall"`
}

// Remands say what sending a case back to Light was good for (ME3).
type Remands struct {
	// Cases that were remanded at least once, known right label or not.
	Cases int `json:"cases"`
	// ToRight: Light's first answer was wrong and the final one is right, of the remanded cases with a known label;
	// ToWrong the reverse.
	ToRight Share `json:"to_right"`
	ToWrong Share `json:"to_wrong"`
}

// MetricsOf computes ME1 to ME4. Nothing to count gives zero counts and no share.
func MetricsOf(list []Observation) Metrics {
	var tried, flips, expected, asExpected int
	var m Metrics
	var d defenseCounts
	var r remandCounts
	for i := range list {
		o := &list[i]
		if !o.Activated {
			continue
		}
		tried++
		if o.Final.Classification != "" && o.Final.Classification != o.Light.Classification {
			flips++
			m.Flips.add(o)
		}
		d.add(o)
		r.add(o)
		if o.Expected != "" {
			expected++
			if o.Decision == o.Expected {
				asExpected++
			}
		}
	}
	m.Flips.Rate = shareOf(flips, tried)
	m.Defense = Defense{shareOf(d.both, d.challenged), shareOf(d.both, d.wrong)}
	m.Remands = Remands{r.cases, shareOf(r.toRight, r.known), shareOf(r.toWrong, r.known)}
	m.Verdicts = shareOf(asExpected, expected)
	return m
}

func (f *Flips) add(o *Observation) {
	switch {
	case !o.Known():
	case o.right():
		f.ToRight++
	case o.lightRight():
		f.ToWrong++
	default:
		f.Between++
	}
}

type defenseCounts struct{ challenged, wrong, both int }

func (d *defenseCounts) add(o *Observation) {
	if !o.Known() {
		return
	}
	for _, a := range o.OnTrial {
		wrong := a.Label != o.Truth
		if a.Challenged {
			d.challenged++
		}
		if wrong {
			d.wrong++
		}
		if a.Challenged && wrong {
			d.both++
		}
	}
}

type remandCounts struct{ cases, known, toRight, toWrong int }

func (r *remandCounts) add(o *Observation) {
	if o.Remands == 0 {
		return
	}
	r.cases++
	if !o.Known() {
		return
	}
	r.known++
	switch {
	case !o.lightRight() && o.right():
		r.toRight++
	case o.lightRight() && !o.right():
		r.toWrong++
	}
}

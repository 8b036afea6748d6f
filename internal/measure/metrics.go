// Package measure measures a court against the truth, certifies thresholds, compares two courts, and learns profiles.
//
// [Observe] reduces a trial to what the measures look at; [Measure] turns observations into a [Report], which is the JSON
// of `shadowcourt calibrate`. The measures are pure functions. docs/measuring.md says what each figure means.
package measure

import (
	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// ReportFormat is the version of the report's JSON. It changes when a field's meaning does, or a field goes.
const ReportFormat = 3

// Report is what calibration found. Shares and probabilities are in [0, 1].
type Report struct {
	Format int   `json:"format"`
	Cases  Cases `json:"cases"`
	// Band are the cases that went before the court, Overall all cases.
	Band    Accuracy `json:"band"`
	Overall Accuracy `json:"overall"`
	Metrics Metrics  `json:"metrics"`
	// Bands are nil unless they were asked for.
	Bands *Bands `json:"bands"`
}

// Cases counts the cases with truth, those with a known label, and those that went before the court.
type Cases struct {
	Cases int `json:"cases"`
	Known int `json:"known"`
	Tried int `json:"tried"`
}

// Bands are the certified thresholds of Light, over all cases, and of the court, where it named a label.
type Bands struct {
	Light Certificate `json:"light"`
	Court Certificate `json:"court"`
}

// Accuracy is how often the court and Light alone are right in cases with a known label.
type Accuracy struct {
	Court Share `json:"court"`
	Light Share `json:"light"`
	// Coverage: for how many of the cases the court itself named a label. For the others Light's answer counts.
	Coverage Share `json:"coverage"`
	// CourtOnly and LightOnly are the cases that only one of the two has right.
	CourtOnly int `json:"court_only"`
	LightOnly int `json:"light_only"`
	Pairs
	// Finding is of the court against Light, at the level [DefaultAlpha].
	Finding Finding `json:"finding"`
}

// Measure measures the cases. bands asks for certified thresholds; nil for none.
func Measure(tested []Observation, bands *BandOptions) *Report {
	r := &Report{Format: ReportFormat, Cases: Cases{Cases: len(tested)}, Metrics: MetricsOf(tested)}
	var band, all []*Observation
	for i := range tested {
		o := &tested[i]
		if o.Activated {
			r.Cases.Tried++
		}
		if !o.Known() {
			continue
		}
		r.Cases.Known++
		all = append(all, o)
		if o.Activated {
			band = append(band, o)
		}
	}
	r.Band, r.Overall = accuracyOf(band), accuracyOf(all)
	if bands == nil {
		return r
	}
	var light, court []Point
	for _, o := range all {
		light = append(light, Point{Confidence: o.Light.Confidence, Right: o.lightRight(), Group: o.Group})
		if o.classified() {
			court = append(court, Point{Confidence: o.Final.Confidence, Right: o.right(), Group: o.Group})
		}
	}
	r.Bands = &Bands{Light: Certify(light, *bands), Court: Certify(court, *bands)}
	return r
}

func accuracyOf(list []*Observation) Accuracy {
	a, n := Accuracy{}, len(list)
	groups, gaps := make([]string, n), make([]int, n)
	court, light, named := make([]float64, n), make([]float64, n), make([]float64, n)
	for i, o := range list {
		groups[i] = o.Group
		court[i], light[i], named[i] = asNumber(o.right()), asNumber(o.lightRight()), asNumber(o.classified())
		switch gaps[i] = int(court[i] - light[i]); gaps[i] {
		case 1:
			a.CourtOnly++
		case -1:
			a.LightOnly++
		}
	}
	clusters := clustersOf(groups)
	a.Court, a.Light, a.Coverage = clustered(court, clusters), clustered(light, clusters), clustered(named, clusters)
	a.Pairs = pairsOf(groups, gaps)
	a.Finding = a.finding(DefaultAlpha)
	return a
}

// Observation is one case with what the court made of it.
type Observation struct {
	ID string
	// Group of cases that belong together, or empty.
	Group string
	// Truth is the right label, empty when it is not known.
	Truth string
	Light trial.Answer
	// Expected is the decision that the court should reach, or empty.
	Expected abi.Decision
	// Activated: the case went before the court, and lies in the band.
	Activated bool
	Status    trial.Status
	// Final is what the court left the case with. Without a classification it is left open.
	Final trial.Answer
	// Decision that the case ended with; empty without a trial.
	Decision abi.Decision
	// OnTrial are Light's answers that came before a defense: one, and one more for each remand.
	OnTrial []OnTrial
	Remands int
	// Calls of modules, and fuel (nil while it is not metered).
	Calls int
	Fuel  *uint64
}

// OnTrial is an answer of Light's that the defense had before it. Challenged: the brief holds an alternative, a motion to
// dismiss or a fatal challenge.
type OnTrial struct {
	Label      string
	Challenged bool
}

// Observe reduces a trial. It keeps no document.
func Observe(t *trial.Trial) Observation {
	r := &t.Result
	o := Observation{
		ID: t.Case.ID, Group: t.Case.Group, Activated: r.Activated, Status: r.Final.Status, Remands: r.Remands, Fuel: r.Fuel,
		Final: trial.Answer{Classification: r.Final.Classification, Confidence: r.Final.Confidence},
	}
	if t.Truth != nil {
		o.Truth, o.Expected = t.Truth.Classification, t.Truth.ExpectedVerdict
	}
	if l := t.Case.Light; l != nil {
		o.Light = trial.Answer{Classification: l.Classification, Confidence: l.Confidence}
	}
	if l := r.Light; l != nil { // of a Light that was asked, the case knows nothing
		o.Light = trial.Answer{Classification: l.Classification, Confidence: l.Confidence}
	}
	if r.Timings != nil {
		o.Calls = r.Timings.Calls
	}
	if !r.Activated {
		return o
	}
	switch {
	case r.Final.Status == trial.Mistrial:
		o.Decision = abi.Mistrial
	case r.Verdict != nil:
		o.Decision = r.Verdict.Decision
	}
	for i := range t.Passes {
		if p := &t.Passes[i]; p.Brief != nil {
			o.OnTrial = append(o.OnTrial, OnTrial{p.Light.Classification, challenged(p.Brief)})
		}
	}
	return o
}

func challenged(b *abi.DefenseBrief) bool {
	if b.AlternativeHypothesis != nil || b.MotionToDismiss {
		return true
	}
	for i := range b.Challenges {
		if b.Challenges[i].Severity == abi.Fatal {
			return true
		}
	}
	return false
}

// Answer is the court's; where it left the case open, and where there was no trial, Light's answer stands.
func (o *Observation) Answer() string {
	if o.Final.Classification != "" {
		return o.Final.Classification
	}
	return o.Light.Classification
}

// Known says that the right label is known.
func (o *Observation) Known() bool { return o.Truth != "" }

func (o *Observation) right() bool { return o.Known() && o.Answer() == o.Truth }

func (o *Observation) lightRight() bool { return o.Known() && o.Light.Classification == o.Truth }

// classified says that the court itself named a label.
func (o *Observation) classified() bool { return o.Activated && o.Final.Classification != "" }

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
	// ToRight: Light's first answer was wrong and the final one is right, of the remanded cases with a known label; ToWrong the reverse.
	ToRight Share `json:"to_right"`
	ToWrong Share `json:"to_wrong"`
}

// MetricsOf computes ME1 to ME4. Nothing to count gives zero counts and no share.
func MetricsOf(list []Observation) Metrics {
	var tried, flips, expected, asExpected, challenged, wrong, both, remanded, toRight, toWrong int
	var m Metrics
	for i := range list {
		o := &list[i]
		if !o.Activated {
			continue
		}
		tried++
		if o.Final.Classification != "" && o.Final.Classification != o.Light.Classification {
			flips++
			switch {
			case !o.Known():
			case o.right():
				m.Flips.ToRight++
			case o.lightRight():
				m.Flips.ToWrong++
			default:
				m.Flips.Between++
			}
		}
		if o.Expected != "" {
			expected++
			asExpected += one(o.Decision == o.Expected)
		}
		if o.Remands > 0 {
			m.Remands.Cases++
		}
		if !o.Known() {
			continue
		}
		for _, a := range o.OnTrial {
			bad := one(a.Label != o.Truth)
			wrong += bad
			if a.Challenged {
				challenged++
				both += bad
			}
		}
		if o.Remands > 0 {
			remanded++
			toRight += one(!o.lightRight() && o.right())
			toWrong += one(o.lightRight() && !o.right())
		}
	}
	m.Flips.Rate = shareOf(flips, tried)
	m.Defense = Defense{shareOf(both, challenged), shareOf(both, wrong)}
	m.Remands.ToRight, m.Remands.ToWrong = shareOf(toRight, remanded), shareOf(toWrong, remanded)
	m.Verdicts = shareOf(asExpected, expected)
	return m
}

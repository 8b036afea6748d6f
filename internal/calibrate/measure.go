// Package calibrate measures a court against the truth, certifies thresholds, and compares two courts.
//
// [Observe] reduces a trial to what the measures look at; [Measure] turns observations into a [Report], which is the JSON
// of `shadowcourt calibrate`. The measures are pure functions. docs/measuring.md says what each figure means.
package calibrate

// ReportFormat is the version of the report's JSON. It changes when a field's meaning does, or a field goes.
const ReportFormat = 2

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
	if bands != nil {
		r.Bands = &Bands{Light: Certify(lightPoints(all), *bands), Court: Certify(courtPoints(band), *bands)}
	}
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

func lightPoints(list []*Observation) []Point {
	out := make([]Point, 0, len(list))
	for _, o := range list {
		out = append(out, Point{Confidence: o.Light.Confidence, Right: o.lightRight(), Group: o.Group})
	}
	return out
}

func courtPoints(list []*Observation) []Point {
	var out []Point
	for _, o := range list {
		if o.classified() {
			out = append(out, Point{Confidence: o.Final.Confidence, Right: o.right(), Group: o.Group})
		}
	}
	return out
}

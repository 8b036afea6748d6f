// Package calibrate measures a court against the truth, and against what could do its work without a trial.
//
// [Observe] reduces a trial to what the measures look at; [Measure] turns observations into a [Report], which is the JSON
// of `shadowcourt calibrate`. The measures are pure functions; the seed in [Options] decides everything that is drawn.
// docs/measuring.md says what each figure means.
package calibrate

import (
	"slices"
)

// The defaults of Options.
const (
	DefaultResamples   = 10_000
	DefaultSimulations = 2_000
)

// Options of the measures. Zero fields mean the defaults.
type Options struct {
	// Seed of everything that is drawn. Equal seeds and observations give equal reports.
	Seed uint64
	// Resamples of the bootstrap, Simulations of the perfectly calibrated forecaster.
	Resamples, Simulations int
	// Activation and Rejection are the court's thresholds: what lies between is the band.
	Activation, Rejection float64
	// Bands asks for certified thresholds; nil for none.
	Bands *BandOptions
	// Peers answered the cases beside the court. Optional.
	Peers []Peer
	// Rules of the user that the cases were tried with. Optional.
	Rules *RuleSet
	// Timings puts times into the report, which then differs from run to run.
	Timings bool
}

// ReportFormat is the version of the report's JSON. It changes when a field's meaning does, or a field goes.
const ReportFormat = 1

// Report is what calibration found. Its JSON is the output of `shadowcourt calibrate --format json`; docs/measuring.md
// explains every field. Shares and probabilities are in [0, 1], differences in [-1, 1].
type Report struct {
	Format   int      `json:"format"`
	Settings Settings `json:"settings"`
	Cases    Cases    `json:"cases"`
	// Conclusion in plain words.
	Conclusion Conclusion `json:"conclusion"`
	// Band are the cases that went before the court, Overall all cases.
	Band    Comparison `json:"band"`
	Overall Comparison `json:"overall"`
	Metrics Metrics    `json:"metrics"`
	// Court is the reliability of the court's final confidences where it named a label, Light that of Light's stated
	// confidences in the band, LightOverall in all cases.
	Court        Reliability `json:"court_confidence"`
	Light        Reliability `json:"light_confidence"`
	LightOverall Reliability `json:"light_confidence_overall"`
	// CourtRanking and so on say how well the same confidences rank the answers.
	CourtRanking        RiskCoverage `json:"court_ranking"`
	LightRanking        RiskCoverage `json:"light_ranking"`
	LightRankingOverall RiskCoverage `json:"light_ranking_overall"`

	Thresholds []ThresholdPoint `json:"thresholds"`
	Cost       Cost             `json:"cost"`
	// Fitting says how the best baseline was chosen; nil without a fitting half.
	Fitting *Fitting `json:"fitting"`
	// Bands are nil unless they were asked for.
	Bands *Bands `json:"bands"`
	// Peers are nil unless models were asked without a court.
	Peers *Peers `json:"peers,omitempty"`
	// Rules are nil unless the cases were tried with rules of the user.
	Rules *RulesReport `json:"rules,omitempty"`
}

// Settings are what the report depends on beside the cases.
type Settings struct {
	Seed        uint64  `json:"seed"`
	Resamples   int     `json:"resamples"`
	Simulations int     `json:"simulations"`
	Activation  float64 `json:"activation_threshold"`
	Rejection   float64 `json:"rejection_threshold"`
	Margin      float64 `json:"margin"`
	Slack       float64 `json:"slack"`
}

// Cases counts what was measured.
type Cases struct {
	// Cases with any truth; Known of them with a known right label.
	Cases int `json:"cases"`
	Known int `json:"known"`
	// Tried went before the court.
	Tried int `json:"tried"`
	// ByStatus counts how cases ended, every status.
	ByStatus []StatusCount `json:"by_status"`
}

// StatusCount is how many cases ended with a status.
type StatusCount struct {
	Status string `json:"status"`
	Cases  int    `json:"cases"`
}

// Fitting is the choice of the best baseline by cross-validation on the fitting half: over its cases in the band, or over
// all where the band has fewer than LeastCases.
type Fitting struct {
	Cases int `json:"cases"`
	// Counted cases, and whether they are those of the band.
	Counted int           `json:"counted"`
	Band    bool          `json:"band"`
	Folds   int           `json:"folds"`
	Scores  []FittedScore `json:"scores"`
	Best    MethodID      `json:"best"`
}

// FittedScore is a method's cross-validated accuracy.
type FittedScore struct {
	ID       MethodID `json:"id"`
	Name     string   `json:"name"`
	Accuracy Share    `json:"accuracy"`
}

// Bands are the certified thresholds.
type Bands struct {
	// Light: from which stated confidence on Light's answer may stand without a trial.
	Light Certificate `json:"light"`
	// Court: from which final confidence on the court's answer may stand without a person.
	Court Certificate `json:"court"`
}

// Measure measures the tested cases. fitting are the cases of another half, whose truth may be learnt from; with none,
// the fitted baselines are left out and no best one is chosen.
func Measure(tested []Observation, fitting []*BaselineCase, o Options) *Report {
	o = o.orDefault()
	rivals, choice := choose(fitting, &o)
	for i := range o.Peers {
		rivals = append(rivals, o.Peers[i].rival())
	}
	var band, all []*Observation
	for i := range tested {
		if !tested[i].Known() {
			continue
		}
		all = append(all, &tested[i])
		if tested[i].Activated {
			band = append(band, &tested[i])
		}
	}
	r := &Report{
		Format:   ReportFormat,
		Settings: Settings{o.Seed, o.Resamples, o.Simulations, o.Activation, o.Rejection, Margin, Slack},
		Cases:    countCases(tested),
		Band:     compare(band, rivals, o.Resamples, randOf(o.Seed, "band")),
		Overall:  compare(all, rivals, o.Resamples, randOf(o.Seed, "overall")),
		Metrics:  MetricsOf(tested), Fitting: choice,
		Court:        ReliabilityOf(courtStated(band), o.Simulations, randOf(o.Seed, "court")),
		Light:        ReliabilityOf(lightStated(band), o.Simulations, randOf(o.Seed, "light")),
		LightOverall: ReliabilityOf(lightStated(all), o.Simulations, randOf(o.Seed, "light overall")),
		CourtRanking: RiskCoverageOf(courtPoints(band)), LightRanking: RiskCoverageOf(lightPoints(band)),
		LightRankingOverall: RiskCoverageOf(lightPoints(all)),
		Thresholds:          thresholds(all, &o),
		Cost:                costOf(tested, o.Timings),
		Peers:               peersOf(tested, o.Peers),
		Rules:               rulesOf(all, &o),
	}
	if o.Bands != nil {
		r.Bands = &Bands{Light: Certify(lightPoints(all), *o.Bands), Court: Certify(courtPoints(band), *o.Bands)}
	}
	r.Conclusion = conclude(r)
	return r
}

func (o Options) orDefault() Options {
	if o.Resamples <= 0 {
		o.Resamples = DefaultResamples
	}
	if o.Simulations <= 0 {
		o.Simulations = DefaultSimulations
	}
	return o
}

// choose fits the baselines on the fitting half, and picks the best of them there; ties go to the simpler one.
func choose(fitting []*BaselineCase, o *Options) ([]rival, *Fitting) {
	methods := Methods()
	var rivals []rival
	if len(fitting) == 0 {
		for i := range methods {
			if m := &methods[i]; m.Fit == nil {
				rivals = append(rivals, rival{id: m.ID, name: m.Name, rule: m.Rule(nil)})
			}
		}
		return rivals, nil
	}
	inBand := func(c *BaselineCase) bool {
		return c.Light.Confidence >= o.Rejection && c.Light.Confidence < o.Activation
	}
	f := &Fitting{Cases: len(fitting), Band: true, Folds: folds}
	right, counted := crossValidate(fitting, inBand, randOf(o.Seed, "folds"))
	if counted < LeastCases {
		f.Band = false
		right, counted = crossValidate(fitting, func(*BaselineCase) bool { return true }, randOf(o.Seed, "folds"))
	}
	f.Counted = counted
	best := slices.Index(right, slices.Max(right))
	for i := range methods {
		m := &methods[i]
		f.Scores = append(f.Scores, FittedScore{m.ID, m.Name, shareOf(right[i], counted)})
		rivals = append(rivals, rival{m.ID, m.Name, m.Rule(fitting), counted > 0 && i == best})
	}
	if counted > 0 {
		f.Best = methods[best].ID
	}
	return rivals, f
}

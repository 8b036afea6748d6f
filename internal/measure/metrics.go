// Package measure measures a court against the truth, certifies thresholds, compares two courts, and learns profiles.
//
// [Observe] reduces a trial to what the measures look at; [Measure] turns observations into a [Report], which is the JSON
// of `shadowcourt calibrate`. The measures are pure functions. docs/measuring.md says what each figure means.
package measure

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mathext"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/trial"
	"github.com/shadowcourt/shadowcourt/internal/render"
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
	return b.AlternativeHypothesis != nil || b.MotionToDismiss ||
		slices.ContainsFunc(b.Challenges, func(c abi.Challenge) bool { return c.Severity == abi.Fatal })
}

// Answer is the court's; where it left the case open, and where there was no trial, Light's answer stands.
func (o *Observation) Answer() string {
	return cmp.Or(o.Final.Classification, o.Light.Classification)
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

// DefaultAlpha is the level of the test.
const DefaultAlpha = 0.05

// Finding says in a word what a comparison shows.
type Finding string

// The findings.
const (
	Better Finding = "better"
	Worse  Finding = "worse"
	// NotWorse: no difference is shown, which is no proof that there is none.
	NotWorse Finding = "not_worse"
)

// Pairs is McNemar's exact test of whether one of two courts is right more often.
type Pairs struct {
	P float64 `json:"p"` // two-sided
	// first and second are the pairs that speak for each: cases that only it has right, a group being one case.
	first, second int
}

// pairsOf tests the gaps of cases: 1 where only the second is right, -1 where only the first is.
func pairsOf(groups []string, gaps []int) Pairs {
	byCluster := map[int]int{}
	for i, cluster := range clustersOf(groups) {
		byCluster[cluster] += gaps[i]
	}
	p := Pairs{}
	for _, gap := range byCluster {
		switch {
		case gap < 0:
			p.first++
		case gap > 0:
			p.second++
		}
	}
	p.P = signTest(p.first, p.second)
	return p
}

// finding of the second against the first.
func (p *Pairs) finding(alpha float64) Finding {
	switch {
	case p.P >= alpha:
		return NotWorse
	case p.first > p.second:
		return Worse
	}
	return Better
}

// CandidateReport is what came of a comparison.
type CandidateReport struct {
	// Cases of the docket, and how many of them both courts tried: of the others the end is the same.
	Cases int `json:"cases"`
	Tried int `json:"tried"`
	// Flips end with another status or another label, and are listed in docket order.
	Flips []Flip `json:"flips"`
	// Mistrials of each court.
	CourtMistrials     int `json:"court_mistrials"`
	CandidateMistrials int `json:"candidate_mistrials"`
	// Truth is nil when no case states it.
	Truth   *CandidateTruth `json:"truth"`
	Alpha   float64         `json:"alpha"`
	Finding Finding         `json:"finding"`
	// Why are the reasons, in sentences.
	Why []string `json:"why"`
}

// Flip is a case that the candidate ends otherwise, with both results.
type Flip struct {
	*render.BesideJSON
	// Mark says what became of the answer; empty without truth.
	Mark Mark `json:"mark,omitempty"`
}

// Mark says what a flip did to a known answer.
type Mark string

// The marks.
const (
	ToRight    Mark = "to_right"
	FromRight  Mark = "from_right"
	StillWrong Mark = "still_wrong"
)

// CandidateTruth is the comparison over the cases whose right label is known.
type CandidateTruth struct {
	Cases          int `json:"cases"`
	CourtRight     int `json:"court_right"`
	CandidateRight int `json:"candidate_right"`
	// CourtOnly and CandidateOnly are the cases that only one of the two has right.
	CourtOnly     int `json:"court_only"`
	CandidateOnly int `json:"candidate_only"`
	// CourtPairs and CandidatePairs are what the test counts: as the two before, but a group is one pair.
	CourtPairs     int `json:"court_pairs"`
	CandidatePairs int `json:"candidate_pairs"`
	Pairs
}

// CandidateComparison sets a candidate court beside the court in force, over the cases that both tried: which verdicts flip,
// and, where the truth is known, whether the candidate is worse. It is not safe for concurrent use.
//
// A case is right when it ends with its true label; one that is left open is not. The cases that only one of the two has
// right are discordant, and McNemar's exact test says whether they fall on one side by more than chance. Cases of a group belong together
// and count as one pair, for the court that has more of them right.
type CandidateComparison struct {
	report CandidateReport
	groups []string
	gaps   []int // the candidate's right answers less the court's
}

// NewCandidateComparison makes an empty comparison with a test at the level alpha, in (0, 1).
func NewCandidateComparison(alpha float64) *CandidateComparison {
	return &CandidateComparison{report: CandidateReport{Alpha: alpha, Flips: []Flip{}, Why: []string{}}}
}

// Add takes a trial. shown is what of it may be shown: the trial itself, or a redacted copy. A trial that no candidate
// took part in ended the same for both.
func (c *CandidateComparison) Add(t, shown *trial.Trial) {
	r := &c.report
	r.Cases++
	compared, other := t.Compare(), &t.Result
	if t.Beside == nil {
		compared.BesideRight = compared.CourtRight
	} else {
		r.Tried++
		other = &t.Beside.Result
	}
	r.CourtMistrials += one(t.Result.Final.Status == trial.Mistrial)
	r.CandidateMistrials += one(other.Final.Status == trial.Mistrial)
	mark := Mark("")
	if compared.Known {
		r.Truth = cmp.Or(r.Truth, &CandidateTruth{})
		court, candidate := one(compared.CourtRight), one(compared.BesideRight)
		k := r.Truth
		k.Cases, k.CourtRight, k.CandidateRight = k.Cases+1, k.CourtRight+court, k.CandidateRight+candidate
		k.CourtOnly, k.CandidateOnly = k.CourtOnly+max(0, court-candidate), k.CandidateOnly+max(0, candidate-court)
		c.groups, c.gaps = append(c.groups, t.Case.Group), append(c.gaps, candidate-court)
		switch mark = StillWrong; {
		case compared.BesideRight:
			mark = ToRight
		case compared.CourtRight:
			mark = FromRight
		}
	}
	if compared.BesideFlips {
		r.Flips = append(r.Flips, Flip{render.NewBesideJSON(shown), mark})
	}
}

// Report tests what was gathered, and judges it.
func (c *CandidateComparison) Report() *CandidateReport {
	r := c.report
	r.Finding, r.Why = NotWorse, []string{}
	if r.Truth == nil {
		r.Why = append(r.Why, "no case states its truth, so that only mistrials count")
	} else {
		truth := *r.Truth
		r.Truth = &truth
		c.test(&r)
	}
	if r.CandidateMistrials > r.CourtMistrials {
		r.Finding = Worse
		r.Why = append([]string{fmt.Sprintf("%d mistrials, the court in force has %d", r.CandidateMistrials, r.CourtMistrials)}, r.Why...)
	}
	return &r
}

func (c *CandidateComparison) test(r *CandidateReport) {
	t := r.Truth
	t.Pairs = pairsOf(c.groups, c.gaps)
	t.CourtPairs, t.CandidatePairs = t.first, t.second
	what := "pairs"
	if t.CourtPairs+t.CandidatePairs != t.CourtOnly+t.CandidateOnly {
		what = "pairs, each a group of cases,"
	}
	pairs := fmt.Sprintf("of %d discordant %s %d for the court, %d for the candidate: p = %.3g", t.CourtPairs+t.CandidatePairs, what, t.CourtPairs, t.CandidatePairs, t.P)
	switch r.Finding = t.finding(r.Alpha); r.Finding {
	case Worse:
		r.Why = append(r.Why, "right less often: "+pairs)
	case Better:
		r.Why = append(r.Why, "right more often: "+pairs)
	case NotWorse:
		r.Why = append(r.Why, "no difference is shown: "+pairs)
		// The exact test finds nothing in fewer pairs: 2/2^n < alpha.
		if least := int(math.Floor(1-math.Log2(r.Alpha))) + 1; t.CourtPairs+t.CandidatePairs < least {
			r.Why = append(r.Why, fmt.Sprintf("fewer than %d pairs show nothing at a level of %g, wherever they fall", least, r.Alpha))
		}
	}
}

// Interval is a two-sided interval, Low <= High.
type Interval struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// z95 is the 97.5 % point of the normal distribution.
const z95 = 1.959963984540054

// wilson is the 95 % score interval of a share of k in n. n may be an effective, real number. [0, 1] without any case.
func wilson(k, n float64) Interval {
	if n <= 0 {
		return Interval{0, 1}
	}
	p, z2 := k/n, z95*z95
	centre := (p + z2/(2*n)) / (1 + z2/n)
	half := z95 / (1 + z2/n) * math.Sqrt(p*(1-p)/n+z2/(4*n*n))
	return Interval{max(0, centre-half), min(1, centre+half)}
}

// effectiveCases is how many independent cases the values (0 or 1) are worth when those of a cluster belong together: n divided by the
// design effect, which is the variance of the mean as the clusters show it over that of independent cases (Kish, Survey Sampling, 1965),
// and by the square of how much wider Student's interval is with as many degrees of freedom as there are clusters less one than with as
// many as there are cases less one (Korn and Graubard 1998). Never more than the cases; less than 1 for a single cluster. Clusters are numbered from
// 0 without gaps. Where all values are equal the design effect can't be seen; then it is that of one other value, in the largest cluster.
func effectiveCases(values []float64, clusters []int) float64 {
	n := float64(len(values))
	var sums []float64
	var sizes []int
	for i, v := range values {
		for clusters[i] >= len(sums) {
			sums, sizes = append(sums, 0), append(sizes, 0)
		}
		sums[clusters[i]] += v
		sizes[clusters[i]]++
	}
	g := float64(len(sums))
	if len(sums) == len(values) {
		return n
	}
	if g < 2 {
		return min(1, g) / 2
	}
	total := sum(sums)
	if total == 0 || total == n {
		largest := slices.Index(sizes, slices.Max(sizes))
		change := 1 - 2*total/n
		sums[largest] += change
		total += change
	}
	mean := total / n
	between := 0.0
	for i, s := range sums {
		d := s - mean*float64(sizes[i])
		between += d * d
	}
	clustered := between / (n * n) * g / (g - 1)
	wider := student975(g-1) / student975(n-1)
	return n / (max(1, clustered/(mean*(1-mean)/n)) * wider * wider)
}

// binomialTail is P(X <= k) for X ~ Binomial(n, p). It takes real k and n, 0 <= k <= n, so that an effective number of
// cases can stand in for n: P(X <= k) = I_{1-p}(n-k, k+1), with I the regularised incomplete beta function.
func binomialTail(k, n, p float64) float64 {
	switch {
	case k >= n || p <= 0:
		return 1
	case p >= 1:
		return 0
	}
	return mathext.RegIncBeta(n-k, k+1, 1-p)
}

// upperBound is the Clopper-Pearson upper end: the largest p at which k or fewer of n are still as likely as 1-confidence.
// 1 without any case.
func upperBound(k, n, confidence float64) float64 {
	if k >= n {
		return 1
	}
	low, high := 0.0, 1.0
	for range 60 {
		if mid := (low + high) / 2; binomialTail(k, n, mid) > 1-confidence {
			low = mid
		} else {
			high = mid
		}
	}
	return high
}

// signTest is the exact two-sided test that plus and minus are equally likely. Over single cases, of which one method has
// right what the other has wrong, it is McNemar's exact test. 1 without any case.
func signTest(plus, minus int) float64 {
	n := plus + minus
	if n == 0 {
		return 1
	}
	return min(1, 2*binomialTail(float64(min(plus, minus)), float64(n), 0.5))
}

// student975 is the 97.5 % point of Student's t with df degrees of freedom, by bisection of its distribution, which is
// P(T <= t) = 1 - I_x(df/2, 1/2)/2 with x = df/(df+t*t).
func student975(df float64) float64 {
	low, high := 1.0, 13.0 // 12.7 with one degree, 1.96 with all
	for range 50 {
		if mid := (low + high) / 2; mathext.RegIncBeta(df/2, 0.5, df/(df+mid*mid))/2 > 0.025 {
			low = mid
		} else {
			high = mid
		}
	}
	return high
}

// clustersOf numbers groups from 0 in the order in which they come. An empty group is a cluster of its own.
func clustersOf(groups []string) []int {
	numbers := make([]int, len(groups))
	seen := map[string]int{}
	next := 0
	for i, g := range groups {
		number, known := seen[g]
		if !known {
			number = next
			next++
			if g != "" { // so that the next empty one is another cluster
				seen[g] = number
			}
		}
		numbers[i] = number
	}
	return numbers
}

func asNumber(yes bool) float64 { return float64(one(yes)) }

func one(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

func sum(list []float64) float64 {
	total := 0.0
	for _, v := range list {
		total += v
	}
	return total
}

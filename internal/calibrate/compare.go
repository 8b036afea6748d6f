package calibrate

import (
	"math/rand/v2"
)

// Comparison sets the court beside the baselines over the same cases, those with a known right label.
type Comparison struct {
	Cases int `json:"cases"`
	// Clusters are the groups, a case without one being its own. As many as cases when nothing is grouped.
	Clusters int `json:"clusters"`
	// Coverage: for how many of the cases the court itself named a label. For the others Light's answer counts.
	Coverage Share `json:"coverage"`
	// Court is how often the court was right, Covered how often where it named a label itself.
	Court   Share   `json:"court"`
	Covered Share   `json:"covered"`
	Rivals  []Rival `json:"baselines"`
}

// Rival is a baseline with the court's difference to it.
type Rival struct {
	ID       MethodID `json:"id"`
	Name     string   `json:"name"`
	Accuracy Share    `json:"accuracy"`
	// Chosen: it is the best of them on the fitting half.
	Chosen     bool       `json:"chosen"`
	Difference Difference `json:"difference"`
}

// Difference is the court's accuracy minus another's over the same cases.
type Difference struct {
	Estimate float64 `json:"estimate"`
	// Interval is the bootstrap's, 95 %, over clusters.
	Interval Interval `json:"interval"`
	// CourtOnly and OtherOnly are the cases that only one of the two has right.
	CourtOnly int `json:"court_only"`
	OtherOnly int `json:"other_only"`
	// SignTest is the exact two-sided test over the clusters in which one of the two is right more often; without groups
	// it is McNemar's.
	SignTest float64 `json:"sign_test"`
	Finding  Finding `json:"finding"`
}

// Finding says in a word what a difference shows.
type Finding string

// The findings. LeastCases and LeastDiffering are what it takes to find anything, Margin and Slack bound what is noninferior or level.
const (
	// Better and Worse: the interval lies above or below 0, and the two differ in at least LeastDiffering clusters.
	Better Finding = "better"
	Worse  Finding = "worse"
	// NonInferior: neither; and the interval's lower end is not below -Margin.
	NonInferior Finding = "noninferior"
	// Level: none of these; the court is not behind, and the interval's lower end is not below -Slack. It is not shown to be as good.
	Level Finding = "level"
	// NotWorse: a candidate court shows no difference. That is no proof that there is none.
	NotWorse Finding = "not_worse"
	// Undecided: these cases don't decide.
	Undecided Finding = "undecided"
)

// Bounds of the findings.
const (
	Margin     = 0.02
	Slack      = 0.10
	LeastCases = 20
	// LeastDiffering: with fewer the exact sign test can't fall below 0.05, whatever the bootstrap says.
	LeastDiffering = 6
)

// find applies the definitions above.
func find(estimate float64, in Interval, cases, differing int) Finding {
	switch {
	case cases < LeastCases:
		return Undecided
	case in.Low > 0 && differing >= LeastDiffering:
		return Better
	case in.High < 0 && differing >= LeastDiffering:
		return Worse
	case in.Low >= -Margin:
		return NonInferior
	case estimate >= 0 && in.Low >= -Slack:
		return Level
	}
	return Undecided
}

// rival is a baseline that was fitted and may answer.
type rival struct {
	id     MethodID
	name   string
	rule   Rule
	chosen bool
}

// compare sets the court beside the rivals over the cases with a known right label.
func compare(list []*Observation, rivals []rival, resamples int, r *rand.Rand) Comparison {
	groups := make([]string, len(list))
	court := make([]float64, len(list))
	for i, o := range list {
		groups[i] = o.Case.Group
		court[i] = asNumber(o.right())
	}
	clusters := clustersOf(groups)
	c := Comparison{Cases: len(list), Clusters: countOf(clusters), Court: clustered(court, clusters), Rivals: []Rival{}}
	c.Coverage, c.Covered = coverage(list, clusters)
	scores, gaps := make([][]float64, len(rivals)), make([][]float64, len(rivals))
	for k := range rivals {
		scores[k], gaps[k] = make([]float64, len(list)), make([]float64, len(list))
		for i, o := range list {
			scores[k][i] = asNumber(rivals[k].rule(&o.Case) == o.Case.Truth)
			gaps[k][i] = court[i] - scores[k][i]
		}
	}
	intervals := bootstrapMeans(gaps, clusters, resamples, r)
	for k := range rivals {
		c.Rivals = append(c.Rivals, Rival{
			ID: rivals[k].id, Name: rivals[k].name, Chosen: rivals[k].chosen,
			Accuracy: clustered(scores[k], clusters), Difference: difference(gaps[k], clusters, intervals[k]),
		})
	}
	return c
}

func difference(gaps []float64, clusters []int, in Interval) Difference {
	d := Difference{Interval: in}
	byCluster := make([]float64, countOf(clusters))
	for i, gap := range gaps {
		byCluster[clusters[i]] += gap
		switch {
		case gap > 0:
			d.CourtOnly++
		case gap < 0:
			d.OtherOnly++
		}
	}
	plus, minus := 0, 0
	for _, gap := range byCluster {
		switch {
		case gap > 0:
			plus++
		case gap < 0:
			minus++
		}
	}
	if len(gaps) > 0 {
		d.Estimate = sum(gaps) / float64(len(gaps))
	}
	d.SignTest = signTest(plus, minus)
	d.Finding = find(d.Estimate, in, len(gaps), plus+minus)
	return d
}

// coverage says for how many cases the court named a label, and how often it was right there.
func coverage(list []*Observation, clusters []int) (covered, right Share) {
	named := make([]float64, len(list))
	var rightOf []float64
	var groups []string
	for i, o := range list {
		named[i] = asNumber(o.classified())
		if o.classified() {
			rightOf = append(rightOf, asNumber(o.right()))
			groups = append(groups, o.Case.Group)
		}
	}
	return clustered(named, clusters), clustered(rightOf, clustersOf(groups))
}

func clustered(values []float64, clusters []int) Share {
	return shareWorth(int(sum(values)), len(values), effectiveCases(values, clusters))
}

func countOf(clusters []int) int {
	most := 0
	for _, c := range clusters {
		most = max(most, c+1)
	}
	return most
}

func asNumber(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

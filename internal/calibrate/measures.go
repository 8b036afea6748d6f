package calibrate

import (
	"slices"

	"github.com/shadowcourt/shadowcourt/host/trial"
)

// ThresholdPoint is what another activation threshold would have given: Light's answers at or above it are accepted, those
// below, down to the rejection threshold, go before the court. It looks at no threshold above the one in force, since
// cases above that were not tried.
type ThresholdPoint struct {
	Threshold float64 `json:"threshold"`
	// Tried is how many cases would go before the court.
	Tried int `json:"tried"`
	// Accuracy over all cases, and of Light's accepted answers.
	Accuracy Share `json:"accuracy"`
	Accepted Share `json:"accepted"`
}

// thresholdSteps: a point every 0.05.
const thresholdSteps = 20

func thresholds(all []*Observation, o *Options) []ThresholdPoint {
	at := []float64{o.Rejection}
	for i := range thresholdSteps + 1 {
		if t := float64(i) / thresholdSteps; t > o.Rejection && t < o.Activation {
			at = append(at, t)
		}
	}
	if o.Activation > o.Rejection {
		at = append(at, o.Activation)
	}
	points := make([]ThresholdPoint, 0, len(at))
	for _, t := range at {
		p := ThresholdPoint{Threshold: t}
		right, accepted, acceptedRight := 0, 0, 0
		for _, c := range all {
			sure := c.Case.Light.Confidence >= t
			isRight := c.lightRight()
			if c.Activated && !sure {
				p.Tried++
				isRight = c.right()
			}
			if isRight {
				right++
			}
			if sure {
				accepted++
				acceptedRight += int(asNumber(c.lightRight()))
			}
		}
		p.Accuracy, p.Accepted = shareOf(right, len(all)), shareOf(acceptedRight, accepted)
		points = append(points, p)
	}
	return points
}

// Cost of the cases that went before the court. Means are over these cases, nil without one.
type Cost struct {
	Tried int      `json:"tried"`
	Calls *float64 `json:"calls"`
	// Fuel is nil while it is not metered.
	Fuel *float64 `json:"fuel"`
	// Times are nil unless asked for.
	Times *Times `json:"times"`
}

// Times of a trial in microseconds, beside as many others as there were workers.
type Times struct {
	Mean   float64 `json:"mean_micros"`
	Median float64 `json:"median_micros"`
	P95    float64 `json:"p95_micros"`
}

func costOf(list []Observation, timings bool) Cost {
	var calls, fuel float64
	var micros []float64
	c := Cost{}
	metered := false
	for i := range list {
		o := &list[i]
		if !o.Activated {
			continue
		}
		c.Tried++
		calls += float64(o.Calls)
		micros = append(micros, float64(o.Micros))
		if o.Fuel != nil {
			metered = true
			fuel += float64(*o.Fuel)
		}
	}
	if c.Tried == 0 {
		return c
	}
	n := float64(c.Tried)
	calls /= n
	c.Calls = &calls
	if metered {
		fuel /= n
		c.Fuel = &fuel
	}
	if timings {
		c.Times = timesOf(micros)
	}
	return c
}

func countCases(list []Observation) Cases {
	c := Cases{Cases: len(list)}
	byStatus := map[trial.Status]int{}
	for i := range list {
		byStatus[list[i].Status]++
		if list[i].Known() {
			c.Known++
		}
		if list[i].Activated {
			c.Tried++
		}
	}
	for _, status := range trial.Statuses() {
		c.ByStatus = append(c.ByStatus, StatusCount{string(status), byStatus[status]})
	}
	return c
}

// courtStated are the court's final confidences where it named a label.
func courtStated(list []*Observation) []Stated {
	var out []Stated
	for _, o := range list {
		if o.classified() {
			out = append(out, Stated{o.Final.Confidence, o.right()})
		}
	}
	return out
}

func lightStated(list []*Observation) []Stated {
	out := make([]Stated, 0, len(list))
	for _, o := range list {
		out = append(out, Stated{o.Case.Light.Confidence, o.lightRight()})
	}
	return out
}

func lightPoints(list []*Observation) []Point {
	out := make([]Point, 0, len(list))
	for _, o := range list {
		out = append(out, Point{Confidence: o.Case.Light.Confidence, Right: o.lightRight(), Group: o.Case.Group})
	}
	return out
}

func courtPoints(list []*Observation) []Point {
	var out []Point
	for _, o := range list {
		if o.classified() {
			out = append(out, Point{Confidence: o.Final.Confidence, Right: o.right(), Group: o.Case.Group})
		}
	}
	return out
}

func timesOf(micros []float64) *Times {
	slices.Sort(micros)
	return &Times{
		Mean: sum(micros) / float64(len(micros)), Median: quantile(micros, 0.5), P95: quantile(micros, 0.95),
	}
}

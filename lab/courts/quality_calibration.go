package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
)

// Draws of the right answers of a perfectly calibrated model, and the bins of equal width.
const (
	draws     = 2000
	evenWidth = 10
)

// calibrationTable is of each docket by itself: how far what the court states is from how often it is right, beside what a perfectly
// calibrated model of as many cases shows by chance, and AURC beside the best peer's.
func calibrationTable(list []*half) string {
	var b strings.Builder
	b.WriteString(head("docket", "stated minus right", "ECE", "calibrated: mean, 95 %", "ECE, ten even bins", "calibrated: mean, 95 %", "ECE of "+tfidf, "AURC", "best peer's AURC"))
	row := func(name string, some []*half) {
		own := of(some, func(h *half) answers { return h.plain[court] })
		tf := of(some, func(h *half) answers { return h.plain[tfidf] })
		bestName, least := "", math.Inf(1)
		for _, peer := range peers() {
			if x := of(some, func(h *half) answers { return h.plain[peer] }).aurc(); x < least {
				bestName, least = peer, x
			}
		}
		e, even := own.reliability(draws), own.even()
		fmt.Fprintf(&b, "| %s | %+.3f | %.3f | %.3f, %.3f | %.3f | %.3f, %.3f | %.3f | %.3f | %.3f %s |\n", name, own.gap(),
			*e.ECE, e.Perfect.Mean, e.Perfect.Most, even.ece, even.mean, even.most, *tf.reliability(1).ECE, own.aurc(), least, bestName)
	}
	for _, h := range list {
		row("`"+h.name+"`", []*half{h})
	}
	row("all", list)
	return b.String()
}

// gap is the mean of what is stated, minus how often that is right.
func (s *scored) gap() float64 {
	sum := 0.0
	for _, x := range s.stated {
		sum += x
	}
	return sum/float64(len(s.stated)) - s.accuracy()
}

func (s *scored) reliability(simulations int) reliability {
	var list []stated
	for i := range s.right {
		list = append(list, stated{Confidence: s.stated[i], Right: s.right[i]})
	}
	return reliabilityOf(list, simulations, rand.New(rand.NewPCG(1, 4))) //nolint:gosec // reproducible draws, no secret
}

// evenECE is an ECE over bins of equal width, and its distribution under perfect calibration.
type evenECE struct{ ece, mean, most float64 }

func (s *scored) even() evenECE {
	r := rand.New(rand.NewPCG(1, 5)) //nolint:gosec // reproducible draws, no secret
	of := func(right func(i int) bool) float64 {
		var gaps [evenWidth]float64
		for i, x := range s.stated {
			gaps[min(int(x*evenWidth), evenWidth-1)] += x - number(right(i))
		}
		sum := 0.0
		for _, x := range gaps {
			sum += math.Abs(x)
		}
		return sum / float64(len(s.stated))
	}
	out, simulated := evenECE{ece: of(func(i int) bool { return s.right[i] })}, make([]float64, draws)
	for d := range simulated {
		simulated[d] = of(func(i int) bool { return r.Float64() < s.stated[i] })
		out.mean += simulated[d] / draws
	}
	slices.Sort(simulated)
	out.most = simulated[draws*95/100]
	return out
}

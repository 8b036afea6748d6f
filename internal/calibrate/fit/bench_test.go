package fit_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/internal/calibrate"
	"github.com/shadowcourt/shadowcourt/internal/calibrate/fit"
	"github.com/shadowcourt/shadowcourt/internal/calibrate/fit/testkit/simulate"
)

// BenchmarkShapes reports, for every simulated world and several sizes, the
// accuracy of the fitted model and of the baselines on 400 new cases for each
// of three dockets, and the log loss (nats) of the model. It is how the fit was
// made: run it after a change of learners or penalties with
//
//	go test ./internal/calibrate/fit -run NONE -bench Shapes -benchtime 1x
func BenchmarkShapes(b *testing.B) {
	for _, n := range []int{60, 150, 500} {
		for _, s := range simulate.Shapes(3) {
			b.Run(fmt.Sprintf("%s/%d", strings.ReplaceAll(s.Name, " ", "_"), n), func(b *testing.B) {
				for b.Loop() {
					measureShape(b, &s, n)
				}
			})
		}
	}
}

const (
	benchDockets = 3
	benchTests   = 400
)

func measureShape(b *testing.B, s *simulate.Shape, n int) {
	b.Helper()
	right := make(map[string]float64)
	loss := 0.0
	for d := range benchDockets {
		all := s.Docket(uint64(100+d), n+benchTests)
		result, err := fit.Fit(b.Context(), all[:n], fit.Config{Workers: 2})
		if err != nil {
			b.Fatal(err)
		}
		m := fit.NewModel(result.Profile)
		cases := reduced(all)
		rules := make(map[string]calibrate.Rule)
		for _, method := range calibrate.Methods() {
			rules[string(method.ID)] = method.Rule(cases[:n])
		}
		for i := n; i < len(all); i++ {
			c, truth := &all[i].Case, all[i].Truth.Classification
			p := m.Posterior(c)
			loss -= math.Log(p[slices.Index(c.Labels, truth)])
			right["fit"] += float64(one(top(m, c) == truth))
			for id, rule := range rules {
				right[id] += float64(one(rule(cases[i]) == truth))
			}
		}
	}
	for id, x := range right {
		b.ReportMetric(x/(benchDockets*benchTests), id)
	}
	b.ReportMetric(loss/(benchDockets*benchTests), "nats")
}

func reduced(all []docket.Entry) []*calibrate.BaselineCase {
	out := make([]*calibrate.BaselineCase, len(all))
	for i := range all {
		c := calibrate.NewBaselineCase(&all[i].Case, all[i].Truth.Classification)
		out[i] = &c
	}
	return out
}

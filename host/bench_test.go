package host_test

import (
	"context"
	"testing"

	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// BenchmarkTrial tries whole cases of the tour: a full trial of two rounds,
// one with one round, and a plea deal. in-modules is the part of the time
// that was spent inside calls of modules, the fresh instance included.
func BenchmarkTrial(b *testing.B) {
	h := open(b, host.Config{})
	for _, id := range []string{"tour-rounds", "tour-amend", "tour-plea"} {
		subject := tour(b)[id].Case
		b.Run(id, func(b *testing.B) {
			b.ReportAllocs()
			var inside int64
			var calls int
			for b.Loop() {
				outcome, err := h.Try(context.Background(), subject)
				if err != nil || outcome.Result.Final.Status == trial.Mistrial {
					b.Fatal(err, outcome)
				}
				inside += outcome.Result.Timings.ModuleMicros
				calls += outcome.Result.Timings.Calls
			}
			b.ReportMetric(float64(inside)/float64(b.N), "us-in-modules/op")
			b.ReportMetric(float64(calls)/float64(b.N), "calls/op")
		})
	}
}

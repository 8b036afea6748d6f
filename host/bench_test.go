package host_test

import (
	"context"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
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

// BenchmarkTrialParallel is the full trial on all processors.
func BenchmarkTrialParallel(b *testing.B) {
	h := open(b, host.Config{})
	subject := tour(b)["tour-rounds"].Case
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, err := h.Try(context.Background(), subject); err != nil {
				b.Error(err)
				return
			}
		}
	})
}

// BenchmarkCodecOfATrial is what the codec does of a full trial: every
// request is encoded and every response decoded.
func BenchmarkCodecOfATrial(b *testing.B) {
	s := &spy{}
	h := open(b, host.Config{Observe: s.observe})
	try(b, h, tour(b)["tour-rounds"].Case)
	var nodes []abi.NodeRequest
	for _, r := range s.calls {
		if r.Call == abi.CallNode {
			request, err := codec.DecodeNodeRequest(r.Input, 0)
			if err != nil {
				b.Fatal(err)
			}
			nodes = append(nodes, request)
		}
	}
	b.ReportAllocs()
	buffer := make([]byte, 0, 64<<10)
	for b.Loop() {
		for i := range nodes {
			buffer = codec.AppendNodeRequest(buffer[:0], &nodes[i])
		}
		for _, r := range s.calls {
			if r.Call != abi.CallNode {
				continue
			}
			if _, err := codec.DecodeNodeResponse(r.Output, 0); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(len(nodes)), "node-calls/op")
}

// BenchmarkOpen is the start of a host whose modules are compiled already.
func BenchmarkOpen(b *testing.B) {
	try(b, open(b, host.Config{}), dispute()) // fills the cache
	for b.Loop() {
		start := time.Now()
		h, err := host.Open(context.Background(), host.Config{CacheDir: cacheDir})
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(time.Since(start).Milliseconds()), "ms-last")
		if err := h.Close(context.Background()); err != nil {
			b.Fatal(err)
		}
	}
}

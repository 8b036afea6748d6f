package host_test

import (
	"context"
	"errors"
	"runtime"
	"runtime/metrics"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/host"
)

// spinning tries a case whose judge spins until the function that it gives is
// called, which says how long the trial took to end then.
func spinning(tb testing.TB) (stop func() time.Duration) {
	tb.Helper()
	begun := make(chan struct{})
	h := open(tb, host.Config{
		Pipeline: behave(tb, "specter", "verdict", "spin"), Limits: host.Limits{WallClock: time.Hour, Fuel: 1 << 50},
		Observe: func(r host.CallRecord) {
			if r.Persona == "abyss" && r.Node == "hearing" {
				select {
				case begun <- struct{}{}:
				default:
				}
			}
		},
	})
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		_, err := h.Try(ctx, dispute())
		ended <- err
	}()
	<-begun
	time.Sleep(20 * time.Millisecond) // the rest of the hearing takes less than one
	return func() time.Duration {
		start := time.Now()
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			tb.Errorf("the trial that spun ended with %v", err)
		}
		return time.Since(start)
	}
}

// TestAccept_SB3_ASpinningTrialStopsNobody: while the judge of one trial spins,
// the collector collects and other trials come to the same end as alone; a
// cancelled trial ends at once. The limits are far from what is measured, which
// the log has.
func TestAccept_SB3_ASpinningTrialStopsNobody(t *testing.T) {
	t.Parallel()
	want := try(t, shared(t), dispute()).Result.Final
	stop := spinning(t)
	start := time.Now()
	runtime.GC()
	collected := time.Since(start)
	for range 10 {
		if got := try(t, shared(t), dispute()).Result.Final; got != want {
			t.Errorf("beside a trial that spins: %+v, alone: %+v", got, want)
		}
	}
	tried := time.Since(start) - collected
	ended := stop()
	t.Logf("a collection took %s, ten trials %s, ending the one that spins %s", collected, tried, ended)
	if collected > 5*time.Second || tried > 5*time.Second {
		t.Error("the trial that spins holds up others")
	}
	if ended > 250*time.Millisecond {
		t.Error("a cancelled trial goes on")
	}
}

// BenchmarkSpinningTrial measures full trials alone and beside one whose judge
// spins, with one worker and with one for each processor. What it reports: the
// median and the 99th percentile of a trial, and the longest pause of the
// collector.
func BenchmarkSpinningTrial(b *testing.B) {
	h := open(b, host.Config{})
	subject := tour(b)["tour-rounds"].Case
	for _, workers := range []int{1, runtime.GOMAXPROCS(0)} {
		for _, name := range []string{"alone", "spinning"} {
			b.Run(name, func(b *testing.B) {
				b.SetParallelism(1)
				if name == "spinning" {
					stop := spinning(b)
					defer func() { b.ReportMetric(float64(stop().Microseconds())/1e3, "ms-to-cancel") }()
				}
				before := pauses()
				took := make([][]time.Duration, workers)
				var wait sync.WaitGroup
				b.ResetTimer()
				for w := range workers {
					wait.Go(func() {
						for i := w; i < b.N; i += workers {
							start := time.Now()
							if _, err := h.Try(context.Background(), subject); err != nil {
								b.Error(err)
							}
							took[w] = append(took[w], time.Since(start))
						}
					})
				}
				wait.Wait()
				b.StopTimer()
				all := slices.Concat(took...)
				slices.Sort(all)
				at := func(quantile float64) float64 {
					return float64(all[int(quantile*float64(len(all)-1))].Nanoseconds()) / 1e3
				}
				b.ReportMetric(float64(workers), "workers")
				b.ReportMetric(at(0.5), "us-median")
				b.ReportMetric(at(0.99), "us-p99")
				b.ReportMetric(longest(before, pauses()).Seconds()*1e3, "ms-longest-pause")
			})
		}
	}
}

// pauses are the stops of the world for the collector so far.
func pauses() *metrics.Float64Histogram {
	sample := []metrics.Sample{{Name: "/sched/pauses/total/gc:seconds"}}
	metrics.Read(sample)
	return sample[0].Value.Float64Histogram()
}

// longest is the upper bound of the longest pause between two readings.
func longest(before, after *metrics.Float64Histogram) time.Duration {
	for i, count := range slices.Backward(after.Counts) {
		if count > before.Counts[i] {
			return time.Duration(after.Buckets[i+1] * float64(time.Second))
		}
	}
	return 0
}

package host_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/metrics"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host"
)

// spinner is a host in which the judge of a trial spins.
type spinner struct {
	host  *host.Host
	begun chan struct{}
}

func newSpinner(tb testing.TB) *spinner {
	tb.Helper()
	s := &spinner{begun: make(chan struct{}, 1)}
	s.host = open(tb, host.Config{
		Pipeline: behave(tb, "specter", "verdict", "spin"), Limits: host.Limits{WallClock: time.Hour, Fuel: 1 << 50},
		Observe: func(r host.CallRecord) {
			if r.Persona == "abyss" && r.Node == "hearing" {
				select {
				case s.begun <- struct{}{}:
				default:
				}
			}
		},
	})
	return s
}

// spin tries a case until the function that it gives is called, which says how
// long the trial took to end then.
func (s *spinner) spin(tb testing.TB) (stop func() time.Duration) {
	tb.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	select {
	case <-s.begun: // left by a trial before, which may have had several hearings
	default:
	}
	go func() {
		_, err := s.host.Try(ctx, dispute())
		ended <- err
	}()
	select {
	case <-s.begun:
	case err := <-ended:
		tb.Fatalf("the trial that should spin ended with %v", err)
	}
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
// the log has. It runs alone, since a collection waits for processors, too, that
// tests beside it have.
func TestAccept_SB3_ASpinningTrialStopsNobody(t *testing.T) {
	want := try(t, shared(t), dispute()).Result.Final
	spinner := newSpinner(t)
	start := time.Now()
	runtime.GC()
	alone := time.Since(start)
	stop := spinner.spin(t)
	start = time.Now()
	runtime.GC()
	collected := time.Since(start)
	for range 10 {
		if got := try(t, shared(t), dispute()).Result.Final; got != want {
			t.Errorf("beside a trial that spins: %+v, alone: %+v", got, want)
		}
	}
	tried := time.Since(start) - collected
	ended := stop()
	t.Logf("a collection took %s, without the trial that spins %s; ten trials %s, ending the one that spins %s", collected, alone, tried, ended)
	if collected > alone+time.Minute || tried > time.Minute {
		t.Error("the trial that spins holds up others")
	}
	if ended > 10*time.Second {
		t.Error("a cancelled trial goes on")
	}
}

// BenchmarkSpinningTrial measures full trials alone and beside one whose judge
// spins, with one worker and with one for each processor, by turns, so that
// whatever disturbs the machine disturbs both. What it reports: the 99th
// percentiles of a trial and their ratio, the longest pause of the collector
// beside the trial that spins, and the longest time that one took to be
// cancelled.
func BenchmarkSpinningTrial(b *testing.B) {
	h := open(b, host.Config{})
	s := newSpinner(b)
	subject := tour(b)["tour-rounds"].Case
	for _, workers := range []int{1, runtime.GOMAXPROCS(0)} {
		b.Run(fmt.Sprintf("workers=%d", workers), func(b *testing.B) {
			var alone, beside []time.Duration
			var pause, cancelled time.Duration
			for b.Loop() {
				alone = append(alone, window(b, h, subject, workers)...)
				stop, before := s.spin(b), pauses()
				beside = append(beside, window(b, h, subject, workers)...)
				pause = max(pause, longest(before, pauses()))
				cancelled = max(cancelled, stop())
			}
			p99Alone, p99Beside := p99(alone), p99(beside)
			b.ReportMetric(float64(p99Alone.Microseconds()), "us-p99-alone")
			b.ReportMetric(float64(p99Beside.Microseconds()), "us-p99-beside")
			b.ReportMetric(float64(p99Beside)/float64(p99Alone), "ratio-p99")
			b.ReportMetric(pause.Seconds()*1e3, "ms-longest-pause")
			b.ReportMetric(cancelled.Seconds()*1e3, "ms-to-cancel")
		})
	}
}

// window gives the times of some trials.
func window(b *testing.B, h *host.Host, subject abi.Case, workers int) []time.Duration {
	b.Helper()
	took := make([][]time.Duration, workers)
	var wait sync.WaitGroup
	for w := range workers {
		wait.Go(func() {
			for range 200 / workers {
				start := time.Now()
				if _, err := h.Try(context.Background(), subject); err != nil {
					b.Error(err)
				}
				took[w] = append(took[w], time.Since(start))
			}
		})
	}
	wait.Wait()
	return slices.Concat(took...)
}

func p99(took []time.Duration) time.Duration {
	slices.Sort(took)
	return took[99*(len(took)-1)/100]
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

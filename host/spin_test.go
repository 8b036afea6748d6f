package host_test

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"time"

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

// spin tries a case until the function that it gives is called, which says how long the trial took to end then.
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

// TestAccept_SB3_ASpinningTrialStopsNobody: while the judge of one trial spins, the collector collects and other trials come to the same
// end as alone; a cancelled trial ends at once. The limits are far from what is measured, which the log has. It runs alone, since a
// collection waits for processors, too, that tests beside it have.
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

package main

import (
	"context"
	"fmt"
	"iter"
	"path/filepath"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/shadowcourt/shadowcourt/host"
	"github.com/shadowcourt/shadowcourt/host/docket"
	"github.com/shadowcourt/shadowcourt/host/trial"
)

// A session tries a docket of so many cases, the tour's over and over, as many
// as it comes to in the time that it has.
type session struct {
	Cases, Workers int
	Limit          time.Duration
	Cache          string // of compiled modules
}

// held is what came of a session.
type held struct {
	Cases      int
	Elapsed    time.Duration
	Processor  time.Duration // time of processors that was used
	Peak       int64         // resident memory in bytes, compiling included
	Early      int64         // the median over the second tenth of the docket
	Late       int64         // the median over its last tenth
	ByDecision map[trial.Status]int
}

// dockets measures a long docket with one worker and with two.
func (b *bench) dockets(ctx context.Context) error {
	var all []held
	for _, workers := range []int{1, 2} {
		s := session{Cases: b.cases, Workers: workers, Limit: b.limit, Cache: filepath.Join(b.dir, "cache")}
		out, err := inChild[session, held](ctx, "child-docket", s)
		if err != nil {
			return err
		}
		all = append(all, out)
		name := docketName(workers)
		b.add(name+", cases tried", float64(out.Cases), "cases")
		b.add(name+", throughput", float64(out.Cases)/out.Elapsed.Seconds(), "cases/s")
		b.add(name+", processors used", out.Processor.Seconds()/out.Elapsed.Seconds(), "processors")
		b.add(name+", peak memory", float64(out.Peak)/(1<<20), "MiB (RSS)")
		b.add(name+", memory early", float64(out.Early)/(1<<20), "MiB (RSS)")
		b.add(name+", memory late", float64(out.Late)/(1<<20), "MiB (RSS)")
		b.against(name+", memory late", name+", memory early")
	}
	one, two := fmt.Sprint(all[0].ByDecision), fmt.Sprint(all[1].ByDecision)
	if all[0].Cases == all[1].Cases && one != two {
		return fmt.Errorf("%w: one worker came to %s, two to %s", errWrong, one, two)
	}
	b.against(docketName(2)+", throughput", docketName(1)+", throughput")
	return nil
}

func docketName(workers int) string {
	if workers == 1 {
		return "docket, 1 worker"
	}
	return fmt.Sprintf("docket, %d workers", workers)
}

// tryDocket tries a docket and looks at its memory now and then.
func tryDocket(ctx context.Context, s session) (out held, err error) {
	h, err := host.Open(ctx, host.Config{CacheDir: s.Cache})
	if err != nil {
		return out, err
	}
	defer func() { _ = h.Close(context.WithoutCancel(ctx)) }()
	entries, err := repeated(s.Cases)
	if err != nil {
		return out, err
	}
	out.ByDecision = make(map[trial.Status]int)
	var memory []float64
	every := max(1, s.Cases/1000)
	debug.FreeOSMemory() // of compiling
	used, start := processorTime(), time.Now()
	for tried := range h.TryAll(ctx, entries, s.Workers) {
		if tried.Err != nil {
			return out, tried.Err
		}
		out.ByDecision[tried.Trial.Result.Final.Status]++
		if out.Cases++; out.Cases%every == 0 {
			now, peak, err := resident()
			if err != nil {
				return out, err
			}
			memory, out.Peak = append(memory, float64(now)), peak
		}
		if time.Since(start) > s.Limit {
			break
		}
	}
	out.Elapsed, out.Processor = time.Since(start), processorTime()-used
	if out.Cases != s.Cases && out.Elapsed < s.Limit || len(memory) == 0 {
		return out, fmt.Errorf("%w: %d of %d cases", errWrong, out.Cases, s.Cases)
	}
	tenth := max(1, len(memory)/10)
	out.Early = int64(Median(memory[min(tenth, len(memory)-1):min(2*tenth+1, len(memory))]))
	out.Late = int64(Median(memory[len(memory)-tenth:]))
	return out, nil
}

// processorTime gives what this process has used so far.
func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// repeated gives the cases of the tour over and over, each under its own id.
func repeated(count int) (iter.Seq2[docket.Entry, error], error) {
	cases, err := tour()
	if err != nil {
		return nil, err
	}
	return func(yield func(docket.Entry, error) bool) {
		for i := range count {
			entry := docket.Entry{Case: cases[i%len(cases)], Source: tourFile, Line: i + 1}
			entry.Case.ID = fmt.Sprintf("%s-%d", entry.Case.ID, i)
			if !yield(entry, nil) {
				return
			}
		}
	}, nil
}

package main

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"time"
)

// Rival is one way of doing what all rivals of a comparison do. Rivals take turns, round after round, so that whatever disturbs the machine
// disturbs them alike, and the median of the rounds is what counts.
type Rival struct {
	Name string
	// Do does it n times, and checks what comes of it.
	Do func(n int) error
	// Processors that it may use; 0: all.
	Processors int
	// Pause between doing it twice, which is not measured: what it left to be
	// done afterwards can be done meanwhile. 0: it is done back to back.
	Pause time.Duration
}

// Once makes the Do of a rival from what is done once.
func Once(do func() error) func(n int) error {
	return func(n int) error {
		for range n {
			if err := do(); err != nil {
				return err
			}
		}
		return nil
	}
}

// Interleave gives each rival a turn of about that length in every round, and
// returns the median time of doing it once, by name.
func Interleave(rounds int, turn time.Duration, rivals []Rival) (map[string]time.Duration, error) {
	samples := make(map[string][]float64, len(rivals))
	times := make([]int, len(rivals))
	for i, r := range rivals {
		n, err := calibrate(r, turn)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", r.Name, err)
		}
		times[i] = n
	}
	for range rounds {
		for i, r := range rivals {
			elapsed, err := timed(r, times[i])
			if err != nil {
				return nil, fmt.Errorf("%s: %w", r.Name, err)
			}
			samples[r.Name] = append(samples[r.Name], float64(elapsed)/float64(times[i]))
		}
	}
	medians := make(map[string]time.Duration, len(rivals))
	for name, s := range samples {
		medians[name] = time.Duration(math.Round(Median(s)))
	}
	return medians, nil
}

// calibrate finds how often a rival does it within a turn. That warms it up, too.
func calibrate(r Rival, turn time.Duration) (int, error) {
	for n := 1; ; n *= 2 {
		elapsed, err := timed(r, n)
		if err != nil {
			return 0, err
		}
		if elapsed >= turn/2 {
			return max(1, int(float64(n)*float64(turn)/float64(elapsed))), nil
		}
	}
}

func timed(r Rival, n int) (time.Duration, error) {
	if r.Processors > 0 {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(r.Processors))
	}
	if r.Pause > 0 {
		return timedApart(r, n)
	}
	start := time.Now()
	err := r.Do(n)
	return time.Since(start), err
}

func timedApart(r Rival, n int) (sum time.Duration, err error) {
	for range n {
		start := time.Now()
		if err := r.Do(1); err != nil {
			return 0, err
		}
		end := time.Now()
		sum += end.Sub(start)
		for time.Since(end) < r.Pause {
			runtime.Gosched()
		}
	}
	return sum, nil
}

// Median of at least one number; of an even count the mean of the middle two.
func Median(of []float64) float64 {
	s := slices.Clone(of)
	slices.Sort(s)
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}

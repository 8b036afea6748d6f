package module

import (
	"runtime"
	"slices"
	"time"
)

// rival is one way of making the call that all rivals make.
type rival struct {
	name string
	call func() error

	took   []time.Duration
	allocs uint64
}

// rounds that each rival gets a turn in, so that whatever disturbs the machine
// disturbs them alike.
const rounds = 5

// maxSamples bounds what is kept of one rival.
const maxSamples = 1 << 20

// turn makes calls for some time, at least two.
func (r *rival) turn(now func() time.Time, length time.Duration) error {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for begin, n := now(), 0; n < 2 || now().Sub(begin) < length; n++ {
		start := now()
		if err := r.call(); err != nil {
			return err
		}
		if len(r.took) < maxSamples {
			r.took = append(r.took, now().Sub(start))
		}
	}
	runtime.ReadMemStats(&after)
	r.allocs += after.Mallocs - before.Mallocs
	return nil
}

// figure sums the turns up.
func (r *rival) figure() Figure {
	slices.Sort(r.took)
	at := func(quantile float64) int64 { return int64(r.took[int(quantile*float64(len(r.took)-1))]) }
	return Figure{
		Name: r.name, Calls: len(r.took), MedianNanos: at(0.5), P99Nanos: at(0.99),
		Allocs: float64(r.allocs) / float64(len(r.took)),
	}
}

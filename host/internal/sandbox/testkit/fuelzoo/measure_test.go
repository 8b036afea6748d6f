//go:build linux

package fuelzoo_test

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/internal/sandbox/testkit/fuelzoo"
)

// TestMeasure says how long a unit of fuel takes in each loop, in processor time of this thread, and how long the default fuel would take,
// which has to be less than the wall clock for all but chains of loads. It is run by "make fuel-zoo": SHADOWCOURT_FUEL_ZOO is how long each
// loop runs, SHADOWCOURT_FUEL_ZOO_ONLY a regular expression of names.
func TestMeasure(t *testing.T) {
	each, err := time.ParseDuration(os.Getenv("SHADOWCOURT_FUEL_ZOO"))
	if err != nil {
		t.Skip("runs for minutes: make fuel-zoo")
	}
	only := regexp.MustCompile(os.Getenv("SHADOWCOURT_FUEL_ZOO_ONLY"))
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	type row struct {
		name string
		unit float64 // nanoseconds
	}
	var rows []row
	for _, l := range fuelzoo.All() {
		if only.MatchString(l.Name) {
			rows = append(rows, row{l.Name, unit(t, l, each)})
		}
	}
	slices.SortFunc(rows, func(a, b row) int { return cmp.Compare(b.unit, a.unit) })
	fmt.Println("ns a unit, s the default fuel, loop")
	for _, r := range rows {
		fmt.Printf("%9.3f %9.1f  %s\n", r.unit, r.unit*abi.DefaultFuel/1e9, r.name)
		if r.unit*abi.DefaultFuel > abi.DefaultWallClockNanos && !strings.HasPrefix(r.name, "i32.load along a chain of") {
			t.Errorf("%s: the wall clock ends it before fuel does", r.name)
		}
	}
}

// warm is how much fuel a loop spends on its preparations, at most.
const warm = 120_000_000

// unit is the time of a unit of fuel, in nanoseconds.
func unit(t *testing.T, l fuelzoo.Loop, each time.Duration) float64 {
	t.Helper()
	var begin, first time.Duration
	var before, total int64
	err := run(t, l, 100_000, func(spent int64) bool {
		now := processorTime()
		if begin == 0 {
			begin = now
		}
		total = spent
		if first == 0 {
			if spent > warm || now-begin > each {
				first, before = now, spent
			}
			return true
		}
		return now-first < each
	})
	if !errors.Is(err, errNoFuel) {
		t.Fatalf("%s: %v", l.Name, err)
	}
	return float64(processorTime()-first) / float64(total-before)
}

func processorTime() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &ts); err != nil {
		panic(err)
	}
	return time.Duration(ts.Nano())
}

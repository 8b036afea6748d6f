//go:build linux || darwin

package isolate

import (
	"io/fs"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"time"
)

// group is the process group of the program.
var group atomic.Int64

// killGroup kills the program's process group.
func killGroup() {
	if pid := group.Load(); pid != 0 {
		_ = syscall.Kill(-int(pid), syscall.SIGKILL)
	}
}

// watchPause is between two looks at the processes.
const watchPause = 20 * time.Millisecond

// watch kills everything when a limit is exceeded. The function that it returns looks again,
// before what is left of the program is killed, and names the limit, if one was.
func watch(o *order) func() Ending {
	var exceeded atomic.Value
	end := func(ending Ending) {
		exceeded.CompareAndSwap(nil, ending)
		killAll(o.Level)
	}
	before := len(processes())
	go func() {
		for {
			resident, count := usage(o.Level, before, o.Command.Limits.Processes)
			switch {
			case count > o.Command.Limits.Processes:
				end(OverProcesses)
			case resident > o.Command.Limits.Memory:
				end(OverMemory)
			}
			time.Sleep(watchPause)
		}
	}()
	written := diskUsage(o.Command.Scratch)
	go func() {
		for {
			start := time.Now() //nolint:forbidigo // programs run in real time
			if diskUsage(o.Command.Scratch)-written > o.Command.Limits.Disk {
				end(OverDisk)
			}
			time.Sleep(max(5*watchPause, 10*time.Since(start))) // a tenth of the time at most
		}
	}()
	return func() Ending {
		// A program that starts many at once may come to the kernel's limit, and end by that, between two looks.
		if _, count := usage(o.Level, before, o.Command.Limits.Processes); count > o.Command.Limits.Processes {
			exceeded.CompareAndSwap(nil, OverProcesses)
		}
		ending, _ := exceeded.Load().(Ending)
		return ending
	}
}

// diskUsage is what the files below a folder take, in bytes.
func diskUsage(dir string) int64 {
	var sum int64
	_ = filepath.WalkDir(dir, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // it went away meanwhile
		}
		if info, err := entry.Info(); err == nil {
			if stat, ok := info.Sys().(*syscall.Stat_t); ok {
				sum += stat.Blocks * 512
			}
		}
		return nil
	})
	return sum
}

package isolate

import (
	"bytes"
	"math"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// starve has this process, and so the program, run on one processor beside two busy loops.
func starve() {
	var one unix.CPUSet
	if err := unix.SchedGetaffinity(0, &one); err != nil {
		return
	}
	for cpu := range len(one) * 64 {
		if one.IsSet(cpu) {
			one.Zero()
			one.Set(cpu)
			break
		}
	}
	_ = unix.SchedSetaffinity(0, &one)
	runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + 2) // the busy loops take nothing from watch
	for range 2 {
		go func() {
			runtime.LockOSThread()
			_ = unix.SchedSetaffinity(0, &one)
			for spin := 0; ; spin++ { //nolint:revive // busy on purpose
			}
		}()
	}
}

// usage is what the program's processes take together: resident bytes, and how many there are. With more processes than most
// it does not look at any of them, because they would be faster. Before is how many the system had when the program began.
func usage(level Level, before, most int) (resident int64, processes int) {
	pids := below(level, before, most)
	if len(pids) > most {
		return 0, len(pids)
	}
	for _, pid := range pids {
		statm, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/statm")
		if err != nil {
			continue // ended meanwhile
		}
		if fields := strings.Fields(string(statm)); len(fields) > 1 {
			pages, _ := strconv.ParseInt(fields[1], 10, 64)
			resident += pages * int64(os.Getpagesize())
		}
	}
	return resident, len(pids)
}

// below are the processes below this one: with namespaces all but this one. Without them it is all of the system if that has got
// many more than most since it had before: there is no time to look at the parent of each.
func below(level Level, before, most int) []int {
	all := processes()
	if level == Namespaces || (len(all)-before)/4 > most {
		return all
	}
	parents := make(map[int]int, len(all))
	for _, pid := range all {
		if parent, ended := parentOf(pid); !ended {
			parents[pid] = parent
		}
	}
	var found []int
	self := os.Getpid()
	for pid := range parents {
		for p, steps := pid, 0; p > 1 && steps < len(all); p, steps = parents[p], steps+1 {
			if parents[p] == self {
				found = append(found, pid)
				break
			}
		}
	}
	return found
}

// processes are the ids of all processes but this one.
func processes() []int {
	proc, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer proc.Close()
	names, _ := proc.Readdirnames(-1)
	var pids []int
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil && pid != os.Getpid() {
			pids = append(pids, pid)
		}
	}
	return pids
}

// parentOf reads a process's parent, and whether it has ended.
func parentOf(pid int) (parent int, ended bool) {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, true
	}
	// The name, in parentheses, may hold anything.
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) < 2 {
		return 0, true
	}
	parent, _ = strconv.Atoi(fields[1])
	return parent, fields[0] == "Z" || fields[0] == "X"
}

// killAll kills all of the program's processes, those that it starts meanwhile, too.
func killAll(level Level) {
	if level == Namespaces {
		_ = syscall.Kill(-1, syscall.SIGKILL)
		return
	}
	killGroup() // at once, whatever it starts meanwhile
	for range 200 {
		all := below(level, 0, math.MaxInt)
		if len(all) == 0 {
			return
		}
		for _, signal := range []syscall.Signal{syscall.SIGSTOP, syscall.SIGKILL} { // who is stopped starts nothing
			for _, pid := range all {
				_ = syscall.Kill(pid, signal)
			}
		}
		time.Sleep(time.Millisecond)
	}
}

// userThreads counts the threads that the user runs already, which the limit includes.
func userThreads() uint64 {
	entries, _ := os.ReadDir("/proc")
	var sum uint64
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil {
			continue
		}
		if stat, ok := info.Sys().(*syscall.Stat_t); ok && stat.Uid == uint32(os.Getuid()) {
			tasks, _ := os.ReadDir("/proc/" + entry.Name() + "/task")
			sum += uint64(len(tasks))
		}
	}
	return sum
}

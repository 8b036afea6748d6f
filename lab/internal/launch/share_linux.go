package launch

import (
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// starve lets a program run in short bursts with long pauses between, as on a machine that is overloaded.
func starve(args, env []string) int {
	signal.Ignore(syscall.SIGQUIT)
	cmd, err := start(args, env, nil)
	if err != nil {
		return report(Starved, err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = cmd.Wait() // the exit code says how it ended
	}()
	for {
		select {
		case <-done:
			return cmd.ProcessState.ExitCode()
		case <-time.After(15 * time.Millisecond):
			_ = cmd.Process.Signal(syscall.SIGSTOP)
			time.Sleep(120 * time.Millisecond)
			_ = cmd.Process.Signal(syscall.SIGCONT)
		}
	}
}

// limitMemory lets a program have its address space as it is once it runs, and so many MiB more. A limit from the start
// would keep the race detector from starting.
func limitMemory(args, env []string, megabytes string) int {
	more, err := strconv.ParseUint(megabytes, 10, 32)
	if err != nil {
		return report("memory limit", err)
	}
	cmd, err := start(args, env, nil)
	if err != nil {
		return report("memory limit", err)
	}
	for range 500 {
		size, ok := addressSpace(cmd.Process.Pid)
		if !ok {
			break
		}
		if size > 1<<30 { // the race detector's shadow is there
			most := size + more<<20
			if err := unix.Prlimit(cmd.Process.Pid, unix.RLIMIT_AS, &unix.Rlimit{Cur: most, Max: most}, nil); err != nil {
				_ = cmd.Process.Kill()
				_ = cmd.Wait()
				return report("memory limit", err)
			}
			break
		}
		time.Sleep(100 * time.Microsecond)
	}
	_ = cmd.Wait() // the exit code says how it ended
	return cmd.ProcessState.ExitCode()
}

func addressSpace(pid int) (size uint64, ok bool) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0, false
	}
	pages, err := strconv.ParseUint(strings.Fields(string(text) + " 0")[0], 10, 64)
	return pages * uint64(os.Getpagesize()), err == nil
}

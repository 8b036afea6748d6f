package launch

import (
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"
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
			if err := setAddressSpace(cmd.Process.Pid, size+more<<20); err != nil {
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

func setAddressSpace(pid int, most uint64) error {
	to := syscall.Rlimit{Cur: most, Max: most}
	_, _, errno := syscall.Syscall6(syscall.SYS_PRLIMIT64, uintptr(pid), syscall.RLIMIT_AS,
		uintptr(unsafe.Pointer(&to)), 0, 0, 0) //nolint:gosec // the kernel reads one rlimit
	if errno != 0 {
		return errno
	}
	return nil
}

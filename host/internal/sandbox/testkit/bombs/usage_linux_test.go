package bombs_test

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"
)

type used struct {
	cpu       time.Duration
	megabytes int
}

// usage is what the process has used so far. The most memory comes from VmHWM: the maximum of getrusage is inherited from the parent.
func usage() used {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		panic(err)
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	kilobytes := 0
	if _, err := fmt.Sscan(rest, &kilobytes); err != nil {
		panic(err)
	}
	return used{time.Duration(u.Utime.Nano() + u.Stime.Nano()), kilobytes / 1024}
}

//go:build unix

package bombs_test

import (
	"syscall"
	"time"
)

type used struct {
	cpu       time.Duration
	megabytes int
}

// usage is what the process has used so far.
func usage() used {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return used{time.Duration(u.Utime.Nano() + u.Stime.Nano()), int(u.Maxrss / 1024)}
}

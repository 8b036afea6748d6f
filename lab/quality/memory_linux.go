package main

import "syscall"

// peakMegabytes is the most memory that this process has held so far.
func peakMegabytes() int64 {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return u.Maxrss >> 10
}

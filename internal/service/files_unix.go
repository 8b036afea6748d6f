//go:build unix

package service

import "syscall"

// fileLimit is how many files the process may have open.
func fileLimit() int {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return 2 * mostConnections
	}
	return int(min(uint64(limit.Cur), 2*mostConnections)) //nolint:unconvert // of another type on some systems
}

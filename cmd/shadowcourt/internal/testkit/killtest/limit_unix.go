//go:build unix

package killtest

import "syscall"

// limitFiles has a write behind that offset of a file fail with EFBIG, as it would with ENOSPC on a full disk.
func limitFiles(n int64) error {
	limit := syscall.Rlimit{Cur: uint64(n), Max: uint64(n)}
	return syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit)
}

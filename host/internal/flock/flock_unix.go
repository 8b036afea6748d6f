//go:build unix && !aix && !solaris

package flock

import (
	"errors"
	"os"
	"syscall"
)

// Supported says whether TryLock locks anything on this system.
const Supported = true

// TryLock locks a file until it is closed, or gives ErrLocked. Where the file system has no locks it does nothing.
func TryLock(f *os.File) error {
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case errors.Is(err, syscall.EINTR):
		case errors.Is(err, syscall.EWOULDBLOCK):
			return ErrLocked
		case errors.Is(err, syscall.ENOTSUP):
			return nil
		default:
			return err
		}
	}
}

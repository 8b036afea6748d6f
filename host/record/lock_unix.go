//go:build unix && !aix && !solaris

package record

import (
	"errors"
	"os"
	"syscall"
)

// lock keeps others from writing to the same record until the file is closed.
func lock(f file) error {
	file, ok := f.(*os.File)
	if !ok {
		return nil
	}
	for {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case errors.Is(err, syscall.EINTR):
		case errors.Is(err, syscall.EWOULDBLOCK):
			return ErrInUse
		case errors.Is(err, syscall.ENOTSUP):
			return nil
		default:
			return err
		}
	}
}

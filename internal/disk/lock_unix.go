//go:build unix && !aix && !solaris

package disk

import (
	"errors"
	"os"
	"syscall"
)

// KeepsOpen says whether this system renames and removes a file that is open, and so while it is locked.
const KeepsOpen = true

// TryLock locks a file until it is closed, or gives ErrLocked. Where the file system has no locks it does nothing.
func TryLock(f *os.File) error { return lock(f, syscall.LOCK_EX|syscall.LOCK_NB) }

// TryLockShared locks a file against [TryLock] and [Lock] until it is closed, or gives ErrLocked where one of them has locked it. Several
// processes may have it.
func TryLockShared(f *os.File) error { return lock(f, syscall.LOCK_SH|syscall.LOCK_NB) }

// Lock locks a file until it is closed, and waits for whoever has locked it. Where the file system has no locks it does nothing.
func Lock(f *os.File) error { return lock(f, syscall.LOCK_EX) }

// Release unlocks a file and closes it. Closing alone leaves it locked while a process that was just forked still has it open.
func Release(f *os.File) error {
	return errors.Join(lock(f, syscall.LOCK_UN), f.Close())
}

func lock(f *os.File, how int) error {
	for {
		err := syscall.Flock(int(f.Fd()), how)
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

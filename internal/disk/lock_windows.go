package disk

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// KeepsOpen says whether this system renames and removes a file that is open, and so while it is locked.
const KeepsOpen = false

// TryLock locks a file until it is closed, or gives ErrLocked.
func TryLock(f *os.File) error {
	return try(f, windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY)
}

// TryLockShared locks a file against [TryLock] and [Lock] until it is closed, or gives ErrLocked where one of them has locked it. Several
// processes may have it.
func TryLockShared(f *os.File) error { return try(f, windows.LOCKFILE_FAIL_IMMEDIATELY) }

func try(f *os.File, flags uint32) error {
	err := lock(f, flags)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return ErrLocked
	}
	return err
}

// Release unlocks a file and closes it.
func Release(f *os.File) error { return f.Close() }

// Lock locks a file until it is closed, and waits for whoever has locked it.
func Lock(f *os.File) error { return lock(f, windows.LOCKFILE_EXCLUSIVE_LOCK) }

// lock locks one byte far behind the end: on Windows others can neither read nor write what is locked.
func lock(f *os.File, flags uint32) error {
	return windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, &windows.Overlapped{Offset: 0xffffffff, OffsetHigh: 0x7fffffff})
}

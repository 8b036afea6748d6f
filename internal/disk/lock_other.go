//go:build !windows && (!unix || aix || solaris)

package disk

import "os"

// KeepsOpen says whether this system renames and removes a file that is open, and so while it is locked.
const KeepsOpen = false

// TryLock does nothing on this system.
func TryLock(*os.File) error { return nil }

// TryLockShared does nothing on this system.
func TryLockShared(*os.File) error { return nil }

// Lock does nothing on this system.
func Lock(*os.File) error { return nil }

// Release closes a file.
func Release(f *os.File) error { return f.Close() }

// Package tempdir makes temporary folders. One that a killed process left is removed by the next process that makes one of the
// same kind.
package tempdir

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/shadowcourt/shadowcourt/host/internal/flock"
)

// lockName is a file in each folder, which its process locks as long as it uses the folder.
const lockName = ".lock"

// Dir is a temporary folder.
type Dir struct {
	Path string
	lock *os.File
}

// New makes the folder KIND-* in [os.TempDir], and removes those of that kind whose processes are gone. The caller removes it.
func New(kind string) (*Dir, error) {
	for {
		path, err := os.MkdirTemp("", kind+"-")
		if err != nil {
			return nil, err
		}
		name := filepath.Join(path, lockName)
		lock, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue // another process removed the folder, see below
		case err != nil:
			return nil, errors.Join(err, os.RemoveAll(path))
		}
		d := &Dir{Path: path, lock: lock}
		err = flock.TryLock(lock)
		if _, gone := os.Lstat(name); err != nil || gone != nil {
			// Another process took the folder for a left one before it was locked.
			if err := d.Remove(); err != nil {
				return nil, err
			}
			continue
		}
		if flock.KeepsOpen && locked(name) { // else this file system has no locks
			removeLeft(kind)
		}
		return d, nil
	}
}

// Remove removes the folder.
func (d *Dir) Remove() error {
	if !flock.KeepsOpen {
		return errors.Join(d.lock.Close(), os.RemoveAll(d.Path)) // these systems remove no open file
	}
	return errors.Join(os.RemoveAll(d.Path), d.lock.Close())
}

// removeLeft removes the folders of a kind that no process has locked. Those of other users stay: the system does not let go of
// them.
func removeLeft(kind string) {
	found, err := filepath.Glob(filepath.Join(os.TempDir(), kind+"-*", lockName))
	if err != nil {
		return
	}
	for _, name := range found {
		f, err := os.OpenFile(name, os.O_RDWR, 0) // never waits, also for a pipe that somebody put there
		if err != nil {
			continue
		}
		if flock.TryLock(f) == nil {
			_ = os.RemoveAll(filepath.Dir(name))
		}
		_ = f.Close()
	}
}

// locked says whether a file is locked.
func locked(name string) bool {
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }()
	return errors.Is(flock.TryLock(f), flock.ErrLocked)
}

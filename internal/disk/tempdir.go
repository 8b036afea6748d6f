package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// lockSuffix ends the name of the file beside each folder, which a process locks as long as it uses the folder. The file is
// there before the folder and is removed after it.
const lockSuffix = ".lock"

// Dir is a temporary folder.
type Dir struct {
	Path string
	lock *os.File
}

// TempDir makes the folder KIND-* in [os.TempDir], or where nothing can be written there in the user's cache folder, and removes those of
// that kind whose processes are gone. The caller removes it.
func TempDir(kind string) (*Dir, error) {
	d, err := newIn(os.TempDir(), kind)
	if err == nil {
		return d, nil
	}
	cache, missing := os.UserCacheDir()
	if missing != nil {
		return nil, fmt.Errorf("%w: set TMPDIR to a folder that can be written to", err)
	}
	other := filepath.Join(cache, "shadowcourt", "tmp")
	if second := os.MkdirAll(other, 0o700); second != nil {
		return nil, fmt.Errorf("%w, and %w: set TMPDIR to a folder that can be written to", err, second)
	}
	d, second := newIn(other, kind)
	if second != nil {
		return nil, fmt.Errorf("%w, and %w: set TMPDIR to a folder that can be written to", err, second)
	}
	return d, nil
}

func newIn(folder, kind string) (*Dir, error) {
	for {
		lock, err := os.CreateTemp(folder, kind+"-*"+lockSuffix)
		if err != nil {
			return nil, err
		}
		d := &Dir{strings.TrimSuffix(lock.Name(), lockSuffix), lock}
		locked := TryLock(lock)
		if _, gone := os.Lstat(lock.Name()); locked != nil || gone != nil {
			_ = lock.Close() // before it was locked another process took it for a left one
			continue
		}
		if err := os.Mkdir(d.Path, 0o700); err != nil {
			_ = d.removeLock()
			if errors.Is(err, fs.ErrExist) {
				continue
			}
			return nil, err
		}
		if KeepsOpen && !free(lock.Name()) { // else this file system has no locks
			removeLeftDirs(folder, kind)
		}
		return d, nil
	}
}

// Remove removes the folder.
func (d *Dir) Remove() error { return errors.Join(os.RemoveAll(d.Path), d.removeLock()) }

func (d *Dir) removeLock() error {
	if !KeepsOpen {
		return errors.Join(d.lock.Close(), os.Remove(d.lock.Name())) // these systems remove no open file
	}
	return errors.Join(os.Remove(d.lock.Name()), d.lock.Close())
}

// removeLeftDirs removes the folders of a kind that no process has locked. Those of other users stay, because the system keeps their
// files from this one.
func removeLeftDirs(folder, kind string) {
	locks, err := filepath.Glob(filepath.Join(folder, kind+"-*"+lockSuffix))
	if err != nil {
		return
	}
	for _, name := range locks {
		if lock, err := os.OpenFile(name, os.O_RDWR, 0); err == nil { // for writing, so that a pipe does not block it
			d := Dir{strings.TrimSuffix(name, lockSuffix), lock}
			if TryLock(lock) == nil && os.RemoveAll(d.Path) == nil {
				_ = d.removeLock()
			} else {
				_ = lock.Close()
			}
		}
	}
}

// free says whether a file is not locked.
func free(name string) bool {
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return true
	}
	defer func() { _ = f.Close() }()
	return TryLock(f) == nil
}

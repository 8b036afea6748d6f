// Package disk writes files that appear under their names only when they are complete, locks files against other processes, makes temporary
// folders, keeps caches, and tells the user's own files from those that others can write.
//
// Until [File.Commit] a file is written as .NAME.0.tmp beside its place (1, 2, ... where other processes write the same file). Commit syncs
// it, renames it and syncs the folder, so that a crash or a loss of power before leaves either the earlier file or the complete new one,
// and behind it the new one. A killed process leaves its temporary file; the next one that writes the same file removes it.
//
// A lock ends with its file, so that a process that is killed leaves none. Only Linux was tested: macOS has the code of Linux, Windows its
// own, and of both it is known that they compile.
package disk

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
)

// ErrLocked: another process has locked the file.
var ErrLocked = errors.New("another process has locked the file")

// File is a file that is written. Devices and pipes are written to directly. Not safe for concurrent use.
type File struct {
	file *os.File
	name string // as the caller gave it
	path string // where it goes to; empty for a device
	err  error  // of the first write that failed
}

// Create begins a file. A file that is there already keeps its permissions, and a link to it stays a link.
func Create(name string) (*File, error) {
	path := RealPath(name)
	mode := fs.FileMode(0o666) // less the user's mask
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return nil, fmt.Errorf("%s is a folder", name)
	case err == nil && !info.Mode().IsRegular():
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		return &File{file: f, name: name}, err
	case err == nil:
		mode = info.Mode().Perm()
	}
	f, err := createBeside(path, mode)
	if err == nil && info != nil {
		err = f.Chmod(mode)
	}
	if err != nil {
		return nil, named(name, err)
	}
	return &File{file: f, name: name, path: path}, nil
}

// Stage writes a file to the disk beside its place, with these permissions whatever the user's mask. [File.Commit] puts it
// there, in place of what has its name, be it a link.
func Stage(name string, data []byte, mode fs.FileMode) (*File, error) {
	file, err := createBeside(name, mode)
	if err != nil {
		return nil, named(name, err)
	}
	f := &File{file: file, name: name, path: name}
	_, err = file.Write(data)
	if err = errors.Join(err, file.Chmod(mode), file.Sync()); err != nil {
		f.Discard()
		return nil, named(name, err)
	}
	return f, nil
}

// Place is [Stage] and [File.Commit].
func Place(name string, data []byte, mode fs.FileMode) error {
	f, err := Stage(name, data, mode)
	if err == nil {
		err = f.Commit()
	}
	return err
}

// MakeFolder makes a folder with those that it is in, where they are missing, and has their names reach the disk.
func MakeFolder(name string, mode fs.FileMode) error {
	var made []string
	for dir := filepath.Clean(name); ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) || dir == filepath.Dir(dir) {
			break
		}
		made = append(made, dir)
	}
	err := os.MkdirAll(name, mode)
	for _, dir := range made {
		if err == nil {
			err = SyncFolder(filepath.Dir(dir))
		}
	}
	return err
}

// SyncFolder has the names in a folder reach the disk, where the system and the folder's permissions allow that.
func SyncFolder(name string) error {
	dir, err := os.Open(name)
	if errors.Is(err, fs.ErrPermission) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = dir.Close() }()
	err = dir.Sync()
	if runtime.GOOS == "windows" || errors.Is(err, errors.ErrUnsupported) || errors.Is(err, fs.ErrInvalid) {
		return nil
	}
	return err
}

// createBeside creates and locks a temporary file in the folder of path.
func createBeside(path string, mode fs.FileMode) (*os.File, error) {
	dir, base := filepath.Split(path)
	owner := ""
	if !KeepsOpen {
		owner = strconv.Itoa(os.Getpid()) + "-" // no process may take the name of another, nor remove it while it is locked
	}
	for i := 0; ; {
		name := dir + "." + base + "." + owner + strconv.Itoa(i) + ".tmp"
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
		switch {
		case err == nil && TryLock(f) == nil && hasName(f, name):
			return f, nil
		case err == nil:
			_ = f.Close() // another process took it for one that was left
		case !errors.Is(err, fs.ErrExist):
			return nil, err
		case !removeLeft(name):
			i++
		}
	}
}

// removeLeft removes a temporary file that a killed process left, and says whether the name may be free now.
func removeLeft(name string) bool {
	info, err := os.Lstat(name)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	if !KeepsOpen || !info.Mode().IsRegular() {
		return false
	}
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	defer func() { _ = f.Close() }()
	if TryLock(f) != nil {
		return false // it is being written
	}
	return !hasName(f, name) || os.Remove(name) == nil
}

// hasName says whether an open file is the one of this name.
func hasName(f *os.File, name string) bool {
	open, err := f.Stat()
	if err != nil {
		return false
	}
	there, err := os.Lstat(name)
	return err == nil && os.SameFile(open, there)
}

// named puts the name that the user knows in place of that of a temporary file.
func named(name string, err error) error {
	if pathErr := (*fs.PathError)(nil); errors.As(err, &pathErr) {
		err = pathErr.Err
	}
	return fmt.Errorf("%s: %w", name, err)
}

// Write writes to the file. Its error names the file.
func (f *File) Write(p []byte) (int, error) {
	n, err := f.file.Write(p)
	if err != nil {
		err = named(f.name, err)
		f.err = cmp.Or(f.err, err)
	}
	return n, err
}

// Commit puts the file in its place. A file of which a write failed is discarded instead, without an error: the write gave it.
func (f *File) Commit() error {
	if f.err != nil {
		f.Discard()
		return nil //nolint:nilerr // whoever wrote has the error already
	}
	if err := f.commit(); err != nil {
		f.Discard()
		return named(f.name, err)
	}
	return nil
}

func (f *File) commit() error {
	if f.path == "" {
		return f.file.Close()
	}
	// Renamed without it, the file may be empty after a loss of power, and the earlier one gone.
	if err := f.file.Sync(); err != nil {
		return err
	}
	if !KeepsOpen {
		return errors.Join(f.file.Close(), os.Rename(f.file.Name(), f.path)) // these systems rename no open file
	}
	if err := os.Rename(f.file.Name(), f.path); err != nil { // while it is locked
		return err
	}
	return errors.Join(f.file.Close(), SyncFolder(filepath.Dir(f.path)))
}

// Discard removes the file; what was in its place stays. Call it instead of Commit, not after it.
func (f *File) Discard() {
	_ = f.file.Close()
	if f.path != "" {
		_ = os.Remove(f.file.Name())
	}
}

// CreateNew writes a file that must not be there yet (fs.ErrExist), as a whole or not at all.
func CreateNew(name string, data []byte, mode fs.FileMode) error {
	f, err := createBeside(RealPath(name), mode)
	if err != nil {
		return named(name, err)
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if err == nil {
		err = os.Link(f.Name(), RealPath(name)) // unlike a rename it replaces nothing
	}
	err = errors.Join(err, f.Close(), os.Remove(f.Name()))
	if err == nil {
		err = SyncFolder(filepath.Dir(RealPath(name)))
	}
	if err != nil {
		return namedLink(name, err)
	}
	return nil
}

func namedLink(name string, err error) error {
	if link := (*os.LinkError)(nil); errors.As(err, &link) {
		err = link.Err
	}
	return named(name, err)
}

// Replace replaces a file as a whole, or leaves it as it was.
func Replace(name string, data []byte) error {
	f, err := Create(name)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Commit())
}

// Set is a number of files that appear together: when all are complete. The zero value is an empty set.
type Set struct{ files []*File }

// Create begins a file of the set, see [Create].
func (s *Set) Create(name string) (*File, error) {
	f, err := Create(name)
	if err != nil {
		return nil, err
	}
	s.files = append(s.files, f)
	return f, nil
}

// Commit puts every file in its place, see [File.Commit].
func (s *Set) Commit() error {
	var errs []error
	for _, f := range s.files {
		errs = append(errs, f.Commit())
	}
	return errors.Join(errs...)
}

// Discard removes the files; what was in their places stays. Call it instead of Commit, not after it.
func (s *Set) Discard() {
	for _, f := range s.files {
		f.Discard()
	}
}

// ReadBounded reads a file, of which it takes no more than so many bytes.
func ReadBounded(name string, most int64) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return io.ReadAll(io.LimitReader(f, most))
}

// Exists says whether a name is that of a regular file, and not of a device or a pipe.
func Exists(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

// Device says whether something is there that is no regular file.
func Device(name string) bool {
	info, err := os.Stat(name)
	return err == nil && !info.Mode().IsRegular()
}

// Same says whether two names mean one file, whether it exists or not.
func Same(a, b string) bool {
	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(b)
	if errA == nil && errB == nil {
		return os.SameFile(infoA, infoB)
	}
	return RealPath(a) == RealPath(b)
}

// maxLinks is how many dangling links are followed, one to the next.
const maxLinks = 32

// RealPath is where a name leads, whether a file exists there or not.
func RealPath(name string) string {
	path, err := filepath.Abs(name)
	if err != nil {
		return name
	}
	for range maxLinks {
		if target, err := filepath.EvalSymlinks(path); err == nil {
			return target
		}
		dir, base := filepath.Split(path)
		if folder, err := filepath.EvalSymlinks(dir); err == nil {
			path = filepath.Join(folder, base)
		}
		target, err := os.Readlink(path)
		if err != nil {
			return path
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(path), target)
		}
		path = target
	}
	return path
}

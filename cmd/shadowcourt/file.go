package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
)

// outFile is a file that appears under its name only when it is complete:
// until then it is written beside its place. Devices and pipes are written to
// as they are.
type outFile struct {
	file *os.File
	path string // where it goes to; empty for a device
	err  error  // of the first write that failed
}

// createFile begins a file. A file that is there already keeps its
// permissions, and a link to it stays a link.
func createFile(name string) (*outFile, error) {
	path := realPath(name)
	mode := fs.FileMode(0o666) // less the user's mask
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return nil, fmt.Errorf("%s is a folder", name)
	case err == nil && !info.Mode().IsRegular():
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		return &outFile{file: f}, err
	case err == nil:
		mode = info.Mode().Perm()
	}
	f, err := createBeside(path, mode)
	if pathErr := (*fs.PathError)(nil); errors.As(err, &pathErr) {
		return nil, fmt.Errorf("%s: %w", name, pathErr.Err)
	}
	if err == nil && info != nil {
		err = f.Chmod(mode)
	}
	return &outFile{file: f, path: path}, err
}

// createBeside creates a file of a name of its own in the folder of path.
func createBeside(path string, mode fs.FileMode) (*os.File, error) {
	dir, base := filepath.Split(path)
	for i := 0; ; i++ {
		name := dir + "." + base + "." + strconv.Itoa(os.Getpid()) + "-" + strconv.Itoa(i) + ".tmp"
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
		if !errors.Is(err, fs.ErrExist) {
			return f, err
		}
	}
}

func (f *outFile) Write(p []byte) (int, error) {
	n, err := f.file.Write(p)
	if err != nil && f.err == nil {
		f.err = err
	}
	return n, err
}

// commit puts the file in its place. One of which a write failed is taken
// away instead; its error was given by that write.
func (f *outFile) commit() error {
	if f.err != nil {
		f.discard()
		return nil //nolint:nilerr // the write gave it
	}
	err := f.file.Close()
	if err == nil && f.path != "" {
		err = os.Rename(f.file.Name(), f.path)
	}
	if err != nil {
		f.discard()
	}
	return err
}

// discard takes the file away; what stood in its place stays.
func (f *outFile) discard() {
	_ = f.file.Close()
	if f.path != "" {
		_ = os.Remove(f.file.Name())
	}
}

// writeFile replaces a file as a whole, or leaves it as it was.
func writeFile(name string, data []byte) error {
	f, err := createFile(name)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.commit())
}

// isFile says whether a name is that of a file, and not of a device or a pipe.
func isFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

// namedFile is a file and what it is on the command line.
type namedFile struct{ what, path string }

// checkOverwrites refuses to write over what is read, and two outputs to one file.
func checkOverwrites(inputs, outputs []namedFile) error {
	var faults []error
	for i, out := range outputs {
		for _, in := range inputs {
			if in.path != "" && isFile(out.path) && sameFile(out.path, in.path) {
				faults = append(faults, fmt.Errorf("%s %q would write over %s that is read", out.what, out.path, in.what))
			}
		}
		for _, other := range outputs[:i] {
			if sameFile(other.path, out.path) {
				faults = append(faults, fmt.Errorf("%s and %s are the same file, %q", other.what, out.what, other.path))
			}
		}
	}
	return errors.Join(faults...)
}

// sameFile says whether two names mean one file, be it there or not.
func sameFile(a, b string) bool {
	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(b)
	if errA == nil && errB == nil {
		return os.SameFile(infoA, infoB)
	}
	return realPath(a) == realPath(b)
}

// maxLinks is how many links that lead nowhere yet are followed, one to the next.
const maxLinks = 32

// realPath is where a name leads, be a file there or not.
func realPath(name string) string {
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

package record

import (
	"errors"
	"io/fs"
	"os"
)

// ErrNotRegular: a pipe, a device or a folder stands where a file is needed.
var ErrNotRegular = errors.New("not a regular file")

// openRegular opens a file, and never waits for who has the other end of a pipe.
func openRegular(name string, flag int, mode fs.FileMode) (*os.File, error) {
	f, err := os.OpenFile(name, flag|openNow, mode)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: name, Err: ErrNotRegular}
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

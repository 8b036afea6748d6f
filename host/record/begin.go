package record

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/shadowcourt/shadowcourt/internal/disk"
)

// ErrInUse: another process writes to the record.
var ErrInUse = errors.New("another process writes to the record")

// Create begins a record in a file that is not there yet; one that is there is
// never written over (fs.ErrExist). The header is durable when it returns.
func Create(name string, key *Key, header *Header) (*Writer, error) {
	s, err := newSealer(key)
	if err != nil {
		return nil, err
	}
	f, err := openRegular(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	return createIn(f, name, s, header)
}

// createIn begins a record in a file that was just made.
func createIn(f *os.File, name string, s *sealer, header *Header) (*Writer, error) {
	if err := claim(f, name); err != nil {
		return nil, errors.Join(err, f.Close()) // it is another's now, who keeps it
	}
	w, err := begin(f, s, header)
	if err == nil {
		err = disk.SyncFolder(filepath.Dir(name))
	}
	if err != nil {
		return nil, errors.Join(err, removeOwn(f, name), f.Close())
	}
	return w, nil
}

// claim locks a new file, into which nobody else began a record meanwhile.
func claim(f *os.File, name string) error {
	if err := lock(f); err != nil {
		return err
	}
	switch info, err := f.Stat(); {
	case err != nil:
		return err
	case info.Size() > 0 || !names(name, info):
		return &fs.PathError{Op: "create", Path: name, Err: fs.ErrExist}
	}
	return nil
}

// lock keeps others from writing to the same record until the file is closed.
func lock(f *os.File) error {
	err := disk.TryLock(f)
	if errors.Is(err, disk.ErrLocked) {
		return ErrInUse
	}
	return err
}

// names says whether a file is the one of this name.
func names(name string, info fs.FileInfo) bool {
	there, err := os.Stat(name)
	return err == nil && os.SameFile(info, there)
}

// removeOwn takes away the file that this process began and has locked.
func removeOwn(f *os.File, name string) error {
	info, err := f.Stat()
	if err != nil || !names(name, info) {
		return err
	}
	return os.Remove(name)
}

// begin writes the header into an empty file.
func begin(f file, s *sealer, header *Header) (*Writer, error) {
	w := newWriter(f, s)
	h, err := formatted(header)
	if err != nil {
		return nil, err
	}
	if err := w.append(&Entry{Header: h}); err != nil {
		return nil, err
	}
	return w, w.Sync()
}

// formatted is a header of the format of this package.
func formatted(header *Header) (*Header, error) {
	h := *header
	h.Format = Format
	return &h, checkHeader(&h)
}

// Begin begins a record in memory, or wherever out leads. There Sync does nothing, and Finish and Close don't close out: it is the
// caller's to make what was written durable before anybody sees a result.
func Begin(out io.Writer, key *Key, header *Header) (*Writer, error) {
	s, err := newSealer(key)
	if err != nil {
		return nil, err
	}
	return begin(unsynced{out}, s, header)
}

// unsynced is a writer as a file.
type unsynced struct{ io.Writer }

func (unsynced) Sync() error { return nil }

func (unsynced) Close() error { return nil }

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

package record

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/internal/disk"
)

// ErrFewer: the record has fewer trials than are to be there.
var ErrFewer = errors.New("trials of the earlier run are not in the record")

// ErrOtherRun: the record has other trials than those that are to be there. Nothing of it was changed.
var ErrOtherRun = errors.New("it is the record of another run; it was left as it is")

// ErrNotBegun: a file without one whole entry holds something else than the
// beginning of the header that would be written. Nothing of it was changed.
var ErrNotBegun = errors.New("it holds no whole entry, and what it holds is not the beginning of this record; it was left as it is")

// Resume continues with a record behind its first trials: it verifies all of it, and cuts off the trials behind those, of which nobody can
// have seen a result, and an entry that was not written whole. A negative number keeps all trials. head is what [Writer.Head] was behind
// the last trial that is kept; it may be empty where there is none.
//
// A header with another configuration is a *ConfigurationError. Without a file, or with one in which not even the header is whole, the
// record begins again; with one that holds anything else, fewer trials or those of another run, that is ErrNotBegun, ErrFewer,
// ErrOtherRun or a *FaultError, and the file stays as it is.
func Resume(name string, key *Key, header *Header, trials int, head Digest) (*Writer, error) {
	s, err := newSealer(key)
	if err != nil {
		return nil, err
	}
	// Another process may create the file, or take it away again, at any moment.
	const tries = 100
	for range tries {
		var f *os.File
		f, err = openLocked(name)
		if err == nil {
			w, err := resume(f, s, key, header, trials, head)
			if err != nil {
				return nil, errors.Join(err, f.Close())
			}
			return w, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			break
		}
		var w *Writer
		if trials > 0 {
			return nil, ErrFewer
		}
		if w, err = Create(name, key, header); !errors.Is(err, fs.ErrExist) {
			return w, err
		}
	}
	return nil, err
}

// openLocked opens a file and locks it. One that lost its name meanwhile is not there (fs.ErrNotExist).
func openLocked(name string) (*os.File, error) {
	f, err := openRegular(name, os.O_RDWR|os.O_APPEND, 0)
	if err != nil {
		return nil, err
	}
	return f, lockNamed(f, name)
}

// lockNamed locks a file that was opened by this name, or closes it.
func lockNamed(f *os.File, name string) error {
	err := lock(f)
	if err == nil {
		var info fs.FileInfo
		if info, err = f.Stat(); err == nil && !names(name, info) {
			err = fs.ErrNotExist
		}
	}
	if err != nil {
		return errors.Join(err, f.Close())
	}
	return nil
}

func resume(f *os.File, s *sealer, key *Key, header *Header, trials int, head Digest) (*Writer, error) {
	var behind Digest // the last trial that is kept
	r, err := readAll(f, key, header, -1, func(r *Reader) {
		if r.Trials() == trials {
			behind = r.Head()
		}
	})
	if err != nil {
		return nil, err
	}
	switch {
	case r.Trials() < trials:
		return nil, ErrFewer
	case r.Entries() == 0:
		return restart(f, s, header)
	case behind != "" && behind != head, trials >= 0 && r.Trials() > trials && r.Closed(): // all results of a closed record were shown
		return nil, ErrOtherRun
	case trials >= 0 && r.Trials() > trials:
		if r, err = readAll(f, key, header, trials, func(*Reader) {}); err != nil {
			return nil, err
		}
	}
	if err := f.Truncate(r.Offset()); err != nil {
		return nil, err
	}
	w := newWriter(f, s)
	w.chain = r.chain
	return w, w.Sync()
}

// restart begins again in a file that is empty or holds the beginning of the very header that is written.
func restart(f *os.File, s *sealer, header *Header) (*Writer, error) {
	h, err := formatted(header)
	if err != nil {
		return nil, err
	}
	line, err := s.seal(&Entry{Header: h})
	if err != nil {
		return nil, err
	}
	held, err := io.ReadAll(io.NewSectionReader(f, 0, int64(len(line))+1))
	if err != nil {
		return nil, err
	}
	if !bytes.HasPrefix(line, held) {
		return nil, ErrNotBegun
	}
	if err := f.Truncate(0); err != nil {
		return nil, err
	}
	return begin(f, s, header)
}

// readAll reads what an earlier run wrote, up to so many trials, or all where that is negative, and calls a function behind each trial.
func readAll(f *os.File, key *Key, header *Header, trials int, each func(*Reader)) (*Reader, error) {
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	r, err := NewReader(f, key)
	for err == nil && (r.Header() == nil || r.Trials() != trials) {
		var entry *Entry
		entry, err = r.Next()
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, ErrTorn):
			return r, nil
		case err == nil && entry.Header != nil:
			err = sameConfiguration(entry.Header, header)
		case err == nil && entry.Trial != nil:
			each(r)
		}
	}
	return r, err
}

// ConfigurationError says that a record is of another configuration.
type ConfigurationError struct{ Other []string }

// Error names what is another.
func (e *ConfigurationError) Error() string {
	return "the record is of another configuration: another " + strings.Join(e.Other, ", another ")
}

func sameConfiguration(a, b *Header) error {
	var other []string
	if a.Contents != b.Contents {
		other = append(other, "choice of what is kept ("+string(a.Contents)+")")
	}
	if a.Instrumentation != b.Instrumentation {
		other = append(other, "metering of fuel")
	}
	if a.Prepared != b.Prepared {
		other = append(other, "choice of whether modules are prepared")
	}
	for _, lists := range [][2][]Part{{a.Configuration, b.Configuration}, {b.Configuration, a.Configuration}} {
		for _, p := range lists[0] {
			if !slices.Contains(lists[1], p) && !slices.Contains(other, p.Name) {
				other = append(other, p.Name)
			}
		}
	}
	if len(other) > 0 {
		return &ConfigurationError{other}
	}
	return nil
}

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

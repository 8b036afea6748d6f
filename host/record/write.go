package record

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Writer appends to a record. It is not safe for concurrent use: the caller
// appends in the order of the docket. After an error it writes nothing more.
type Writer struct {
	file   file
	sealer *sealer
	chain  chain
	err    error
}

// file is what a Writer writes to.
type file interface {
	io.WriteCloser
	Sync() error
}

// Create begins a record in a file that is not there yet; one that is there is
// never written over (fs.ErrExist). The header is durable when it returns.
func Create(name string, key *Key, header *Header) (*Writer, error) {
	s, err := newSealer(key)
	if err != nil {
		return nil, err
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	w, err := begin(f, s, header)
	if err == nil {
		err = syncFolder(filepath.Dir(name))
	}
	if err != nil {
		return nil, errors.Join(err, f.Close(), os.Remove(name))
	}
	return w, nil
}

// begin writes the header.
func begin(f file, s *sealer, header *Header) (*Writer, error) {
	w := &Writer{file: f, sealer: s}
	if err := lock(f); err != nil {
		return nil, err
	}
	h := *header
	h.Format = Format
	if err := checkHeader(&h); err != nil {
		return nil, err
	}
	if err := w.append(&Entry{Header: &h}); err != nil {
		return nil, err
	}
	return w, w.Sync()
}

// Resume goes on with a record: it verifies all of it, hands each trial to
// each, and cuts off an entry that was not written whole. A header with
// another configuration is a *ConfigurationError. Without a file, or with one
// in which not even the header is whole, the record begins anew.
func Resume(name string, key *Key, header *Header, each func(*Trial) error) (*Writer, error) {
	s, err := newSealer(key)
	if err != nil {
		return nil, err
	}
	f, err := os.OpenFile(name, os.O_RDWR|os.O_APPEND, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return Create(name, key, header)
	}
	if err != nil {
		return nil, err
	}
	w, err := resume(f, s, key, header, each)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return w, nil
}

func resume(f *os.File, s *sealer, key *Key, header *Header, each func(*Trial) error) (*Writer, error) {
	if err := lock(f); err != nil {
		return nil, err
	}
	r, err := NewReader(f, key)
	if err != nil {
		return nil, err
	}
	if err := readAll(r, header, each); err != nil {
		return nil, err
	}
	if err := f.Truncate(r.Offset()); err != nil {
		return nil, err
	}
	if r.Entries() == 0 {
		return begin(f, s, header)
	}
	w := &Writer{file: f, sealer: s, chain: r.chain}
	return w, w.Sync()
}

// readAll takes what an earlier run wrote.
func readAll(r *Reader, header *Header, each func(*Trial) error) error {
	for {
		entry, err := r.Next()
		var fault *FaultError
		switch {
		case errors.Is(err, io.EOF), errors.As(err, &fault) && fault.Torn:
			return nil
		case err != nil:
			return err
		case entry.Header != nil:
			if err := sameConfiguration(entry.Header, header); err != nil {
				return err
			}
		case entry.Trial != nil:
			if err := each(entry.Trial); err != nil {
				return err
			}
		}
	}
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

// Append writes a trial with its audit, and the modules of either where they
// are others than those of the one before. What was appended is durable after
// the next Sync.
func (w *Writer) Append(t *Trial) error {
	own := *t
	if err := w.generation(&w.chain.court, t.Modules, false); err != nil {
		return err
	}
	own.Generation = w.chain.court.sequence
	if t.Audit != nil {
		if w.chain.header.Audit == nil {
			return errNoAudits
		}
		audit := *t.Audit
		if err := w.generation(&w.chain.audit, audit.Modules, true); err != nil {
			return err
		}
		audit.Generation = w.chain.audit.sequence
		own.Audit = &audit
	}
	return w.append(&Entry{Trial: &own})
}

// generation writes modules that are others than the last ones of their kind.
func (w *Writer) generation(last *generation, modules []Part, audit bool) error {
	if last.sequence > 0 && slices.Equal(last.modules, modules) {
		return nil
	}
	return w.append(&Entry{Generation: &Generation{Audit: audit, Modules: modules}})
}

// append writes one entry with one call, so that a crash cuts one line at most.
func (w *Writer) append(e *Entry) error {
	if w.err != nil {
		return w.err
	}
	e.Sequence, e.Previous = w.chain.next, w.chain.previous
	line, err := w.sealer.seal(e)
	if err != nil {
		return err
	}
	if _, w.err = w.file.Write(append(line, '\n')); w.err == nil {
		w.chain.follow(e, line)
	}
	return w.err
}

// Sync makes all that was appended durable: it is on the disk when it returns.
func (w *Writer) Sync() error {
	if w.err == nil {
		w.err = w.file.Sync()
	}
	return w.err
}

// Trials counts those in the record.
func (w *Writer) Trials() int { return w.chain.trials }

// Finish closes the record with the number of its trials, unless it is closed
// with them already, and then the file.
func (w *Writer) Finish() error {
	var err error
	if !w.chain.closed {
		err = w.append(&Entry{Closing: &Closing{Trials: w.chain.trials}})
	}
	return errors.Join(err, w.Close())
}

// Close leaves the record open, for Resume to go on with.
func (w *Writer) Close() error {
	err := w.Sync()
	w.err = errors.New("the record is closed")
	return errors.Join(err, w.file.Close())
}

// syncFolder makes the name of a new file durable.
func syncFolder(name string) error {
	dir, err := os.Open(name)
	if err != nil {
		return err
	}
	defer func() { _ = dir.Close() }()
	if err := dir.Sync(); err != nil && !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, fs.ErrInvalid) {
		return err
	}
	return nil
}

// ErrInUse: another process writes to the record.
var ErrInUse = errors.New("another process writes to the record")

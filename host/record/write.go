package record

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/internal/disk"
)

// ErrTooLong: an entry is longer than MaxEntryBytes. It was not written.
var ErrTooLong = errors.New("more than an entry of a record may hold")

// Writer appends to a record. It is not safe for concurrent use: the caller
// appends in the order of the docket. After an error it writes nothing more.
type Writer struct {
	file   file
	sealer *sealer
	chain  chain
	most   int   // bytes of a line with its line feed
	err    error // why nothing more is written
	lost   error // why nobody knows what is on the disk
}

// Head is the digest of the last line, see [Reader.Head].
func (w *Writer) Head() Digest { return w.chain.previous }

func newWriter(f file, s *sealer) *Writer { return &Writer{file: f, sealer: s, most: MaxEntryBytes} }

// file is what a Writer writes to.
type file interface {
	io.WriteCloser
	Sync() error
}

// Append writes a trial with its audit, and the modules of either where they are others than those of the one before. What was appended is
// durable after the next Sync. A case that has a trial in the record already is rejected.
func (w *Writer) Append(t *Trial) error {
	if err := w.chain.checkID(t.ID); err != nil {
		return err
	}
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
	if err := cmp.Or(w.err, w.lost); err != nil {
		return err
	}
	e.Sequence, e.Previous = w.chain.next, w.chain.previous
	line, err := w.sealer.seal(e)
	if err != nil {
		return err
	}
	if len(line) >= w.most {
		return fmt.Errorf("%w: it has %d bytes, and %d are allowed", ErrTooLong, len(line)+1, w.most)
	}
	if _, w.err = w.file.Write(append(line, '\n')); w.err == nil {
		w.chain.follow(e, line)
	}
	return w.err
}

// Sync makes all that was appended durable: it is on the disk when it returns. That goes for what was appended before an error, too.
func (w *Writer) Sync() error {
	if w.lost == nil {
		w.lost = w.file.Sync()
	}
	return w.lost
}

// Finish closes the record with the number of its trials, unless it is closed with them already, and then the file.
func (w *Writer) Finish() error {
	var err error
	if !w.chain.closed {
		err = w.append(&Entry{Closing: &Closing{Trials: w.chain.trials}})
	}
	return errors.Join(err, w.Close())
}

// Close leaves the record open, for Resume to continue with.
func (w *Writer) Close() error {
	err := w.Sync()
	w.err = errors.New("the record is closed")
	return errors.Join(err, w.file.Close())
}

// Store is a folder of modules by their digests: sha256-HEX.wasm. Several processes may use it at once.
type Store struct{ dir string }

// OpenStore gives the store in a folder, which Put makes when it is not there.
func OpenStore(dir string) *Store { return &Store{dir} }

func (s *Store) path(d Digest) string { return filepath.Join(s.dir, "sha256-"+d.Hex()+".wasm") }

// Put keeps a module, if it is not there already. It appears whole or not at all.
func (s *Store) Put(wasm []byte) (Digest, error) {
	d := DigestOf(wasm)
	if _, err := s.Get(d); err == nil {
		return d, nil
	}
	if err := disk.MakeFolder(s.dir, 0o755); err != nil {
		return d, err
	}
	return d, disk.Place(s.path(d), wasm, 0o644)
}

// Get gives a module: fs.ErrNotExist when it is not there, another error when what is there is no file or has another digest.
func (s *Store) Get(d Digest) ([]byte, error) {
	if !d.Valid() {
		return nil, fmt.Errorf("%q is no digest", d)
	}
	f, err := openRegular(s.path(d), os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	wasm, err := io.ReadAll(io.LimitReader(f, abi.DefaultModuleBytes+1))
	if err != nil {
		return nil, err
	}
	if DigestOf(wasm) != d {
		return nil, fmt.Errorf("%s: its content has another digest than its name says", filepath.Base(s.path(d)))
	}
	return wasm, nil
}

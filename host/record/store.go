package record

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/internal/disk"
)

// Store is a folder of modules by their digests: sha256-HEX.wasm. Several
// processes may use it at once.
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

// Get gives a module: fs.ErrNotExist when it is not there, another error when
// what is there is no file or has another digest.
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
		return nil, fmt.Errorf("%s: %w", filepath.Base(s.path(d)), errContent)
	}
	return wasm, nil
}

var errContent = errors.New("its content has another digest than its name says")

// Has says whether a module is there, whole.
func (s *Store) Has(d Digest) bool {
	_, err := s.Get(d)
	return !errors.Is(err, fs.ErrNotExist) && err == nil
}

package work

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/shadowcourt/shadowcourt/host/bundle"
	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/internal/service/store"
)

// embedded are the digests of the modules in this program, by name.
var embedded = sync.OnceValues(func() (map[string]string, error) {
	digests := map[string]string{}
	err := eachEmbedded(func(name string, wasm []byte) error {
		digests[name] = record.DigestOf(wasm).Hex()
		return nil
	})
	return digests, err
})

func eachEmbedded(do func(name string, wasm []byte) error) error {
	modules, err := bundle.FS()
	if err != nil {
		return err
	}
	files, err := fs.Glob(modules, "*.wasm")
	if err != nil {
		return err
	}
	for _, file := range files {
		wasm, err := fs.ReadFile(modules, file)
		if err == nil {
			err = do(strings.TrimSuffix(file, ".wasm"), wasm)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Begin puts the modules that this program embeds in force where the store has no generation yet, and gives the current one. A
// store that has one keeps it, whatever this program embeds: a fleet may run two versions of the program for a while.
func Begin(ctx context.Context, s *store.Store) (generation int64, err error) {
	if generation, err = s.CurrentGeneration(ctx); err != nil || generation != 0 {
		return generation, err
	}
	parts := store.Parts{Modules: map[string]string{}}
	if err := eachEmbedded(func(name string, wasm []byte) (err error) {
		parts.Modules[name], err = s.AddBlob(ctx, wasm)
		return err
	}); err != nil {
		return 0, err
	}
	return s.BeginWith(ctx, store.Generation{Parts: parts, Note: "the modules that shadowcourt embeds", Author: "shadowcourt"})
}

// readOpening reads what a host of a generation is opened on.
func readOpening(ctx context.Context, s *store.Store, generation int64, format string) (*Opening, error) {
	g, err := s.Generation(ctx, generation)
	if err != nil {
		return nil, err
	}
	return OpeningOf(ctx, s, &g, format)
}

// Blobs gives modules and files by their digests: a *store.Store, or what is to be added to one.
type Blobs interface {
	Blob(ctx context.Context, digest string) ([]byte, error)
}

// OpeningOf reads what a host of a generation is opened on, which need not be in the store yet, but its modules and files must
// be.
func OpeningOf(ctx context.Context, s Blobs, g *store.Generation, format string) (*Opening, error) {
	o := &Opening{Format: format, Files: map[string][]byte{}, Share: g.Share}
	var err error
	for name, digest := range g.Parts.Files {
		if o.Files[name], err = s.Blob(ctx, digest); err != nil {
			return nil, err
		}
	}
	if len(g.Parts.Canary) > 0 {
		o.Canary = map[string][]byte{}
	}
	for name, digest := range g.Parts.Canary {
		if o.Canary[name], err = s.Blob(ctx, digest); err != nil {
			return nil, err
		}
	}
	own, err := embedded()
	if err != nil {
		return nil, err
	}
	if maps.Equal(own, g.Parts.Modules) || len(g.Parts.Modules) == 0 {
		return o, nil
	}
	o.Modules, err = modulesOf(ctx, s, g.Parts.Modules, own)
	return o, err
}

// modulesOf reads modules: those that this program has embedded from there, so that a fleet reads no more of the database than what a
// generation changes.
func modulesOf(ctx context.Context, s Blobs, digests, own map[string]string) (memory, error) {
	shipped, err := bundle.FS()
	if err != nil {
		return nil, err
	}
	files := memory{}
	for name, digest := range digests {
		file := name + ".wasm"
		if own[name] == digest {
			files[file], err = fs.ReadFile(shipped, file)
		} else {
			files[file], err = s.Blob(ctx, digest)
		}
		if err != nil {
			return nil, err
		}
	}
	return files, nil
}

// memory is a folder of files in memory.
type memory map[string][]byte

// Open opens a file, or the folder.
func (m memory) Open(name string) (fs.File, error) {
	if content, ok := m[name]; ok {
		return &memoryFile{Reader: bytes.NewReader(content), name: name, size: int64(len(content))}, nil
	}
	if name == "." {
		d := &memoryFolder{}
		for _, name := range slices.Sorted(maps.Keys(m)) {
			d.left = append(d.left, fs.FileInfoToDirEntry(&memoryFile{name: name, size: int64(len(m[name]))}))
		}
		return d, nil
	}
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

type memoryFile struct {
	*bytes.Reader
	name string
	size int64
}

// Stat describes the file.
func (f *memoryFile) Stat() (fs.FileInfo, error) { return f, nil }

// Close does nothing.
func (*memoryFile) Close() error { return nil }

// Name of the file.
func (f *memoryFile) Name() string { return f.name }

// Size in bytes.
func (f *memoryFile) Size() int64 { return f.size }

// Mode is that of a file which can be read.
func (*memoryFile) Mode() fs.FileMode { return 0o444 }

// ModTime is none.
func (*memoryFile) ModTime() time.Time { return time.Time{} }

// IsDir says no.
func (*memoryFile) IsDir() bool { return false }

// Sys is nothing.
func (*memoryFile) Sys() any { return nil }

type memoryFolder struct{ left []fs.DirEntry }

// Stat describes the folder.
func (d *memoryFolder) Stat() (fs.FileInfo, error) { return folderInfo{&memoryFile{name: "."}}, nil }

// Read is not possible.
func (*memoryFolder) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: ".", Err: fmt.Errorf("is a folder: %w", fs.ErrInvalid)}
}

// Close does nothing.
func (*memoryFolder) Close() error { return nil }

// ReadDir lists the files.
func (d *memoryFolder) ReadDir(n int) ([]fs.DirEntry, error) {
	if n <= 0 {
		n = len(d.left)
	} else if len(d.left) == 0 {
		return nil, io.EOF
	}
	n = min(n, len(d.left))
	list := d.left[:n]
	d.left = d.left[n:]
	return list, nil
}

type folderInfo struct{ *memoryFile }

// IsDir says yes.
func (folderInfo) IsDir() bool { return true }

// Mode is that of a folder.
func (folderInfo) Mode() fs.FileMode { return fs.ModeDir | 0o555 }

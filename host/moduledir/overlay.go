package moduledir

import (
	"bytes"
	"io/fs"
	"os"
	"time"
)

// With gives the folder as it would be with other modules, for a check before
// they are put in place.
func (d *Dir) With(modules map[string][]byte) fs.FS {
	files := make(map[string][]byte, len(modules))
	for name, wasm := range modules {
		files[name+extension] = wasm
	}
	return Over(os.DirFS(d.path), files)
}

// Over gives a file system with modules, by the names of their files, over what it has itself.
func Over(fsys fs.FS, files map[string][]byte) fs.FS { return overlay{fsys, files} }

type overlay struct {
	fs.FS
	files map[string][]byte
}

// Open opens a module that stands over the folder, or a file of the folder.
func (o overlay) Open(name string) (fs.File, error) {
	if module, ok := o.files[name]; ok {
		return &memory{bytes.NewReader(module), name}, nil
	}
	return o.FS.Open(name)
}

// memory is a file that is not on the disk yet.
type memory struct {
	*bytes.Reader
	name string
}

func (m *memory) Stat() (fs.FileInfo, error) { return m, nil }
func (*memory) Close() error                 { return nil }

// The methods of its fs.FileInfo; the size is the reader's.

func (m *memory) Name() string     { return m.name }
func (*memory) Mode() fs.FileMode  { return 0o444 }
func (*memory) ModTime() time.Time { return time.Time{} }
func (*memory) IsDir() bool        { return false }
func (*memory) Sys() any           { return nil }

package moduledir

import (
	"bytes"
	"io/fs"
	"os"
	"strings"
	"time"
)

// With gives the folder as it would be with other modules, for a check before
// they are put in place.
func (d *Dir) With(modules map[string][]byte) fs.FS { return Over(os.DirFS(d.path), modules) }

// Over gives a file system with modules by name over what it has itself.
func Over(fsys fs.FS, modules map[string][]byte) fs.FS { return overlay{fsys, modules} }

type overlay struct {
	fs.FS
	modules map[string][]byte
}

// Open opens a module that stands over the folder, or a file of the folder.
func (o overlay) Open(name string) (fs.File, error) {
	if module, ok := o.modules[strings.TrimSuffix(name, extension)]; ok && strings.HasSuffix(name, extension) {
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

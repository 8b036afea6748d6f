package host

import (
	"bytes"
	"io/fs"
	"strings"
	"time"
)

// moduleFiles are modules in memory as a folder of NAME.wasm files.
type moduleFiles map[string][]byte

// Open opens a module.
func (m moduleFiles) Open(name string) (fs.File, error) {
	wasm, ok := m[strings.TrimSuffix(name, ".wasm")]
	if !ok || !strings.HasSuffix(name, ".wasm") {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return &moduleFile{bytes.NewReader(wasm), name}, nil
}

type moduleFile struct {
	*bytes.Reader
	name string
}

func (m *moduleFile) Stat() (fs.FileInfo, error) { return m, nil }
func (*moduleFile) Close() error                 { return nil }

// The methods of its fs.FileInfo; the size is the reader's.

func (m *moduleFile) Name() string     { return m.name }
func (*moduleFile) Mode() fs.FileMode  { return 0o444 }
func (*moduleFile) ModTime() time.Time { return time.Time{} }
func (*moduleFile) IsDir() bool        { return false }
func (*moduleFile) Sys() any           { return nil }

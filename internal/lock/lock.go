// Package lock reads and writes the file that pins the modules of a pipeline by their digests.
package lock

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/record"
	"github.com/shadowcourt/shadowcourt/internal/strictyaml"
)

// Name of the file, which stands beside the pipeline.
const Name = "shadowcourt.lock"

// maxBytes is far beyond a file with all modules that a pipeline can name.
const maxBytes = 1 << 20

// CodeBadDigest: a digest that is not "sha256:" and 64 hex digits.
const CodeBadDigest abi.Code = "bad_digest"

// File is what is pinned.
type File struct {
	// Modules are sorted by name, each once.
	Modules []Module `yaml:"modules"`

	path   string
	places strictyaml.Places
}

// Module is one that is pinned.
type Module struct {
	// Name is as the pipeline has it: a name, or a reference.
	Name string `yaml:"module" write:"always"`
	// Manifest is the digest of the OCI manifest that a reference stands for; empty for others.
	Manifest string `yaml:"manifest"`
	// Digest of the wasm file.
	Digest string `yaml:"digest" write:"always"`
}

// Read reads a file. Its error has all faults with their places, or is fs.ErrNotExist.
func Read(path string) (*File, error) {
	data, err := strictyaml.ReadFile(path, maxBytes, strictyaml.Open)
	if err != nil {
		return nil, err
	}
	return Parse(path, data)
}

// Find is Read, and nil where there is no file.
func Find(path string) (*File, error) {
	f, err := Read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // nothing is pinned
	}
	return f, err
}

// Parse is [Read] for bytes; path is for messages.
func Parse(path string, data []byte) (*File, error) {
	r := &strictyaml.Reader{File: path}
	f := &File{path: path}
	if root := r.Document(data, maxBytes); root != nil {
		r.Struct(root, "", f, nil)
		for i := range f.Modules {
			m, at := &f.Modules[i], strictyaml.IndexPath("modules", i)
			r.Required(at+".module", m.Name)
			r.Required(at+".digest", m.Digest)
			for _, of := range []struct{ key, digest string }{{"manifest", m.Manifest}, {"digest", m.Digest}} {
				if of.digest != "" && !record.Digest(of.digest).Valid() {
					r.FailAt(at+"."+of.key, CodeBadDigest, "%q: use sha256: and 64 hex digits", strictyaml.Clip(of.digest))
				}
			}
			if slices.ContainsFunc(f.Modules[:i], func(o Module) bool { return o.Name == m.Name }) {
				r.FailAt(at+".module", strictyaml.CodeDuplicateKey, "%q is pinned twice", strictyaml.Clip(m.Name))
			}
		}
	}
	f.places = r.Places
	return f, r.Err()
}

// Bytes is the text of the file. Equal modules in any order give equal bytes.
func (f *File) Bytes() ([]byte, error) {
	slices.SortFunc(f.Modules, func(a, b Module) int { return strings.Compare(a.Name, b.Name) })
	text, err := strictyaml.Marshal(f)
	return append([]byte("# Written by `shadowcourt lock`. Commit it, and run with --locked.\n"), text...), err
}

// Module gives what is pinned of a module; nil for one that is not, and where f is nil.
func (f *File) Module(name string) *Module {
	if f == nil {
		return nil
	}
	if i := slices.IndexFunc(f.Modules, func(m Module) bool { return m.Name == name }); i >= 0 {
		return &f.Modules[i]
	}
	return nil
}

// Check rejects each module that is not pinned, or has another digest. digests are those of the wasm files by module name.
func (f *File) Check(digests map[string]string) error {
	var faults []error
	for _, name := range slices.Sorted(maps.Keys(digests)) {
		i := slices.IndexFunc(f.Modules, func(m Module) bool { return m.Name == name })
		if i < 0 {
			faults = append(faults, fmt.Errorf("%s: %s is not in it", f.path, strictyaml.Clip(name)))
			continue
		}
		if pinned := f.Modules[i].Digest; pinned != digests[name] {
			at := f.places.At(strictyaml.IndexPath("modules", i) + ".digest")
			faults = append(faults, fmt.Errorf("%s:%d:%d: %s is %s, and %s is pinned", f.path, at.Line, at.Column, strictyaml.Clip(name), digests[name], pinned))
		}
	}
	return errors.Join(faults...)
}

package pull

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

// LockName is the name of the lock file, which stands beside the pipeline.
const LockName = "shadowcourt.lock"

// maxLockBytes is far beyond a file with all modules that a pipeline can name.
const maxLockBytes = 1 << 20

// CodeBadDigest: a digest that is not "sha256:" and 64 hex digits.
const CodeBadDigest abi.Code = "bad_digest"

// Lock is the file that pins the modules of a pipeline by their digests.
type Lock struct {
	// Modules are sorted by name, each once.
	Modules []Pin `yaml:"modules"`

	path   string
	places strictyaml.Places
}

// Pin is a module that is pinned.
type Pin struct {
	// Name is as the pipeline has it: a name, or a reference.
	Name string `yaml:"module" write:"always"`
	// Manifest is the digest of the OCI manifest that a reference stands for; empty for others.
	Manifest string `yaml:"manifest"`
	// Digest of the wasm file.
	Digest string `yaml:"digest" write:"always"`
}

// FindLock reads a lock file; nil where there is none. Its error has all faults with their places.
func FindLock(path string) (*Lock, error) {
	data, err := strictyaml.ReadFile(path, maxLockBytes, strictyaml.Open)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // nothing is pinned
	}
	if err != nil {
		return nil, err
	}
	return ParseLock(path, data)
}

// ParseLock is [FindLock] for bytes; path is for messages.
func ParseLock(path string, data []byte) (*Lock, error) {
	r := &strictyaml.Reader{File: path}
	f := &Lock{path: path}
	if root := r.Document(data, maxLockBytes); root != nil {
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
			if slices.ContainsFunc(f.Modules[:i], func(o Pin) bool { return o.Name == m.Name }) {
				r.FailAt(at+".module", strictyaml.CodeDuplicateKey, "%q is pinned twice", strictyaml.Clip(m.Name))
			}
		}
	}
	f.places = r.Places
	return f, r.Err()
}

// Bytes is the text of the file. Equal modules in any order give equal bytes.
func (f *Lock) Bytes() ([]byte, error) {
	slices.SortFunc(f.Modules, func(a, b Pin) int { return strings.Compare(a.Name, b.Name) })
	text, err := strictyaml.Marshal(f)
	return append([]byte("# Written by `shadowcourt lock`. Commit it, and run with --locked.\n"), text...), err
}

// Module gives what is pinned of a module; nil for one that is not, and where f is nil.
func (f *Lock) Module(name string) *Pin {
	if f == nil {
		return nil
	}
	if i := slices.IndexFunc(f.Modules, func(m Pin) bool { return m.Name == name }); i >= 0 {
		return &f.Modules[i]
	}
	return nil
}

// Check rejects each module that is not pinned, or has another digest. digests are those of the wasm files by module name.
func (f *Lock) Check(digests map[string]string) error {
	var faults []error
	for _, name := range slices.Sorted(maps.Keys(digests)) {
		i := slices.IndexFunc(f.Modules, func(m Pin) bool { return m.Name == name })
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

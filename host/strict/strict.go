// Package strict reads YAML files of operators for packages outside of host, with the same rules as the files of the host: unknown
// and repeated keys, values of another type and aliases are faults, and all faults are reported at once with their places.
package strict

import "github.com/shadowcourt/shadowcourt/host/internal/strictyaml"

// Fail notes that the value at a path, such as hooks[1].url, means nothing valid. A value that was not read has its fault already.
type Fail func(path, format string, args ...any)

// Read reads a file of at most maxBytes into the struct that to points to, whose fields have their keys in tags such as
// `yaml:"url"`. check then says what is wrong with the values. The error has all faults, one a line. Messages leave out the values of
// the file, which may be secrets in the wrong place.
func Read(file string, data []byte, maxBytes int, to any, check func(Fail)) error {
	r := &strictyaml.Reader{File: file, Secret: true}
	if root := r.Document(data, maxBytes); root != nil {
		r.Struct(root, "", to, nil)
		check(func(path, format string, args ...any) { r.FailAt(path, strictyaml.CodeOutOfRange, format, args...) })
	}
	return r.Err()
}

// ReadFile opens a file and reads at most one byte more than maxBytes. It rejects what is neither a regular file nor a pipe that
// somebody writes to.
func ReadFile(path string, maxBytes int) ([]byte, error) {
	return strictyaml.ReadFile(path, maxBytes, strictyaml.Open)
}

package audit

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/shadowcourt/shadowcourt/host/pipeline"
)

// MaxFileBytes is the size limit of a rubric, 1 MiB.
const MaxFileBytes = 1 << 20

// CodeParameters is the fault of parameters that a judge's module rejects.
const CodeParameters pipeline.Code = "parameters"

// Load reads and parses the rubric at path. Its error is a pipeline.Errors.
func Load(path string) (*Rubric, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, unreadable(path, err)
	}
	defer func() { _ = f.Close() }()
	return read(path, f)
}

// LoadFS is Load within a file system.
func LoadFS(fsys fs.FS, path string) (*Rubric, error) {
	f, err := fsys.Open(path)
	if err != nil {
		return nil, unreadable(path, err)
	}
	defer func() { _ = f.Close() }()
	return read(path, f)
}

func read(path string, r io.Reader) (*Rubric, error) {
	data, err := io.ReadAll(io.LimitReader(r, MaxFileBytes+1))
	if err != nil {
		return nil, unreadable(path, err)
	}
	return Parse(path, data)
}

func unreadable(path string, err error) error {
	if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
		err = pathErr.Err
	}
	return pipeline.Errors{{File: path, Code: pipeline.CodeUnreadable, Message: "can't be read: " + err.Error()}}
}

// Parse turns a rubric file into a checked Rubric with all defaults filled in.
// file is the name for messages. The error, if any, is a pipeline.Errors with
// every fault of the file, by line and column, at most pipeline.MaxErrors.
// YAML aliases are rejected.
func Parse(file string, data []byte) (*Rubric, error) {
	d := &decoder{}
	r := &Rubric{file: file}
	if root := d.Document(data, MaxFileBytes); root != nil {
		d.rubric(root, r)
	}
	var shapes pipeline.Errors
	for _, f := range d.Faults {
		shapes = append(shapes, &pipeline.Error{File: file, Line: f.Line, Column: f.Column, Path: f.Path, Code: pipeline.Code(f.Code), Message: f.Message})
	}
	if d.Places == nil { // no document
		return nil, shapes
	}
	r.places = d.Places
	r.Complete()
	v := validator{rubric: r}
	v.run(shapes)
	if all := slices.Concat(shapes, v.errs); len(all) > 0 {
		return nil, all.Sorted()
	}
	return r, nil
}

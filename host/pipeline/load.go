package pipeline

import (
	"errors"
	"io"
	"io/fs"
	"os"
	slashpath "path"
	"slices"
)

// MaxFileBytes is the size limit of a pipeline file, 1 MiB.
const MaxFileBytes = 1 << 20

// Load reads and parses the file at path. Its error is an [Errors].
func Load(path string) (*Definition, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, unreadable(path, err)
	}
	defer f.Close()
	return read(path, f, beside(path))
}

// LoadBytes is [Load] for a file whose bytes were read already, such as those of a pipe. Prompt files are read from the folder of path.
func LoadBytes(path string, data []byte) (*Definition, error) { return parse(path, data, beside(path)) }

// LoadFS is Load within a file system. Whether symbolic links lead out of the file's folder is up to the file system.
func LoadFS(fsys fs.FS, path string) (*Definition, error) {
	f, err := fsys.Open(path)
	if err != nil {
		return nil, unreadable(path, err)
	}
	defer f.Close()
	return read(path, f, func(name string) (fs.File, error) { return fsys.Open(slashpath.Join(slashpath.Dir(path), name)) })
}

func read(path string, r io.Reader, prompts opener) (*Definition, error) {
	data, err := io.ReadAll(io.LimitReader(r, MaxFileBytes+1))
	if err != nil {
		return nil, unreadable(path, err)
	}
	return parse(path, data, prompts)
}

func unreadable(path string, err error) error {
	if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
		err = pathErr.Err
	}
	return Errors{{File: path, Code: CodeUnreadable, Message: "can't be read: " + err.Error()}}
}

// Parse turns a pipeline file into a checked Definition with all defaults filled in. file is the name for messages.
// The error, if any, is an [Errors] with every fault of the file, sorted by line and column, at most [MaxErrors].
// YAML aliases are rejected, and so is `prompt_file`, since a file that was only given as bytes lies beside nothing.
func Parse(file string, data []byte) (*Definition, error) { return parse(file, data, nil) }

func parse(file string, data []byte, prompts opener) (*Definition, error) {
	d := &decoder{}
	root := d.Document(data, MaxFileBytes)
	if root == nil {
		return nil, errorsOf(file, d.Faults)
	}
	def := &Definition{Court: DefaultCourt(), file: file, promptFiles: make(map[string]string)}
	d.definition(root, def)
	def.places = d.Places
	shapes := errorsOf(file, d.Faults)

	def.Complete()
	v := newValidator(def, shapes)
	v.run()
	v.readPrompts(prompts)
	if all := slices.Concat(shapes, v.errs); len(all) > 0 {
		return nil, all.Sorted()
	}
	return def, nil
}

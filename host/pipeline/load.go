package pipeline

import (
	"io/fs"
	slashpath "path"

	"github.com/shadowcourt/shadowcourt/internal/strictyaml"
)

// MaxFileBytes is the size limit of a pipeline file, 1 MiB.
const MaxFileBytes = 1 << 20

// Load reads and parses the file at path. Its error is an [Errors].
func Load(path string) (*Definition, error) {
	return load(path, strictyaml.Open, beside(path))
}

// LoadBytes is [Load] for a file whose bytes were read already, such as those of a pipe. Prompt files are read from the folder of path.
func LoadBytes(path string, data []byte) (*Definition, error) { return parse(path, data, beside(path)) }

// LoadFS is Load within a file system. Whether symbolic links lead out of the file's folder is up to the file system.
func LoadFS(fsys fs.FS, path string) (*Definition, error) {
	return load(path, fsys.Open, func(name string) (fs.File, error) { return fsys.Open(slashpath.Join(slashpath.Dir(path), name)) })
}

func load(path string, open, prompts opener) (*Definition, error) {
	data, err := strictyaml.ReadFile(path, MaxFileBytes, open)
	if err != nil {
		return nil, err
	}
	return parse(path, data, prompts)
}

// Parse turns a pipeline file into a checked Definition with all defaults filled in. file is the name for messages.
// The error, if any, is an [Errors] with every fault of the file, sorted by line and column, at most [MaxErrors].
// YAML aliases are rejected, and so is `prompt_file`, since a file that was only given as bytes lies beside nothing.
func Parse(file string, data []byte) (*Definition, error) { return parse(file, data, nil) }

func parse(file string, data []byte, prompts opener) (*Definition, error) {
	r := &strictyaml.Reader{File: file}
	def := &Definition{Court: DefaultCourt(), file: file, promptFiles: make(map[string]string)}
	if root := r.Document(data, MaxFileBytes); root != nil {
		readDefinition(r, root, def)
		def.Complete()
		v := newValidator(def, r)
		v.run()
		v.readPrompts(prompts)
	}
	if err := r.Err(); err != nil {
		return nil, err
	}
	return def, nil
}

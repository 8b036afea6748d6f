package pipeline

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	slashpath "path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// MaxFileBytes is the size limit of a pipeline file, 1 MiB.
const MaxFileBytes = 1 << 20

// maxDepth is far more than the four levels a pipeline has.
const maxDepth = 32

// Load reads and parses the file at path. Its error is an [Errors].
func Load(path string) (*Definition, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, unreadable(path, err)
	}
	defer f.Close()
	return read(path, f, beside(path))
}

// LoadBytes is [Load] for a file whose bytes were read already, such as those of a pipe. Prompt files are read beside path.
func LoadBytes(path string, data []byte) (*Definition, error) { return parse(path, data, beside(path)) }

// beside opens files by their paths from the folder of a file.
func beside(path string) opener {
	return func(name string) (io.ReadCloser, error) { return os.Open(filepath.Join(filepath.Dir(path), name)) }
}

// LoadFS is Load within a file system.
func LoadFS(fsys fs.FS, path string) (*Definition, error) {
	f, err := fsys.Open(path)
	if err != nil {
		return nil, unreadable(path, err)
	}
	defer f.Close()
	return read(path, f, func(name string) (io.ReadCloser, error) { return fsys.Open(slashpath.Join(slashpath.Dir(path), name)) })
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
	d := &decoder{file: file, positions: make(map[string]Position)}
	root := d.document(data)
	if root == nil {
		return nil, d.errs
	}
	def := &Definition{Court: DefaultCourt(), file: file, positions: d.positions, promptFiles: make(map[string]string)}
	d.rejectAliases(root, 0)
	d.definition(root, def)
	shapes := d.errs

	def.Complete()
	v := newValidator(def, shapes)
	v.run()
	v.readPrompts(prompts)
	if all := slices.Concat(shapes, v.errs); len(all) > 0 {
		all.sort()
		return nil, all.limit()
	}
	return def, nil
}

// document gives the root of the file's only YAML document, or nil after a fault.
func (d *decoder) document(data []byte) *yaml.Node {
	whole := func(p Position, code Code, message string) *yaml.Node {
		d.errs = append(d.errs, &Error{File: d.file, Line: p.Line, Column: p.Column, Code: code, Message: message})
		return nil
	}
	if len(data) > MaxFileBytes {
		return whole(Position{}, CodeTooLarge, "is larger than "+strconv.Itoa(MaxFileBytes)+" bytes")
	}
	if at, message := badCharacter(data); message != "" {
		return whole(at, CodeEncoding, message)
	}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc, second yaml.Node
	if err := dec.Decode(&doc); errors.Is(err, io.EOF) {
		return whole(Position{1, 1}, CodeSyntax, "the file is empty")
	} else if err != nil {
		at, message := syntaxError(err)
		return whole(at, CodeSyntax, message)
	}
	if doc.Kind != yaml.DocumentNode || len(doc.Content) != 1 {
		return whole(Position{1, 1}, CodeSyntax, "the file is empty")
	}
	if err := dec.Decode(&second); err == nil {
		return whole(Position{second.Line, second.Column}, CodeSyntax, "a second document; a file holds one pipeline")
	} else if !errors.Is(err, io.EOF) {
		at, message := syntaxError(err)
		return whole(at, CodeSyntax, message)
	}
	return doc.Content[0]
}

// rejectAliases reports every alias and merge key, and nesting that no pipeline has.
func (d *decoder) rejectAliases(v *yaml.Node, depth int) {
	if depth > maxDepth {
		d.fail(v, "", CodeTooDeep, "nested deeper than %d levels", maxDepth)
		return
	}
	if v.Kind == yaml.AliasNode {
		d.fail(v, "", CodeAlias, "aliases are not allowed; write the value out")
		return
	}
	for i, child := range v.Content {
		if v.Kind == yaml.MappingNode && i%2 == 0 && child.ShortTag() == "!!merge" {
			d.fail(child, "", CodeAlias, "merge keys are not allowed; write the values out")
			continue
		}
		d.rejectAliases(child, depth+1)
	}
}

// badCharacter finds the first byte that is not UTF-8, or a character that YAML does not allow.
func badCharacter(data []byte) (at Position, message string) {
	at = Position{1, 1}
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			return at, "not UTF-8 (byte 0x" + strconv.FormatUint(uint64(data[i]), 16) + ")"
		case r < ' ' && r != '\t' && r != '\n' && r != '\r', r >= 0x7f && r < 0xa0 && r != 0x85, r == 0xfffe, r == 0xffff:
			return at, "control character " + strconv.QuoteRuneToASCII(r) + " is not allowed"
		case r == '\n':
			at = Position{at.Line + 1, 1}
		default:
			at.Column++
		}
		i += size
	}
	return at, ""
}

var yamlLine = regexp.MustCompile(`^line (\d+): `)

// syntaxError takes the line out of a message of the YAML library, which knows no column.
func syntaxError(err error) (at Position, message string) {
	message = strings.TrimPrefix(err.Error(), "yaml: ")
	at = Position{1, 1}
	if m := yamlLine.FindStringSubmatch(message); m != nil {
		at.Line, _ = strconv.Atoi(m[1])
		message = message[len(m[0]):]
	}
	return at, "not YAML: " + message
}

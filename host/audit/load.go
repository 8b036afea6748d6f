package audit

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

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
	d := &decoder{file: file, positions: make(map[string]pipeline.Position)}
	root := d.document(data)
	if root == nil {
		return nil, d.errs
	}
	r := &Rubric{file: file, positions: d.positions}
	d.rubric(root, r)
	r.Complete()
	v := validator{rubric: r}
	v.run(d.errs)
	if all := slices.Concat(d.errs, v.errs); len(all) > 0 {
		return nil, sorted(all)
	}
	return r, nil
}

// sorted puts faults in the order of the file and cuts a long list.
func sorted(all pipeline.Errors) pipeline.Errors {
	slices.SortStableFunc(all, func(a, b *pipeline.Error) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	if rest := len(all) - pipeline.MaxErrors; rest > 0 {
		last := all[pipeline.MaxErrors-1]
		return append(slices.Clip(all[:pipeline.MaxErrors]), &pipeline.Error{
			File: last.File, Line: last.Line, Column: last.Column, Code: pipeline.CodeMore,
			Message: fmt.Sprintf("%d more faults are not shown", rest),
		})
	}
	return all
}

// document gives the root of the file's only YAML document, or nil after a fault.
func (d *decoder) document(data []byte) *yaml.Node {
	whole := func(line, column int, code pipeline.Code, message string) *yaml.Node {
		d.errs = append(d.errs, &pipeline.Error{File: d.file, Line: line, Column: column, Code: code, Message: message})
		return nil
	}
	if len(data) > MaxFileBytes {
		return whole(0, 0, pipeline.CodeTooLarge, "is larger than "+strconv.Itoa(MaxFileBytes)+" bytes")
	}
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	var doc, second yaml.Node
	err := decoder.Decode(&doc)
	if err == nil && doc.Kind == yaml.DocumentNode && len(doc.Content) == 1 {
		again := decoder.Decode(&second)
		if errors.Is(again, io.EOF) {
			return doc.Content[0]
		}
		if again == nil {
			return whole(second.Line, second.Column, pipeline.CodeSyntax, "a second document; a file holds one rubric")
		}
		err = again
	}
	if err == nil || errors.Is(err, io.EOF) {
		return whole(1, 1, pipeline.CodeSyntax, "the file is empty")
	}
	line, message := syntaxError(err)
	return whole(line, 1, pipeline.CodeSyntax, message)
}

// syntaxLine finds the line in the text of the YAML library's errors, which have no types.
var syntaxLine = regexp.MustCompile(`^yaml: line (\d+): (.*)$`)

func syntaxError(err error) (line int, message string) {
	m := syntaxLine.FindStringSubmatch(strings.TrimSpace(err.Error()))
	if m == nil {
		return 1, strings.TrimPrefix(err.Error(), "yaml: ")
	}
	line, _ = strconv.Atoi(m[1])
	return line, m[2]
}

// Package strictyaml reads YAML files whose keys and types are known: nothing is coerced, aliases are rejected, and every fault has
// its place. [Reader.Struct] reads a file into a struct by its tags, [Message] through the strict decoder of a type of the
// contract. What values mean is the caller's to check, with [Reader.FailAt].
package strictyaml

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/shadowcourt/shadowcourt/abi"
)

// MaxErrors is how many faults are reported of one file; the last entry then says how many there are besides.
const MaxErrors = 100

// The codes of faults of any file.
const (
	CodeUnreadable   abi.Code = "unreadable"    // the file can't be read
	CodeTooLarge     abi.Code = "too_large"     // the file has more bytes than allowed
	CodeSyntax       abi.Code = "syntax"        // not YAML, or not one document
	CodeEncoding     abi.Code = "encoding"      // not UTF-8, or a control character
	CodeAlias        abi.Code = "alias"         // an alias or a merge key: they can blow up a small file
	CodeTooDeep      abi.Code = "too_deep"      // nested deeper than 32 levels
	CodeUnknownKey   abi.Code = "unknown_key"   // a key that the format does not have
	CodeDuplicateKey abi.Code = "duplicate_key" // a key given twice
	CodeWrongType    abi.Code = "wrong_type"    // a number for a text and the like
	CodeOutOfRange   abi.Code = "out_of_range"  // a number that does not fit
	CodeBadDuration  abi.Code = "bad_duration"  // not a duration such as "10m"
	CodeMissing      abi.Code = "missing"       // something required is absent or empty
	CodeMore         abi.Code = "more"          // there are more faults than MaxErrors
)

// Error is one fault of a file, or one warning about it.
type Error struct {
	File    string // as given by the caller
	Line    int    // from 1; 0 if unknown
	Column  int    // in characters, from 1; 0 if unknown
	Path    string // the data path, such as edges[3].to; empty for the whole file
	Code    abi.Code
	Message string // for people, without the path
	Err     error  // of a file that can't be read; nil otherwise
}

// Unwrap gives the error of the file system.
func (e *Error) Unwrap() error { return e.Err }

// Error gives file:line:column, path, message and code in one line.
func (e *Error) Error() string {
	var b strings.Builder
	if e.File != "" {
		b.WriteString(e.File)
		b.WriteByte(':')
	}
	if e.Line > 0 {
		fmt.Fprintf(&b, "%d:%d:", e.Line, e.Column)
	}
	if b.Len() > 0 {
		b.WriteByte(' ')
	}
	if e.Path != "" {
		b.WriteString(e.Path)
		b.WriteString(": ")
	}
	fmt.Fprintf(&b, "%s [%s]", e.Message, e.Code)
	return b.String()
}

// Errors are all faults of a file.
type Errors []*Error

// Error gives one fault a line.
func (e Errors) Error() string {
	lines := make([]string, len(e))
	for i, one := range e {
		lines[i] = one.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap lets errors.As find the single faults.
func (e Errors) Unwrap() []error {
	all := make([]error, len(e))
	for i, one := range e {
		all[i] = one
	}
	return all
}

// Sorted gives the faults by line and column, at most [MaxErrors]; the last entry then says how many there are besides.
func (e Errors) Sorted() Errors {
	slices.SortStableFunc(e, func(a, b *Error) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	if len(e) <= MaxErrors {
		return e
	}
	last := e[MaxErrors-1]
	return append(slices.Clip(e[:MaxErrors]), &Error{
		File: last.File, Line: last.Line, Column: last.Column, Code: CodeMore,
		Message: fmt.Sprintf("%d more faults are not shown", len(e)-MaxErrors),
	})
}

// Open opens a file of the disk for [ReadFile]. It does not wait until somebody writes to a pipe: nothing could interrupt that.
func Open(path string) (fs.File, error) { return os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) }

// ReadFile opens a file and reads at most one byte more than the limit. It rejects what is neither a regular file nor a pipe that
// somebody writes to. The error is an [Errors].
func ReadFile(path string, maxBytes int, open func(path string) (fs.File, error)) ([]byte, error) {
	data, err := readFile(path, maxBytes, open)
	if err == nil {
		return data, nil
	}
	if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
		err = pathErr.Err
	}
	return nil, Errors{{File: path, Code: CodeUnreadable, Message: "can't be read: " + err.Error(), Err: err}}
}

func readFile(path string, maxBytes int, open func(path string) (fs.File, error)) ([]byte, error) {
	f, err := open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	pipe := info.Mode()&fs.ModeNamedPipe != 0 // such as <(command) of a shell
	if !info.Mode().IsRegular() && !info.IsDir() && !pipe {
		return nil, errors.New("it is neither a file nor a pipe")
	}
	data, err := io.ReadAll(io.LimitReader(f, int64(maxBytes)+1))
	if err == nil && pipe && len(data) == 0 {
		return nil, errors.New("it is a pipe that nobody writes to")
	}
	return data, err
}

// Position is a place in a file. Lines and columns count from 1, columns in characters; 0 is unknown.
type Position struct{ Line, Column int }

// Places are where the values of a file stand, by their paths.
type Places map[string]Position

// At is the place of a path such as `edges[3].to`, or of the nearest thing around it.
func (p Places) At(path string) Position {
	for {
		if at, ok := p[path]; ok || path == "" {
			return at
		}
		path = ParentPath(path)
	}
}

// FieldPath is the path of a field.
func FieldPath(parent, field string) string {
	if parent == "" {
		return field
	}
	return parent + "." + field
}

// IndexPath is the path of an element of a list.
func IndexPath(parent string, i int) string { return parent + "[" + strconv.Itoa(i) + "]" }

// KeyPath is the path of a value under a name of the author's choice.
func KeyPath(parent, key string) string { return parent + "[" + strconv.Quote(key) + "]" }

// ParentPath cuts the last element. Quoted keys may hold dots and brackets.
func ParentPath(path string) string {
	if strings.HasSuffix(path, `"]`) {
		for i := len(path) - 3; i >= 0; i-- {
			if path[i] == '[' && path[i+1] == '"' {
				if _, err := strconv.Unquote(path[i+1 : len(path)-1]); err == nil {
					return path[:i]
				}
			}
		}
	}
	if i := strings.LastIndexAny(path, ".["); i >= 0 {
		return path[:i]
	}
	return ""
}

// Clip keeps a value of the file short enough for a message.
func Clip(s string) string {
	const most = 60
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "..."
	}
	return s
}

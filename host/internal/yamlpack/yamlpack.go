// Package yamlpack reads YAML as a message of the contract: it turns the file
// into msgpack as it stands, so that the contract's strict decoder judges it,
// and leads that decoder's problems back to line and column.
package yamlpack

import (
	"bytes"
	"errors"
	"math"
	"strconv"
	"strings"

	"github.com/vmihailenco/msgpack/v5"
	"gopkg.in/yaml.v3"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/internal/strictyaml"
)

// MaxFileBytes is the largest file that is read, 4 MiB.
const MaxFileBytes = 4 << 20

const maxDepth = abi.MaxDepth

// Problem is one fault of a file.
type Problem struct {
	File         string
	Line, Column int // from 1; 0 if unknown
	Path         string
	Code         abi.Code
	Detail       string
}

// String renders the problem as `file:line:column: path: detail [code]`.
func (p Problem) String() string {
	at := p.File
	if p.Line > 0 {
		at += ":" + strconv.Itoa(p.Line) + ":" + strconv.Itoa(p.Column)
	}
	if p.Path != "" {
		at += ": " + p.Path
	}
	return at + ": " + p.Detail + " [" + string(p.Code) + "]"
}

// Error holds every fault of a file.
type Error struct{ Problems []Problem }

// Error gives one fault a line.
func (e *Error) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

// The codes of faults that only YAML can have.
const (
	CodeSyntax abi.Code = strictyaml.CodeSyntax
	CodeAlias  abi.Code = strictyaml.CodeAlias
)

// Decode reads a file through the strict decoder of a type of the contract,
// such as codec.DecodeProfile with its target bound. The error is an *Error
// with all faults. Each of the lists that the file leaves out is empty.
func Decode(file string, data []byte, decode func(message []byte) error, lists ...string) error {
	root, err := parse(file, data)
	if err != nil {
		return err
	}
	for _, name := range lists {
		if root.Kind == yaml.MappingNode && child(root, abi.Field(name), false) == nil {
			root.Content = append(root.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: name}, &yaml.Node{Kind: yaml.SequenceNode})
		}
	}
	var out bytes.Buffer
	w := &writer{enc: msgpack.NewEncoder(&out), file: file, rejected: map[*yaml.Node]bool{}}
	if err := w.value(root, 0); err != nil {
		return err
	}
	err = decode(out.Bytes())
	var invalid *abi.ValidationError
	if !errors.As(err, &invalid) {
		if err == nil && len(w.problems) > 0 {
			return &Error{w.problems}
		}
		return err
	}
	all := &Error{w.problems}
	for _, p := range invalid.Problems {
		node := locate(root, p.Path, p.Code == abi.CodeDuplicateKey)
		if w.rejected[node] { // said already
			continue
		}
		all.Problems = append(all.Problems, Problem{
			File: file, Line: node.Line, Column: node.Column, Path: p.Path.String(), Code: p.Code, Detail: p.Detail,
		})
	}
	return all
}

func parse(file string, data []byte) (*yaml.Node, error) {
	root, fault := strictyaml.Parse(data, MaxFileBytes)
	if fault != nil {
		return nil, &Error{[]Problem{{File: file, Line: fault.Line, Column: fault.Column, Code: abi.Code(fault.Code), Detail: fault.Message}}}
	}
	return root, nil
}

// writer turns YAML nodes into msgpack.
type writer struct {
	enc      *msgpack.Encoder
	file     string
	problems []Problem
	rejected map[*yaml.Node]bool // values that stand for others, which problems tell of
}

func (w *writer) fail(n *yaml.Node, code abi.Code, detail string) error {
	w.problems = append(w.problems, Problem{File: w.file, Line: n.Line, Column: n.Column, Code: code, Detail: detail})
	w.rejected[n] = true
	return w.enc.EncodeNil()
}

func (w *writer) value(n *yaml.Node, depth int) error {
	if depth > maxDepth {
		return w.fail(n, abi.CodeTooDeep, "is nested too deep")
	}
	switch n.Kind {
	case yaml.MappingNode:
		if err := w.enc.EncodeMapLen(len(n.Content) / 2); err != nil {
			return err
		}
		for i := 0; i < len(n.Content); i += 2 {
			if key := n.Content[i]; key.Kind != yaml.ScalarNode || key.ShortTag() != "!!str" {
				w.problems = append(w.problems, Problem{
					File: w.file, Line: key.Line, Column: key.Column, Code: abi.CodeWrongType, Detail: "a key has to be a text; quote it",
				})
				w.rejected[n.Content[i+1]] = true
			}
			if err := w.enc.EncodeString(n.Content[i].Value); err != nil {
				return err
			}
			if err := w.value(n.Content[i+1], depth+1); err != nil {
				return err
			}
		}
		return nil
	case yaml.SequenceNode:
		if err := w.enc.EncodeArrayLen(len(n.Content)); err != nil {
			return err
		}
		for _, child := range n.Content {
			if err := w.value(child, depth+1); err != nil {
				return err
			}
		}
		return nil
	case yaml.ScalarNode:
		return w.scalar(n)
	default:
		return w.fail(n, CodeAlias, "aliases are not allowed; write the value out")
	}
}

func (w *writer) scalar(n *yaml.Node) error {
	switch n.ShortTag() {
	case "!!null":
		return w.enc.EncodeNil()
	case "!!bool":
		return w.enc.EncodeBool(strings.EqualFold(n.Value, "true"))
	case "!!int":
		var v int64
		if err := n.Decode(&v); err != nil {
			return w.fail(n, abi.CodeOutOfRange, n.Value+" is no 64-bit integer")
		}
		return w.enc.EncodeInt(v)
	case "!!float":
		var v float64
		if err := n.Decode(&v); err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
			return w.fail(n, abi.CodeNotFinite, n.Value+" is no finite number")
		}
		return w.enc.EncodeFloat64(v)
	case "!!str", "!!timestamp": // what looks like a date is the text that stands there
		return w.enc.EncodeString(n.Value)
	default:
		return w.fail(n, abi.CodeWrongType, "the tag "+n.ShortTag()+" is not allowed; write the value as a text, a number, true or false")
	}
}

// locate follows a path to its node, or to the nearest one around it. Of a key
// that occurs twice it finds the second one where the path ends with it.
func locate(n *yaml.Node, path abi.Path, second bool) *yaml.Node {
	for i, step := range path {
		next := child(n, step, second && i == len(path)-1)
		if next == nil {
			break
		}
		n = next
	}
	return n
}

func child(n *yaml.Node, step abi.PathElement, second bool) *yaml.Node {
	if i, ok := step.IsIndex(); ok {
		if n.Kind == yaml.SequenceNode && i < len(n.Content) {
			return n.Content[i]
		}
		return nil
	}
	if n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value != step.Name() {
			continue
		}
		if !second {
			return n.Content[i+1]
		}
		second = false
	}
	return nil
}

package strictyaml

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/vmihailenco/msgpack/v5"
	"gopkg.in/yaml.v3"

	"github.com/shadowcourt/shadowcourt/abi"
)

// MaxMessageBytes is the size limit of a file that is read as a message, 4 MiB.
const MaxMessageBytes = 4 << 20

// Message turns a file into msgpack as it stands, and reads it through the strict decoder of a type of the contract, such as
// codec.DecodeProfile. The error is an [Errors] with all faults, the decoder's at their lines and columns. Each of the lists that
// the file leaves out is empty.
func Message(file string, data []byte, decode func(message []byte) error, lists ...string) error {
	root, fault := parse(data, MaxMessageBytes)
	if fault != nil {
		fault.File = file
		return Errors{fault}
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
	err := decode(out.Bytes())
	invalid, ok := errors.AsType[*abi.ValidationError](err)
	if !ok {
		if err == nil && len(w.faults) > 0 {
			return w.faults
		}
		return err
	}
	for _, p := range invalid.Problems {
		if at := locate(root, p.Path, p.Code == abi.CodeDuplicateKey); !w.rejected[at] { // said already
			w.faults = append(w.faults, &Error{File: file, Line: at.Line, Column: at.Column, Path: p.Path.String(), Code: p.Code, Message: p.Detail})
		}
	}
	return w.faults
}

// writer turns YAML nodes into msgpack.
type writer struct {
	enc      *msgpack.Encoder
	file     string
	faults   Errors
	rejected map[*yaml.Node]bool // values that stand for others, which faults tell of
}

func (w *writer) fail(at, value *yaml.Node, code abi.Code, format string, args ...any) {
	w.faults = append(w.faults, &Error{File: w.file, Line: at.Line, Column: at.Column, Code: code, Message: fmt.Sprintf(format, args...)})
	w.rejected[value] = true
}

func (w *writer) value(n *yaml.Node, depth int) error {
	if depth > abi.MaxDepth {
		w.fail(n, n, abi.CodeTooDeep, "is nested too deep")
		return w.enc.EncodeNil()
	}
	switch n.Kind {
	case yaml.MappingNode:
		if err := w.enc.EncodeMapLen(len(n.Content) / 2); err != nil {
			return err
		}
		for i := 0; i < len(n.Content); i += 2 {
			key, value := n.Content[i], n.Content[i+1]
			if key.Kind != yaml.ScalarNode || key.ShortTag() != "!!str" {
				w.fail(key, value, abi.CodeWrongType, "a key has to be a text; quote it")
			}
			if err := errors.Join(w.enc.EncodeString(key.Value), w.value(value, depth+1)); err != nil {
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
		w.fail(n, n, CodeAlias, "aliases are not allowed; write the value out")
		return w.enc.EncodeNil()
	}
}

func (w *writer) scalar(n *yaml.Node) error {
	switch n.ShortTag() {
	case "!!null":
	case "!!bool":
		return w.enc.EncodeBool(strings.EqualFold(n.Value, "true"))
	case "!!int":
		var v int64
		if n.Decode(&v) == nil {
			return w.enc.EncodeInt(v)
		}
		w.fail(n, n, abi.CodeOutOfRange, "%s is no 64-bit integer", n.Value)
	case "!!float":
		var v float64
		if n.Decode(&v) == nil && !math.IsNaN(v) && !math.IsInf(v, 0) {
			return w.enc.EncodeFloat64(v)
		}
		w.fail(n, n, abi.CodeNotFinite, "%s is no finite number", n.Value)
	case "!!str", "!!timestamp": // what looks like a date is the text that stands there
		return w.enc.EncodeString(n.Value)
	default:
		w.fail(n, n, abi.CodeWrongType, "the tag %s is not allowed; write the value as a text, a number, true or false", n.ShortTag())
	}
	return w.enc.EncodeNil()
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

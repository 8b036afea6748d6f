package strictyaml

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"time"

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

// Writer is a type that is written as another value; nil leaves it out.
type Writer interface {
	WriteYAML() any
}

// Marshal writes the struct that v points to as a file that [Reader.Struct] reads to the same. Equal values give equal bytes. A
// field that has its zero value is left out, unless it has the tag `write:"always"`; an empty list that is not nil is written.
func Marshal(v any) ([]byte, error) {
	var out bytes.Buffer
	enc := yaml.NewEncoder(&out)
	enc.SetIndent(2)
	if err := enc.Encode(NodeOf(v)); err != nil {
		return nil, err
	}
	if err := enc.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// NodeOf is the struct that v points to as [Marshal] writes it.
func NodeOf(v any) *Node { return node(reflect.ValueOf(v)) }

// node gives a value as it is written; nil where it is left out.
func node(v reflect.Value) *Node {
	if writer, ok := reflect.TypeAssert[Writer](v); ok {
		if v = reflect.ValueOf(writer.WriteYAML()); !v.IsValid() {
			return nil
		}
	}
	if duration, ok := reflect.TypeAssert[time.Duration](v); ok {
		return text(duration.String())
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return nil
		}
		return node(v.Elem())
	case reflect.Struct:
		n := &Node{Kind: yaml.MappingNode}
		putFields(n, v)
		return n
	case reflect.Slice:
		n := &Node{Kind: yaml.SequenceNode}
		if v.Type().Elem().Kind() == reflect.String {
			n.Style = yaml.FlowStyle
		}
		for i := range v.Len() {
			n.Content = append(n.Content, node(v.Index(i)))
		}
		return n
	case reflect.String:
		return text(v.String())
	case reflect.Bool:
		return &Node{Kind: yaml.ScalarNode, Value: strconv.FormatBool(v.Bool())}
	case reflect.Int:
		return &Node{Kind: yaml.ScalarNode, Value: strconv.FormatInt(v.Int(), 10)}
	case reflect.Float64:
		return &Node{Kind: yaml.ScalarNode, Value: strconv.FormatFloat(v.Float()+0, 'g', -1, 64)} // -0 as 0, which it equals
	default:
		panic("strictyaml: no value of a file is a " + v.Type().String())
	}
}

func putFields(n *Node, s reflect.Value) {
	for i := range s.NumField() {
		field, value := s.Type().Field(i), s.Field(i)
		switch key := field.Tag.Get("yaml"); {
		case key == "":
		case key == ",inline":
			putFields(n, value)
		case value.IsZero() && field.Tag.Get("write") != "always":
		case field.Tag.Get("table") != "":
			if value.Len() > 0 {
				n.Content = append(n.Content, text(key), tableNode(value))
			}
		default:
			if child := node(value); child != nil {
				n.Content = append(n.Content, text(key), child)
			}
		}
	}
}

// tableNode is a mapping whose keys are the first fields of structs.
func tableNode(list reflect.Value) *Node {
	n := &Node{Kind: yaml.MappingNode}
	for i := range list.Len() {
		n.Content = append(n.Content, text(list.Index(i).Field(0).String()), node(list.Index(i)))
	}
	return n
}

var plainText = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]*$`)

// text quotes all but plain words; the YAML library quotes words such as true by the tag.
func text(s string) *Node {
	n := &Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s}
	if !plainText.MatchString(s) {
		n.Style = yaml.DoubleQuotedStyle
	}
	return n
}

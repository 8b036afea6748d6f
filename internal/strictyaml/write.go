package strictyaml

import (
	"bytes"
	"reflect"
	"regexp"
	"strconv"
	"time"

	"gopkg.in/yaml.v3"
)

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

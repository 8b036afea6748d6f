package strictyaml

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// Setter takes the value at a path.
type Setter func(v *Node, path string)

// Reader turns nodes into values. It goes on behind what is wrong, and collects all faults. The zero value is ready.
type Reader struct {
	// Secret leaves the values of the file out of messages.
	Secret bool
	// Hint says what to do about an unknown key. Where it is nil or empty, the message lists the keys that are known.
	Hint   func(path, key string) string
	Faults []Fault
	Places Places
}

// Document is [Parse] with the fault among those of the reader, and with one for each alias, merge key and value that is nested too deep;
// what reads the values passes over aliases.
func (r *Reader) Document(data []byte, maxBytes int) *Node {
	root, fault := Parse(data, maxBytes)
	if fault != nil {
		if r.Secret && fault.Code == CodeSyntax && strings.HasPrefix(fault.Message, "not YAML") {
			fault.Message = unquoted(fault.Message)
		}
		r.Faults = append(r.Faults, *fault)
		return nil
	}
	r.rejectAliases(root, 0)
	return root
}

// unquoted is a message of the library if it is one of those that quote nothing of the file.
func unquoted(message string) string {
	for _, plain := range []string{"did not find", "found character that cannot start any token", "found unexpected end of stream", "mapping values are not allowed", "could not find expected"} {
		if strings.HasPrefix(message, "not YAML: "+plain) {
			return message
		}
	}
	return "not YAML"
}

func (r *Reader) rejectAliases(v *Node, depth int) {
	if depth > maxDepth {
		r.Fail(v, "", CodeTooDeep, "nested deeper than %d levels", maxDepth)
		return
	}
	if v.Kind == yaml.AliasNode {
		r.Fail(v, "", CodeAlias, "aliases are not allowed; write the value out")
		return
	}
	for i, child := range v.Content {
		if v.Kind == yaml.MappingNode && i%2 == 0 && child.ShortTag() == "!!merge" {
			r.Fail(child, "", CodeAlias, "merge keys are not allowed; write the values out")
			continue
		}
		r.rejectAliases(child, depth+1)
	}
}

// Fail notes a fault at a node.
func (r *Reader) Fail(v *Node, path, code, format string, args ...any) {
	r.Faults = append(r.Faults, Fault{Position{v.Line, v.Column}, path, code, fmt.Sprintf(format, args...)})
}

// Mark notes where the value of a path stands.
func (r *Reader) Mark(v *Node, path string) {
	if r.Places == nil {
		r.Places = Places{}
	}
	r.Places[path] = Position{v.Line, v.Column}
}

func (r *Reader) isKind(v *Node, path string, kind yaml.Kind, want string) bool {
	if v.Kind != kind && v.Kind != yaml.AliasNode {
		r.Wrong(v, path, want)
	}
	return v.Kind == kind
}

// Wrong notes that a value is not what was wanted.
func (r *Reader) Wrong(v *Node, path, want string) {
	r.Fail(v, path, CodeWrongType, "want %s, not %s", want, r.describe(v))
}

// pairs goes through a mapping in the order of the file and leaves out repeated keys.
func (r *Reader) pairs(v *Node, path string, join func(path, key string) string, duplicate string, each func(key, value *Node)) {
	if !r.isKind(v, path, yaml.MappingNode, "a mapping") {
		return
	}
	seen := make(map[string]int, len(v.Content)/2)
	for i := 0; i+1 < len(v.Content); i += 2 {
		key, value := v.Content[i], v.Content[i+1]
		switch line, twice := seen[key.Value]; {
		case key.Kind == yaml.AliasNode || key.ShortTag() == "!!merge":
		case key.Kind != yaml.ScalarNode || key.ShortTag() != "!!str":
			r.Wrong(key, path, "a text as key")
		case twice:
			r.Fail(key, join(path, key.Value), duplicate, "%q was given in line %d already", Clip(key.Value), line)
		default:
			seen[key.Value] = key.Line
			each(key, value)
		}
	}
}

// Object reads a mapping with fixed keys, and gives the values of those that are there.
func (r *Reader) Object(v *Node, path string, fields map[string]Setter) (given map[string]*Node) {
	if _, ok := r.Places[path]; !ok { // a named object stands where its name stands
		r.Mark(v, path)
	}
	given = make(map[string]*Node, len(fields))
	r.pairs(v, path, FieldPath, CodeDuplicateKey, func(key, value *Node) {
		sub := FieldPath(path, key.Value)
		set, ok := fields[key.Value]
		if !ok {
			what := ""
			if r.Hint != nil {
				what = r.Hint(path, key.Value)
			}
			r.Fail(key, sub, CodeUnknownKey, "unknown key; %s", cmp.Or(what, "known are "+strings.Join(slices.Sorted(maps.Keys(fields)), ", ")))
			return
		}
		r.Mark(value, sub)
		given[key.Value] = value
		set(value, sub)
	})
	return given
}

// Table reads a mapping whose keys are names of the author's choice. duplicate is the code of a name that is there twice.
func (r *Reader) Table(v *Node, path, duplicate string, each func(name string, key, value *Node, path string)) {
	r.pairs(v, path, KeyPath, duplicate, func(key, value *Node) {
		sub := KeyPath(path, key.Value)
		r.Mark(key, sub)
		each(key.Value, key, value, sub)
	})
}

// List reads a sequence; allocate is told its length first.
func (r *Reader) List(v *Node, path, want string, allocate func(n int), each func(i int, v *Node, path string)) {
	if !r.isKind(v, path, yaml.SequenceNode, want) {
		return
	}
	allocate(len(v.Content))
	for i, item := range v.Content {
		sub := IndexPath(path, i)
		r.Mark(item, sub)
		each(i, item, sub)
	}
}

// Scalar says whether a value is a scalar with one of the tags, and notes a fault if not.
func (r *Reader) Scalar(v *Node, path, want string, tags ...string) bool {
	if !r.isKind(v, path, yaml.ScalarNode, want) {
		return false
	}
	if !slices.Contains(tags, v.ShortTag()) {
		r.Wrong(v, path, want)
		return false
	}
	return true
}

// Text sets a string; T is string or a vocabulary on it.
func Text[T ~string](r *Reader, target *T) Setter {
	return func(v *Node, path string) {
		if r.Scalar(v, path, "a text", "!!str") {
			*target = T(v.Value)
		}
	}
}

// Texts sets a list of strings; an empty list gives an empty list, never nil.
func Texts[T ~string](r *Reader, target *[]T) Setter {
	return func(v *Node, path string) {
		r.List(v, path, "a list of texts",
			func(n int) { *target = make([]T, n) },
			func(i int, v *Node, path string) { Text(r, &(*target)[i])(v, path) })
	}
}

// Flag sets a bool.
func (r *Reader) Flag(target *bool) Setter {
	return func(v *Node, path string) {
		if r.Scalar(v, path, "true or false", "!!bool") && v.Decode(target) != nil {
			r.Wrong(v, path, "true or false")
		}
	}
}

// Integer sets an int.
func (r *Reader) Integer(target *int) Setter {
	return func(v *Node, path string) {
		var n int
		switch {
		case !r.Scalar(v, path, "an integer", "!!int"):
		case v.Decode(&n) != nil:
			r.Fail(v, path, CodeOutOfRange, "%s is no integer that fits", r.describe(v))
		default:
			*target = n
		}
	}
}

// Number sets a finite float64.
func (r *Reader) Number(target *float64) Setter {
	return func(v *Node, path string) {
		var f float64
		switch {
		case !r.Scalar(v, path, "a number", "!!int", "!!float"):
		case v.Decode(&f) != nil || math.IsNaN(f) || math.IsInf(f, 0):
			r.Fail(v, path, CodeOutOfRange, "%s is no finite number", r.describe(v))
		default:
			*target = f + 0 // makes -0 a 0
		}
	}
}

// describe says what a value is, for a message.
func (r *Reader) describe(v *Node) string {
	value := func(kind, format string) string {
		if r.Secret {
			return kind
		}
		return fmt.Sprintf(format, Clip(v.Value))
	}
	switch tag := v.ShortTag(); {
	case v.Kind == yaml.MappingNode:
		return "a mapping"
	case v.Kind == yaml.SequenceNode:
		return "a list"
	case v.Kind == yaml.AliasNode:
		return "an alias"
	case v.Kind != yaml.ScalarNode || tag == "!!null":
		return "nothing"
	case tag == "!!str":
		return value("a text", "the text %q")
	case tag == "!!int" || tag == "!!float":
		return value("a number", "the number %s")
	case tag == "!!bool":
		return value("true or false", "the flag %s (quote it to make it a text)")
	case tag == "!!timestamp":
		return value("a date; quote it to make it a text", "the date %s (quote it to make it a text)")
	default:
		return value("a value with a tag of its own", "%q with the tag ") + Clip(tag)
	}
}

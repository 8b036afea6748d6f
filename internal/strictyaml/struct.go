package strictyaml

import (
	"cmp"
	"maps"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/shadowcourt/shadowcourt/abi"
)

// Setter takes the value at a path.
type Setter func(v *Node, path string)

// Custom is a type that reads itself.
type Custom interface {
	ReadYAML(r *Reader, v *Node, path string)
}

// Struct reads a mapping into the struct that target points to, and gives the values of the keys that are there. A field has its
// key in a tag such as `yaml:"ttl"`; a field without one is left alone. Fields are texts, flags, numbers, durations, regular
// expressions whose ^ and $ match at lines, structs, lists, maps, pointers to these, and types that are [Custom]. A list of
// structs with a tag such as `table:"duplicate_id"` stands in the file as a mapping, whose keys are the first fields of the
// structs; the tag is the code of a key given twice. more has keys beside those of the struct, or in their place.
func (r *Reader) Struct(v *Node, path string, target any, more map[string]Setter) (given map[string]*Node) {
	fields := make(map[string]Setter)
	r.fields(reflect.ValueOf(target).Elem(), fields)
	maps.Copy(fields, more)
	if _, ok := r.Places[path]; !ok { // a named struct stands where its name stands
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

// fields collects what reads the fields of a struct, by their keys.
func (r *Reader) fields(s reflect.Value, setters map[string]Setter) {
	for i := range s.NumField() {
		field := s.Type().Field(i)
		switch key := field.Tag.Get("yaml"); key {
		case "":
		case ",inline":
			r.fields(s.Field(i), setters)
		default:
			setters[key] = r.setter(s.Field(i), key, abi.Code(field.Tag.Get("table")))
		}
	}
}

// Into reads a value into what target points to, as [Reader.Struct] reads a field.
func (r *Reader) Into(target any) Setter { return r.setter(reflect.ValueOf(target).Elem(), "", "") }

// setter reads a value of the type of the target. key names a list in messages; table is the code of a key given twice, for a list
// that stands in the file as a mapping.
func (r *Reader) setter(target reflect.Value, key string, table abi.Code) Setter {
	switch custom := target.Addr().Interface().(type) {
	case Custom:
		return func(v *Node, path string) { custom.ReadYAML(r, v, path) }
	case *time.Duration:
		return r.duration(custom)
	case **regexp.Regexp:
		return r.pattern(custom)
	}
	switch target.Kind() {
	case reflect.Pointer:
		return func(v *Node, path string) {
			target.Set(reflect.New(target.Type().Elem()))
			r.setter(target.Elem(), key, "")(v, path)
		}
	case reflect.Struct:
		return func(v *Node, path string) { r.Struct(v, path, target.Addr().Interface(), nil) }
	case reflect.Slice:
		if table != "" {
			return r.table(target, table)
		}
		return r.list(target, key)
	case reflect.Map:
		return r.mapping(target)
	default:
		return r.scalar(target)
	}
}

func (r *Reader) table(target reflect.Value, duplicate abi.Code) Setter {
	return func(v *Node, path string) {
		r.Table(v, path, duplicate, func(name string, _, v *Node, path string) {
			element := reflect.New(target.Type().Elem()).Elem()
			element.Field(0).SetString(name)
			r.setter(element, "", "")(v, path)
			target.Set(reflect.Append(target, element))
		})
	}
}

// list reads a sequence; an empty one gives an empty list, never nil.
func (r *Reader) list(target reflect.Value, key string) Setter {
	want := "a list"
	if target.Type().Elem().Kind() == reflect.String {
		want = "a list of texts"
	} else if key != "" {
		want = "a list of " + key
	}
	return func(v *Node, path string) {
		if !r.isKind(v, path, yaml.SequenceNode, want) {
			return
		}
		target.Set(reflect.MakeSlice(target.Type(), len(v.Content), len(v.Content)))
		for i, item := range v.Content {
			sub := IndexPath(path, i)
			r.Mark(item, sub)
			r.setter(target.Index(i), "", "")(item, sub)
		}
	}
}

func (r *Reader) mapping(target reflect.Value) Setter {
	return func(v *Node, path string) {
		if target.IsNil() {
			target.Set(reflect.MakeMap(target.Type()))
		}
		r.Table(v, path, CodeDuplicateKey, func(name string, _, v *Node, path string) {
			element := reflect.New(target.Type().Elem()).Elem()
			r.setter(element, "", "")(v, path)
			target.SetMapIndex(reflect.ValueOf(name), element)
		})
	}
}

// Table reads a mapping whose keys are names of the author's choice. duplicate is the code of a name that is there twice.
func (r *Reader) Table(v *Node, path string, duplicate abi.Code, each func(name string, key, value *Node, path string)) {
	r.pairs(v, path, KeyPath, duplicate, func(key, value *Node) {
		sub := KeyPath(path, key.Value)
		r.Mark(key, sub)
		each(key.Value, key, value, sub)
	})
}

// pairs goes through a mapping in the order of the file and leaves out repeated keys.
func (r *Reader) pairs(v *Node, path string, join func(path, key string) string, duplicate abi.Code, each func(key, value *Node)) {
	if !r.isKind(v, path, yaml.MappingNode, "a mapping") {
		return
	}
	seen := make(map[string]int, len(v.Content)/2)
	for i := 0; i+1 < len(v.Content); i += 2 {
		key, value := v.Content[i], v.Content[i+1]
		switch line, twice := seen[key.Value]; {
		case key.Kind == yaml.AliasNode || key.ShortTag() == "!!merge":
		case key.Kind != yaml.ScalarNode || key.ShortTag() != "!!str":
			r.Wrong(key, join(path, key.Value), "a text as key")
		case twice:
			r.Fail(key, join(path, key.Value), duplicate, "%q was given in line %d already", r.Word(key.Value), line)
		default:
			seen[key.Value] = key.Line
			each(key, value)
		}
	}
}

func (r *Reader) isKind(v *Node, path string, kind yaml.Kind, want string) bool {
	if v.Kind != kind && v.Kind != yaml.AliasNode {
		r.Wrong(v, path, want)
	}
	return v.Kind == kind
}

// isScalar says whether a value is a scalar with one of the tags, and notes a fault if not.
func (r *Reader) isScalar(v *Node, path, want string, tags ...string) bool {
	if !r.isKind(v, path, yaml.ScalarNode, want) {
		return false
	}
	if !slices.Contains(tags, v.ShortTag()) {
		r.Wrong(v, path, want)
		return false
	}
	return true
}

func (r *Reader) scalar(target reflect.Value) Setter {
	return func(v *Node, path string) {
		switch target.Kind() {
		case reflect.String:
			if r.isScalar(v, path, "a text", "!!str") {
				target.SetString(v.Value)
			}
		case reflect.Bool:
			var flag bool
			if r.isScalar(v, path, "true or false", "!!bool") {
				if v.Decode(&flag) != nil { // as !!bool "maybe"
					r.Wrong(v, path, "true or false")
					return
				}
				target.SetBool(flag)
			}
		case reflect.Int:
			var n int
			if r.isScalar(v, path, "an integer", "!!int") {
				if v.Decode(&n) != nil {
					r.Fail(v, path, CodeOutOfRange, "want an integer of 64 bits, not %s", r.describe(v))
					return
				}
				target.SetInt(int64(n))
			}
		case reflect.Float64:
			var f float64
			if r.isScalar(v, path, "a number", "!!int", "!!float") {
				if v.Decode(&f) != nil || math.IsNaN(f) || math.IsInf(f, 0) {
					r.Fail(v, path, CodeOutOfRange, "want a finite number, not %s", r.describe(v))
					return
				}
				target.SetFloat(f + 0) // makes -0 a 0
			}
		default:
			panic("strictyaml: no value of a file is a " + target.Type().String())
		}
	}
}

func (r *Reader) duration(target *time.Duration) Setter {
	return func(v *Node, path string) {
		if !r.isScalar(v, path, `a duration such as "10m"`, "!!str") {
			return
		}
		t, err := time.ParseDuration(v.Value)
		if err != nil {
			r.Fail(v, path, CodeBadDuration, "%s is no duration; write it as 90s, 10m or 1h30m", r.describe(v))
			return
		}
		*target = t
	}
}

func (r *Reader) pattern(target **regexp.Regexp) Setter {
	return func(v *Node, path string) {
		if !r.isScalar(v, path, "a regular expression", "!!str") {
			return
		}
		compiled, err := regexp.Compile("(?m)" + v.Value)
		if err != nil {
			r.Fail(v, path, CodeSyntax, "%v", err)
			return
		}
		*target = compiled
	}
}

package pipeline

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"gopkg.in/yaml.v3"
)

// decoder turns YAML nodes into values. It checks shapes only; what the values mean is checked by validate.
type decoder struct {
	file      string
	errs      Errors
	positions map[string]Position
}

// setter takes the value at a path.
type setter func(v *yaml.Node, path string)

func (d *decoder) fail(n *yaml.Node, path string, code Code, format string, args ...any) {
	d.errs = append(d.errs, &Error{
		File: d.file, Line: n.Line, Column: n.Column, Path: path, Code: code, Message: fmt.Sprintf(format, args...),
	})
}

func (d *decoder) mark(n *yaml.Node, path string) {
	d.positions[path] = Position{Line: n.Line, Column: n.Column}
}

// isKind checks the kind of a node. Aliases were reported before and are passed over.
func (d *decoder) isKind(v *yaml.Node, path string, kind yaml.Kind, want string) bool {
	if v.Kind == kind {
		return true
	}
	if v.Kind != yaml.AliasNode {
		d.fail(v, path, CodeWrongType, "want %s, not %s", want, describe(v))
	}
	return false
}

// pairs goes through a mapping in file order and leaves out repeated keys.
func (d *decoder) pairs(v *yaml.Node, path string, join func(path, key string) string, duplicate Code, each func(key, value *yaml.Node)) {
	if !d.isKind(v, path, yaml.MappingNode, "a mapping") {
		return
	}
	seen := make(map[string]int, len(v.Content)/2)
	for i := 0; i+1 < len(v.Content); i += 2 {
		key, value := v.Content[i], v.Content[i+1]
		if key.Kind == yaml.AliasNode {
			continue
		}
		if key.Kind != yaml.ScalarNode || key.ShortTag() != "!!str" {
			if key.ShortTag() != "!!merge" {
				d.fail(key, path, CodeWrongType, "want a text as key, not %s", describe(key))
			}
			continue
		}
		if line, ok := seen[key.Value]; ok {
			d.fail(key, join(path, key.Value), duplicate, "%q was given in line %d already", key.Value, line)
			continue
		}
		seen[key.Value] = key.Line
		each(key, value)
	}
}

// object decodes a mapping with fixed keys.
func (d *decoder) object(v *yaml.Node, path string, fields map[string]setter) {
	if _, ok := d.positions[path]; !ok { // a named object stands where its name stands
		d.mark(v, path)
	}
	d.pairs(v, path, fieldPath, CodeDuplicateKey, func(key, value *yaml.Node) {
		set, ok := fields[key.Value]
		if !ok {
			d.fail(key, fieldPath(path, key.Value), CodeUnknownKey, "unknown key; known are %s", sortedKeys(fields))
			return
		}
		sub := fieldPath(path, key.Value)
		d.mark(value, sub)
		set(value, sub)
	})
}

// table decodes a mapping whose keys are names of the author's choice.
func (d *decoder) table(v *yaml.Node, path string, duplicate Code, each func(name string, value *yaml.Node, path string)) {
	d.pairs(v, path, keyPath, duplicate, func(key, value *yaml.Node) {
		sub := keyPath(path, key.Value)
		d.mark(key, sub)
		each(key.Value, value, sub)
	})
}

// list decodes a sequence; allocate is told its length first.
func (d *decoder) list(v *yaml.Node, path, want string, allocate func(n int), each func(i int, v *yaml.Node, path string)) {
	if !d.isKind(v, path, yaml.SequenceNode, want) {
		return
	}
	allocate(len(v.Content))
	for i, item := range v.Content {
		sub := indexPath(path, i)
		d.mark(item, sub)
		each(i, item, sub)
	}
}

func (d *decoder) scalar(v *yaml.Node, path, want string, tags ...string) bool {
	if !d.isKind(v, path, yaml.ScalarNode, want) {
		return false
	}
	if !slices.Contains(tags, v.ShortTag()) {
		d.fail(v, path, CodeWrongType, "want %s, not %s", want, describe(v))
		return false
	}
	return true
}

// text sets a string; T is string or a vocabulary on it.
func text[T ~string](d *decoder, target *T) setter {
	return func(v *yaml.Node, path string) {
		if d.scalar(v, path, "a text", "!!str") {
			*target = T(v.Value)
		}
	}
}

// texts sets a list of strings; an empty list gives an empty list, never nil.
func texts[T ~string](d *decoder, target *[]T) setter {
	return func(v *yaml.Node, path string) {
		d.list(v, path, "a list of texts",
			func(n int) { *target = make([]T, n) },
			func(i int, v *yaml.Node, path string) { text(d, &(*target)[i])(v, path) })
	}
}

func (d *decoder) flag(target *bool) setter {
	return func(v *yaml.Node, path string) {
		if !d.scalar(v, path, "true or false", "!!bool") {
			return
		}
		if err := v.Decode(target); err != nil {
			d.fail(v, path, CodeWrongType, "want true or false, not %s", describe(v))
		}
	}
}

func (d *decoder) integer(target *int) setter {
	return func(v *yaml.Node, path string) {
		if !d.scalar(v, path, "an integer", "!!int") {
			return
		}
		var n int
		if err := v.Decode(&n); err != nil {
			d.fail(v, path, CodeOutOfRange, "%s is no integer that fits", describe(v))
			return
		}
		*target = n
	}
}

func (d *decoder) number(target *float64) setter {
	return func(v *yaml.Node, path string) {
		if !d.scalar(v, path, "a number", "!!int", "!!float") {
			return
		}
		var f float64
		if err := v.Decode(&f); err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
			d.fail(v, path, CodeOutOfRange, "%s is no finite number", describe(v))
			return
		}
		*target = f + 0 // makes -0 a 0
	}
}

func (d *decoder) duration(target *time.Duration) setter {
	return func(v *yaml.Node, path string) {
		if !d.scalar(v, path, `a duration such as "10m"`, "!!str") {
			return
		}
		t, err := time.ParseDuration(v.Value)
		if err != nil {
			d.fail(v, path, CodeBadDuration, "%q is no duration; write it as 90s, 10m or 1h30m", clip(v.Value))
			return
		}
		*target = t
	}
}

func describe(v *yaml.Node) string {
	switch v.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	case yaml.AliasNode:
		return "an alias"
	case yaml.ScalarNode:
		return describeScalar(v)
	default:
		return "nothing"
	}
}

func describeScalar(v *yaml.Node) string {
	switch v.ShortTag() {
	case "!!null":
		return "nothing"
	case "!!str":
		return fmt.Sprintf("the text %q", clip(v.Value))
	case "!!int", "!!float":
		return "the number " + clip(v.Value)
	case "!!bool":
		return fmt.Sprintf("the flag %s (quote it to make it a text)", clip(v.Value))
	case "!!timestamp":
		return fmt.Sprintf("the date %s (quote it to make it a text)", clip(v.Value))
	default:
		return fmt.Sprintf("%q with the tag %s", clip(v.Value), clip(v.ShortTag()))
	}
}

// clip keeps a value of the file short enough for a message.
func clip(s string) string {
	const most = 60
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "..."
	}
	return s
}

func sortedKeys(fields map[string]setter) string {
	keys := make([]string, 0, len(fields))
	for k := range fields {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return strings.Join(keys, ", ")
}

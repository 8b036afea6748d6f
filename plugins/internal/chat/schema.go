package chat

import (
	"math"
	"slices"
	"strconv"
)

// Kind is the kind of a JSON value.
type Kind uint8

// The kinds.
const (
	none Kind = iota
	Object
	Array
	String
	Number
	Integer
	Boolean
)

// Schema says what an answer looks like. One text and one check come from it, so that a model is told what is checked.
// Every field of an object is required, and it has no others: providers with structured outputs ask for that.
type Schema struct {
	Kind   Kind
	Fields []Field  // of an object
	Item   *Schema  // of an array
	Most   int      // elements of an array
	Enum   []string // of a string; any string without
	// Least and Greatest of a number or an integer; unbounded where they are equal.
	Least, Greatest float64
}

// Field of an object.
type Field struct {
	Name   string
	Schema *Schema
	// Meaning is told to the model.
	Meaning string
}

// Text is the schema in JSON Schema.
func (s *Schema) Text() string { return string(s.append(nil, "")) }

func (s *Schema) append(out []byte, meaning string) []byte {
	out = append(out, `{"type":"`...)
	out = append(out, [...]string{Object: "object", Array: "array", String: "string", Number: "number", Integer: "integer", Boolean: "boolean"}[s.Kind]...)
	out = append(out, '"')
	if meaning != "" {
		out = appendString(append(out, `,"description":`...), meaning)
	}
	switch s.Kind {
	case Object:
		out = append(out, `,"additionalProperties":false,"required":[`...)
		for i := range s.Fields {
			out = appendString(comma(out, i), s.Fields[i].Name)
		}
		out = append(out, `],"properties":{`...)
		for i := range s.Fields {
			out = append(appendString(comma(out, i), s.Fields[i].Name), ':')
			out = s.Fields[i].Schema.append(out, s.Fields[i].Meaning)
		}
		out = append(out, '}')
	case Array:
		out = strconv.AppendInt(append(out, `,"maxItems":`...), int64(s.Most), 10)
		out = s.Item.append(append(out, `,"items":`...), "")
	case String:
		if len(s.Enum) > 0 {
			out = append(out, `,"enum":[`...)
			for i := range s.Enum {
				out = appendString(comma(out, i), s.Enum[i])
			}
			out = append(out, ']')
		}
	case Number, Integer:
		if s.Least < s.Greatest {
			out = strconv.AppendFloat(append(out, `,"minimum":`...), s.Least, 'f', -1, 64)
			out = strconv.AppendFloat(append(out, `,"maximum":`...), s.Greatest, 'f', -1, 64)
		}
	case none, Boolean:
	}
	return append(out, '}')
}

func comma(out []byte, i int) []byte {
	if i > 0 {
		return append(out, ',')
	}
	return out
}

// Read gives the value of a document that conforms, or says why it does not.
func (s *Schema) Read(document string) (Value, string) {
	v, problem := readJSON(document)
	if problem == "" {
		problem = s.check(v, "")
	}
	if problem != "" {
		return Value{}, "the answer " + problem
	}
	return v, ""
}

// check says what is wrong with a value, or nothing.
func (s *Schema) check(v Value, path string) string {
	switch s.Kind {
	case Object:
		if v.kind != Object {
			return wrong(path, "is no object")
		}
		for i := range s.Fields {
			f := &s.Fields[i]
			if !slices.Contains(v.names, f.Name) {
				return wrong(path, "lacks "+strconv.Quote(f.Name))
			}
			if problem := f.Schema.check(v.Of(f.Name), path+"."+f.Name); problem != "" {
				return problem
			}
		}
		if len(v.names) > len(s.Fields) {
			return wrong(path, "has an unknown field")
		}
	case Array:
		if v.kind != Array || len(v.list) > s.Most {
			return wrong(path, "is no list of at most "+strconv.Itoa(s.Most))
		}
		for i := range v.list {
			if problem := s.Item.check(v.list[i], path+"["+strconv.Itoa(i)+"]"); problem != "" {
				return problem
			}
		}
	case String:
		if v.kind != String || len(s.Enum) > 0 && !slices.Contains(s.Enum, v.text) {
			return wrong(path, "is none of the strings that it may be")
		}
	case Number, Integer:
		if v.kind != Number || s.Least < s.Greatest && (v.number < s.Least || v.number > s.Greatest) ||
			s.Kind == Integer && (v.number != math.Trunc(v.number) || math.Abs(v.number) > 1<<31) {
			return wrong(path, "is no number that it may be")
		}
	case Boolean:
		if v.kind != Boolean {
			return wrong(path, "is neither true nor false")
		}
	case none:
	}
	return ""
}

func wrong(path, what string) string {
	if path == "" {
		return what
	}
	return "has a fault: " + path[1:] + " " + what
}

// appendString writes a string in JSON.
func appendString(out []byte, s string) []byte {
	out = append(out, '"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			out = append(out, '\\', c)
		case c < ' ':
			const digits = "0123456789abcdef"
			out = append(out, '\\', 'u', '0', '0', digits[c>>4], digits[c&15])
		default:
			out = append(out, c)
		}
	}
	return append(out, '"')
}

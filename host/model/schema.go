package model

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/shadowcourt/shadowcourt/internal/strictyaml"
)

// The limits of a schema, which a module writes.
const (
	maxSchemaBytes = 64 << 10
	// maxSchemaSize is how many values a schema has when what it refers to is put in the place of each reference; a pattern counts as
	// the instructions of its program.
	maxSchemaSize = 20_000
	// maxWork bounds the size of a schema times that of an answer, and with it the time of a validation, which nothing interrupts, and the
	// memory for all that does not conform.
	maxWork = 1 << 28
	// valueWork is the size of a value in an answer, beside its bytes: a check of one takes 1 to 30 microseconds.
	valueWork = 512
)

// dialect is the only version of JSON Schema that schemas are read in.
const dialect = "https://json-schema.org/draft/2020-12/schema"

// schema is what answers are validated by.
type schema struct {
	compiled *jsonschema.Schema
	size     int
	raw      json.RawMessage // compact
	object   bool            // the answer has to be an object
}

// noFiles has references lead nowhere: neither to a file nor to the network.
type noFiles struct{}

func (noFiles) Load(string) (any, error) { return nil, errors.New("a schema refers only to itself") }

// compileSchema reads the schema of a module, and trusts nothing in it: it is small, of one dialect, refers only to itself and not in
// circles. So a validation ends soon.
func compileSchema(text string) (s *schema, err error) {
	defer recovered(&err)
	if len(text) > maxSchemaBytes {
		return nil, fmt.Errorf("it has %d bytes; there may be %d", len(text), maxSchemaBytes)
	}
	doc, err := parseJSON([]byte(text))
	if err != nil {
		return nil, err
	}
	m := measure{doc: doc, sizes: map[string]int{}}
	size, err := m.of("", doc)
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(noFiles{})
	const at = "mem:///schema"
	if err := c.AddResource(at, doc); err != nil {
		return nil, err
	}
	compiled, err := c.Compile(at)
	if err != nil {
		return nil, errors.New(strings.ReplaceAll(oneLine(err.Error()), at, ""))
	}
	var raw bytes.Buffer
	if err := json.Compact(&raw, []byte(text)); err != nil {
		return nil, err
	}
	top, _ := doc.(map[string]any)
	return &schema{compiled: compiled, size: size, raw: raw.Bytes(), object: top["type"] == "object"}, nil
}

// recovered makes an error of a panic: the library must not end the program over what a module or a model wrote.
func recovered(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("it can't be used: %s", oneLine(fmt.Sprint(r)))
	}
}

// measure finds the size of a schema, see maxSchemaSize. Wherever a reference stands in it, even among values that are only compared
// with, it counts as one.
type measure struct {
	doc   any
	sizes map[string]int // by the references; -1 while it is measured
}

func (m *measure) of(key string, v any) (int, error) {
	size := 1
	add := func(more int, err error) error {
		size += more
		if err == nil && size > maxSchemaSize {
			err = fmt.Errorf("with all references put in place it has more than %d values", maxSchemaSize)
		}
		return err
	}
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			if err := add(m.of("", item)); err != nil {
				return 0, err
			}
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			value := v[key]
			if err := add(m.of(key, value)); err != nil {
				return 0, err
			}
			if err := add(m.keyword(key, value)); err != nil {
				return 0, err
			}
			if key == "patternProperties" {
				if patterns, ok := value.(map[string]any); ok {
					for _, pattern := range slices.Sorted(maps.Keys(patterns)) {
						if err := add(patternSize(pattern)); err != nil {
							return 0, err
						}
					}
				}
			}
		}
	case string:
		if key == "pattern" {
			return size, add(patternSize(v))
		}
	}
	return size, nil
}

// keyword is the size of what a keyword brings beside its value.
func (m *measure) keyword(key string, value any) (int, error) {
	text, ok := value.(string)
	if !ok {
		return 0, nil
	}
	switch key {
	case "$ref":
		return m.reference(text)
	case "$id", "$anchor", "$dynamicAnchor", "$dynamicRef", "$recursiveRef":
		return 0, fmt.Errorf("the keyword %s is not supported: use $ref with #/", key)
	case "$schema":
		if strings.TrimSuffix(text, "#") != dialect {
			return 0, fmt.Errorf("$schema has to be %s", dialect)
		}
	}
	return 0, nil
}

func (m *measure) reference(ref string) (int, error) {
	rest, ok := strings.CutPrefix(ref, "#/")
	if !ok || strings.Contains(ref, "%") {
		return 0, errors.New("a $ref has to begin with #/: a schema refers only to itself, and not to the whole of it")
	}
	switch size := m.sizes[ref]; {
	case size < 0:
		return 0, fmt.Errorf("%s refers to itself", strictyaml.Clip(ref))
	case size > 0:
		return size, nil
	}
	v := m.doc
	for step := range strings.SplitSeq(rest, "/") {
		step = strings.NewReplacer("~1", "/", "~0", "~").Replace(step)
		switch in := v.(type) {
		case map[string]any:
			v, ok = in[step]
		case []any:
			i, err := strconv.Atoi(step)
			if ok = err == nil && i >= 0 && i < len(in); ok {
				v = in[i]
			}
		default:
			ok = false
		}
		if !ok {
			return 0, fmt.Errorf("%s refers to nothing", strictyaml.Clip(ref))
		}
	}
	m.sizes[ref] = -1
	size, err := m.of("", v)
	m.sizes[ref] = size
	return size, err
}

func patternSize(pattern string) (int, error) {
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return 0, errors.New("a pattern is no regular expression that is supported")
	}
	program, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return 0, errors.New("a pattern is no regular expression that is supported")
	}
	return len(program.Inst), nil
}

// accept gives the JSON document of an answer that conforms to the schema, compact; or says what is wrong with it.
func (s *schema) accept(text string) (document string, err error) {
	defer recovered(&err)
	raw, v, err := findJSON(text)
	if err != nil {
		return "", err
	}
	if n := values(v); s.size*(len(raw)+valueWork*n) > maxWork {
		return "", fmt.Errorf("it is too long to be validated by this schema: %d values in %d bytes", n, len(raw))
	}
	if err := s.compiled.Validate(v); err != nil {
		invalid, ok := errors.AsType[*jsonschema.ValidationError](err)
		if !ok {
			return "", err
		}
		return "", errors.New(faultsOf(invalid))
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, raw); err != nil {
		return "", err
	}
	return compact.String(), nil
}

// The limits of what is said of an answer that does not conform.
const (
	maxSaidFaults = 8
	maxSaidBytes  = 200
)

// faultsOf says where an answer does not conform, a line for each place. The library visits maps in any order, and these lines are part of
// the next question: they have an order of their own, so that the same answer makes the same question.
func faultsOf(e *jsonschema.ValidationError) string {
	var leaves []*jsonschema.ValidationError
	var visit func(e *jsonschema.ValidationError)
	visit = func(e *jsonschema.ValidationError) {
		if len(e.Causes) == 0 {
			leaves = append(leaves, e)
		}
		for _, cause := range e.Causes {
			visit(cause)
		}
	}
	visit(e)
	for _, leaf := range leaves {
		switch k := leaf.ErrorKind.(type) {
		case *kind.AdditionalProperties:
			slices.Sort(k.Properties)
		case *kind.Required:
			slices.Sort(k.Missing)
		case *kind.DependentRequired:
			slices.Sort(k.Missing)
		}
	}
	slices.SortStableFunc(leaves, func(a, b *jsonschema.ValidationError) int {
		if by := slices.Compare(a.InstanceLocation, b.InstanceLocation); by != 0 {
			return by
		}
		return strings.Compare(a.Error(), b.Error())
	})
	more := max(0, len(leaves)-maxSaidFaults)
	var lines []string
	for _, leaf := range leaves[:len(leaves)-more] {
		lines = append(lines, cut(oneLine(leaf.Error()), maxSaidBytes))
	}
	if more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(lines, "\n")
}

package audit

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/shadowcourt/shadowcourt/host/pipeline"
)

// decoder reads a rubric from YAML nodes: strictly, noting where everything
// stands, and going on behind what is wrong.
type decoder struct {
	file      string
	positions map[string]pipeline.Position
	errs      pipeline.Errors
}

type setter func(v *yaml.Node, path string)

func (d *decoder) rubric(v *yaml.Node, r *Rubric) {
	d.object(v, "", map[string]setter{
		"rubric":      d.text(&r.Name),
		"description": d.text(&r.Description),
		"weights": func(v *yaml.Node, path string) {
			d.table(v, path, func(name string, v *yaml.Node, path string) {
				w := CategoryWeight{Category: name}
				d.number(&w.Weight)(v, path)
				r.Weights = append(r.Weights, w)
			})
		},
		"judges": func(v *yaml.Node, path string) {
			d.table(v, path, func(id string, v *yaml.Node, path string) {
				r.Judges = append(r.Judges, d.judge(id, v, path))
			})
		},
		"criteria": func(v *yaml.Node, path string) {
			d.list(v, path, "a list of criteria", func(v *yaml.Node, path string) {
				r.Criteria = append(r.Criteria, d.criterion(v, path))
			})
		},
	})
}

func (d *decoder) judge(id string, v *yaml.Node, path string) Judge {
	j := Judge{ID: id}
	d.object(v, path, map[string]setter{
		"module": d.text(&j.Module),
		"knows": func(v *yaml.Node, path string) {
			d.table(v, path, func(criterion string, v *yaml.Node, path string) {
				k := Alias{Criterion: criterion}
				d.text(&k.As)(v, path)
				j.Knows = append(j.Knows, k)
			})
		},
		"with": func(v *yaml.Node, path string) {
			d.table(v, path, func(name string, v *yaml.Node, path string) { d.param(&j, name, v, path) })
		},
	})
	return j
}

func (d *decoder) param(j *Judge, name string, v *yaml.Node, path string) {
	switch v.ShortTag() {
	case "!!str":
		var s string
		d.text(&s)(v, path)
		j.With = append(j.With, pipeline.Text(name, s))
	case "!!bool":
		var b bool
		if err := v.Decode(&b); err != nil {
			d.fail(v, path, pipeline.CodeWrongType, "want true or false, not %s", describe(v))
		}
		j.With = append(j.With, pipeline.Flag(name, b))
	case "!!int", "!!float":
		var f float64
		d.number(&f)(v, path)
		j.With = append(j.With, pipeline.Number(name, f))
	default:
		d.fail(v, path, pipeline.CodeWrongType, "want a number, a text, true or false, not %s", describe(v))
	}
}

func (d *decoder) criterion(v *yaml.Node, path string) Criterion {
	c := Criterion{}
	d.object(v, path, map[string]setter{
		"id":          d.text(&c.ID),
		"category":    d.text(&c.Category),
		"description": d.text(&c.Description),
		"lead":        d.text(&c.Lead),
		"weight": func(v *yaml.Node, path string) {
			d.number(&c.Weight)(v, path)
			if c.Weight == 0 { // Complete would take it for absent
				c.Weight = math.NaN()
				d.fail(v, path, pipeline.CodeOutOfRange, "is outside (0, %d]", MaxWeight)
			}
		},
		"judges": func(v *yaml.Node, path string) {
			d.list(v, path, "a list of judges", func(v *yaml.Node, path string) {
				var id string
				d.text(&id)(v, path)
				c.Judges = append(c.Judges, id)
			})
		},
	})
	return c
}

func (d *decoder) fail(v *yaml.Node, path string, code pipeline.Code, format string, args ...any) {
	if v.Kind == yaml.AliasNode {
		code, format, args = pipeline.CodeAlias, "aliases are not allowed; write the value out", nil
	}
	d.errs = append(d.errs, &pipeline.Error{
		File: d.file, Line: v.Line, Column: v.Column, Path: path, Code: code, Message: fmt.Sprintf(format, args...),
	})
}

func (d *decoder) mark(v *yaml.Node, path string) {
	d.positions[path] = pipeline.Position{Line: v.Line, Column: v.Column}
}

// pairs reads a mapping and leaves out keys that are no texts or occur twice.
func (d *decoder) pairs(v *yaml.Node, path string, join func(parent, key string) string, each func(key, value *yaml.Node)) {
	if v.Kind != yaml.MappingNode {
		d.fail(v, path, pipeline.CodeWrongType, "want a mapping, not %s", describe(v))
		return
	}
	seen := make(map[string]int, len(v.Content)/2)
	for i := 0; i+1 < len(v.Content); i += 2 {
		key, value := v.Content[i], v.Content[i+1]
		switch line, twice := seen[key.Value]; {
		case key.Kind != yaml.ScalarNode || key.ShortTag() != "!!str":
			d.fail(key, path, pipeline.CodeWrongType, "want a text as key, not %s", describe(key))
		case twice:
			d.fail(key, join(path, key.Value), pipeline.CodeDuplicateKey, "%s was given in line %d already", quoted(key.Value), line)
		default:
			seen[key.Value] = key.Line
			each(key, value)
		}
	}
}

// object reads a mapping with fixed keys.
func (d *decoder) object(v *yaml.Node, path string, fields map[string]setter) {
	if _, ok := d.positions[path]; !ok { // a named object stands where its name stands
		d.mark(v, path)
	}
	d.pairs(v, path, fieldPath, func(key, value *yaml.Node) {
		sub := fieldPath(path, key.Value)
		set, ok := fields[key.Value]
		if !ok {
			d.fail(key, sub, pipeline.CodeUnknownKey, "unknown key; known are %s", sortedKeys(fields))
			return
		}
		d.mark(value, sub)
		set(value, sub)
	})
}

// table reads a mapping whose keys are names of the author's choice.
func (d *decoder) table(v *yaml.Node, path string, each func(name string, value *yaml.Node, path string)) {
	d.pairs(v, path, keyPath, func(key, value *yaml.Node) {
		sub := keyPath(path, key.Value)
		d.mark(key, sub)
		each(key.Value, value, sub)
	})
}

func (d *decoder) list(v *yaml.Node, path, want string, each func(v *yaml.Node, path string)) {
	if v.Kind != yaml.SequenceNode {
		d.fail(v, path, pipeline.CodeWrongType, "want %s, not %s", want, describe(v))
		return
	}
	for i, item := range v.Content {
		sub := path + "[" + strconv.Itoa(i) + "]"
		d.mark(item, sub)
		each(item, sub)
	}
}

func (d *decoder) text(target *string) setter {
	return func(v *yaml.Node, path string) {
		if v.Kind != yaml.ScalarNode || v.ShortTag() != "!!str" {
			d.fail(v, path, pipeline.CodeWrongType, "want a text, not %s", describe(v))
			return
		}
		*target = v.Value
	}
}

func (d *decoder) number(target *float64) setter {
	return func(v *yaml.Node, path string) {
		if tag := v.ShortTag(); v.Kind != yaml.ScalarNode || tag != "!!int" && tag != "!!float" {
			d.fail(v, path, pipeline.CodeWrongType, "want a number, not %s", describe(v))
			return
		}
		if err := v.Decode(target); err != nil || math.IsNaN(*target) || math.IsInf(*target, 0) {
			d.fail(v, path, pipeline.CodeOutOfRange, "%s is no finite number", describe(v))
		}
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
		if v.ShortTag() == "!!null" {
			return "nothing"
		}
		return quoted(v.Value) + " (" + strings.TrimPrefix(v.ShortTag(), "!!") + ")"
	default:
		return "nothing"
	}
}

func fieldPath(parent, field string) string {
	if parent == "" {
		return field
	}
	return parent + "." + field
}

func sortedKeys(fields map[string]setter) string {
	keys := make([]string, 0, len(fields))
	for k := range fields {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return strings.Join(keys, ", ")
}

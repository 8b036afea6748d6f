package pipeline

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/shadowcourt/shadowcourt/internal/strictyaml"
)

// Marshal writes a Definition as YAML that means the same: parsing it gives the same Definition. The bytes are
// canonical: equal meaning gives equal bytes. Comments of the file it came from are lost.
func Marshal(d *Definition) ([]byte, error) {
	written := *d
	written.Edges = slices.Clone(d.Edges)
	for i := range written.Edges { // what the defaults say is left out
		e := &written.Edges[i]
		if e.Evaluator == e.ID {
			e.Evaluator = ""
		}
		if e.Module == d.Clerk {
			e.Module = ""
		}
	}
	text, err := strictyaml.Marshal(&written)
	if err != nil {
		return nil, fmt.Errorf("write pipeline %q as YAML: %w", d.Pipeline, err)
	}
	return text, nil
}

// Equal reports whether two completed Definitions mean the same. Positions and file names don't count.
func (d *Definition) Equal(other *Definition) bool {
	a, errA := Marshal(d)
	b, errB := Marshal(other)
	return errA == nil && errB == nil && bytes.Equal(a, b)
}

// WriteYAML leaves out empty lists.
func (p Persona) WriteYAML() any {
	type written Persona
	if len(p.Grants) == 0 {
		p.Grants = nil
	}
	if len(p.Models) == 0 {
		p.Models = nil
	}
	return written(p)
}

// WriteYAML writes the personas as they are read, and leaves out what the family brings.
func (n Node) WriteYAML() any {
	written := struct {
		Name     string   `yaml:"name" write:"always"`
		Element  Element  `yaml:"element"`
		Family   Family   `yaml:"family" write:"always"`
		Parallel []string `yaml:"parallel"`
		Persona  any      `yaml:"persona"`
		Masks    []Mask   `yaml:"masks"`
		Rounds   int      `yaml:"rounds"`
		With     []Param  `yaml:"with" table:"duplicate_key"`
	}{Name: n.Name, Element: n.Element, Family: n.Family, Masks: n.Masks, Rounds: n.Rounds, With: n.With}
	rule, _ := familyRule(n.Family)
	switch {
	case n.Parallel:
		written.Parallel = append([]string{}, n.Personas...)
	case slices.Equal(n.Personas, rule.Personas):
	case len(n.Personas) == 1:
		written.Persona = n.Personas[0]
	default:
		written.Persona = n.Personas
	}
	if slices.Equal(n.Masks, rule.Masks) {
		written.Masks = nil
	}
	return written
}

// WriteYAML gives the value.
func (p Param) WriteYAML() any {
	switch p.Kind {
	case ParamNumber:
		return p.Number
	case ParamFlag:
		return p.Flag
	case ParamText:
		return p.Text
	default:
		return p.Text
	}
}

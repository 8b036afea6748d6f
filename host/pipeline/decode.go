package pipeline

import (
	"regexp"

	"gopkg.in/yaml.v3"

	"github.com/shadowcourt/shadowcourt/internal/strictyaml"
)

// readDefinition reads the shape of a file; what the values mean is checked by the validator.
func readDefinition(r *strictyaml.Reader, v *strictyaml.Node, def *Definition) {
	promptFiles := func(v *strictyaml.Node, path string) {
		r.Table(v, path, CodeDuplicateID, func(id string, _, v *strictyaml.Node, path string) {
			p, promptFile := Persona{ID: id}, ""
			r.Struct(v, path, &p, map[string]strictyaml.Setter{"prompt_file": r.Into(&promptFile)})
			def.Personas = append(def.Personas, p)
			if promptFile != "" {
				def.promptFiles[id] = promptFile
			}
		})
	}
	r.Struct(v, "", def, map[string]strictyaml.Setter{"personas": promptFiles})
	def.places = r.Places
}

// ReadYAML takes the personas from one name or a list under `persona`, or from a list under `parallel`.
func (n *Node) ReadYAML(r *strictyaml.Reader, v *strictyaml.Node, path string) {
	personas := func(parallel bool) strictyaml.Setter {
		return func(v *strictyaml.Node, path string) {
			switch {
			case n.Personas != nil:
				r.Fail(v, path, CodeDuplicateKey, "a node has either persona or parallel")
			case v.Kind != yaml.SequenceNode && !parallel:
				n.Personas = make([]string, 1)
				r.Into(&n.Personas[0])(v, path)
			default:
				n.Parallel = parallel
				r.Into(&n.Personas)(v, path)
				if v.Kind == yaml.SequenceNode && len(v.Content) == 0 {
					r.Fail(v, path, CodeMissing, "names nobody; leave the key out for the family's own")
				}
			}
		}
	}
	r.Struct(v, path, n, map[string]strictyaml.Setter{"persona": personas(false), "parallel": personas(true)})
}

// ReadYAML takes a number, a text or a flag.
func (p *Param) ReadYAML(r *strictyaml.Reader, v *strictyaml.Node, path string) {
	r.Mark(v, path)
	switch tag := v.ShortTag(); {
	case v.Kind == yaml.AliasNode:
	case v.Kind == yaml.ScalarNode && (tag == "!!int" || tag == "!!float"):
		p.Kind = ParamNumber
		r.Into(&p.Number)(v, path)
	case v.Kind == yaml.ScalarNode && tag == "!!bool":
		p.Kind = ParamFlag
		r.Into(&p.Flag)(v, path)
	case v.Kind == yaml.ScalarNode && tag == "!!str" && v.Style == 0 && numeric.MatchString(v.Value): // 1e309 is a text to the parser
		r.Fail(v, path, CodeOutOfRange, "%s is outside the range of numbers", strictyaml.Clip(v.Value))
	case v.Kind == yaml.ScalarNode && tag == "!!str":
		p.Kind, p.Text = ParamText, v.Value
	default:
		r.Wrong(v, path, "a number, a text or a flag")
	}
}

// numeric is what is written as a number.
var numeric = regexp.MustCompile(`^[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?$`)

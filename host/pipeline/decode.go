package pipeline

import (
	"regexp"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/shadowcourt/shadowcourt/host/internal/strictyaml"
)

// decoder turns YAML nodes into values. It checks shapes only; what the values mean is checked by validate.
type decoder struct{ strictyaml.Reader }

func (d *decoder) definition(v *strictyaml.Node, def *Definition) {
	d.Object(v, "", map[string]strictyaml.Setter{
		"pipeline":    strictyaml.Text(&d.Reader, &def.Pipeline),
		"description": strictyaml.Text(&d.Reader, &def.Description),
		"clerk":       strictyaml.Text(&d.Reader, &def.Clerk),
		"court":       func(v *strictyaml.Node, path string) { d.court(v, path, &def.Court) },
		"personas":    func(v *strictyaml.Node, path string) { d.personas(v, path, def) },
		"zones":       func(v *strictyaml.Node, path string) { d.zones(v, path, def) },
		"nodes":       func(v *strictyaml.Node, path string) { d.nodes(v, path, def) },
		"edges":       func(v *strictyaml.Node, path string) { d.edges(v, path, def) },
		"start":       strictyaml.Text(&d.Reader, &def.Start),
		"done":        strictyaml.Text(&d.Reader, &def.Done),
		"labels":      func(v *strictyaml.Node, path string) { d.labels(v, path, def) },
		"elements":    func(v *strictyaml.Node, path string) { d.kinds(v, path, def) },
	})
}

func (d *decoder) court(v *strictyaml.Node, path string, c *Court) {
	d.Object(v, path, map[string]strictyaml.Setter{
		"enabled":              d.Flag(&c.Enabled),
		"ttl":                  d.duration(&c.TTL),
		"max_handoffs":         d.Integer(&c.MaxHandoffs),
		"max_remands":          d.Integer(&c.MaxRemands),
		"activation_threshold": d.Number(&c.ActivationThreshold),
		"rejection_threshold":  d.Number(&c.RejectionThreshold),
		"max_rounds":           d.Integer(&c.MaxRounds),
	})
}

func (d *decoder) personas(v *strictyaml.Node, path string, def *Definition) {
	d.Table(v, path, string(CodeDuplicateID), func(id string, _, v *strictyaml.Node, path string) {
		p, promptFile := Persona{ID: id}, ""
		d.Object(v, path, map[string]strictyaml.Setter{
			"name":      strictyaml.Text(&d.Reader, &p.Name),
			"colour":    strictyaml.Text(&d.Reader, &p.Colour),
			"element":   strictyaml.Text(&d.Reader, &p.Element),
			"role":      strictyaml.Text(&d.Reader, &p.Role),
			"alignment": strictyaml.Text(&d.Reader, &p.Alignment),
			"contests":  strictyaml.Text(&d.Reader, &p.Contests),
			"module":    strictyaml.Text(&d.Reader, &p.Module),
			"grants":    strictyaml.Texts(&d.Reader, &p.Grants),

			"models":      strictyaml.Texts(&d.Reader, &p.Models),
			"prompt":      strictyaml.Text(&d.Reader, &p.Prompt),
			"prompt_file": strictyaml.Text(&d.Reader, &promptFile),
			"fallback":    strictyaml.Text(&d.Reader, &p.Fallback),
		})
		def.Personas = append(def.Personas, p)
		if promptFile != "" {
			def.promptFiles[id] = promptFile
		}
	})
}

func (d *decoder) labels(v *strictyaml.Node, path string, def *Definition) {
	d.Table(v, path, string(CodeDuplicateID), func(id string, _, v *strictyaml.Node, path string) {
		l := Label{ID: id}
		d.Object(v, path, map[string]strictyaml.Setter{
			"name":     strictyaml.Text(&d.Reader, &l.Name),
			"evidence": strictyaml.Text(&d.Reader, &l.Proof.Evidence),
			"action":   strictyaml.Text(&d.Reader, &l.Proof.Action),
		})
		def.Labels = append(def.Labels, l)
	})
}

func (d *decoder) kinds(v *strictyaml.Node, path string, def *Definition) {
	d.Table(v, path, string(CodeDuplicateID), func(element string, _, v *strictyaml.Node, path string) {
		k := Kind{Element: Element(element)}
		d.Object(v, path, map[string]strictyaml.Setter{
			"evidence": strictyaml.Text(&d.Reader, &k.Proof.Evidence),
			"action":   strictyaml.Text(&d.Reader, &k.Proof.Action),
		})
		def.Kinds = append(def.Kinds, k)
	})
}

func (d *decoder) zones(v *strictyaml.Node, path string, def *Definition) {
	d.Table(v, path, string(CodeDuplicateID), func(name string, _, v *strictyaml.Node, path string) {
		z := Zone{Name: name}
		d.Object(v, path, map[string]strictyaml.Setter{
			"nodes":      strictyaml.Texts(&d.Reader, &z.Nodes),
			"element":    strictyaml.Text(&d.Reader, &z.Element),
			"stickiness": d.Integer(&z.Stickiness),
		})
		def.Zones = append(def.Zones, z)
	})
}

func (d *decoder) nodes(v *strictyaml.Node, path string, def *Definition) {
	d.List(v, path, "a list of nodes", func(n int) { def.Nodes = make([]Node, n) },
		func(i int, v *strictyaml.Node, path string) {
			n := &def.Nodes[i]
			d.Object(v, path, map[string]strictyaml.Setter{
				"name":     strictyaml.Text(&d.Reader, &n.Name),
				"element":  strictyaml.Text(&d.Reader, &n.Element),
				"family":   strictyaml.Text(&d.Reader, &n.Family),
				"persona":  d.nodePersonas(n),
				"parallel": d.nodeParallel(n),
				"masks":    strictyaml.Texts(&d.Reader, &n.Masks),
				"rounds":   d.Integer(&n.Rounds),
				"with":     func(v *strictyaml.Node, path string) { d.params(v, path, &n.With) },
			})
		})
}

// nodePersonas takes one name or a list.
func (d *decoder) nodePersonas(n *Node) strictyaml.Setter {
	return func(v *strictyaml.Node, path string) {
		if n.Parallel {
			d.Fail(v, path, string(CodeDuplicateKey), "a node has either persona or parallel")
			return
		}
		if v.Kind == yaml.SequenceNode {
			d.filled(&n.Personas)(v, path)
			return
		}
		n.Personas = make([]string, 1)
		strictyaml.Text(&d.Reader, &n.Personas[0])(v, path)
	}
}

func (d *decoder) nodeParallel(n *Node) strictyaml.Setter {
	return func(v *strictyaml.Node, path string) {
		if n.Personas != nil {
			d.Fail(v, path, string(CodeDuplicateKey), "a node has either persona or parallel")
			return
		}
		n.Parallel = true
		d.filled(&n.Personas)(v, path)
	}
}

// filled takes a list of at least one text.
func (d *decoder) filled(target *[]string) strictyaml.Setter {
	return func(v *strictyaml.Node, path string) {
		strictyaml.Texts(&d.Reader, target)(v, path)
		if v.Kind == yaml.SequenceNode && len(v.Content) == 0 {
			d.Fail(v, path, string(CodeMissing), "names nobody; leave the key out for the family's own")
		}
	}
}

func (d *decoder) edges(v *strictyaml.Node, path string, def *Definition) {
	d.List(v, path, "a list of edges", func(n int) { def.Edges = make([]Edge, n) },
		func(i int, v *strictyaml.Node, path string) {
			e := &def.Edges[i]
			d.Object(v, path, map[string]strictyaml.Setter{
				"id":        strictyaml.Text(&d.Reader, &e.ID),
				"name":      strictyaml.Text(&d.Reader, &e.Name),
				"from":      strictyaml.Text(&d.Reader, &e.From),
				"to":        strictyaml.Text(&d.Reader, &e.To),
				"shortcut":  d.Flag(&e.Shortcut),
				"loop":      d.Flag(&e.Loop),
				"condition": strictyaml.Text(&d.Reader, &e.Condition),
				"evaluator": strictyaml.Text(&d.Reader, &e.Evaluator),
				"module":    strictyaml.Text(&d.Reader, &e.Module),
				"with":      func(v *strictyaml.Node, path string) { d.params(v, path, &e.With) },
			})
		})
}

func (d *decoder) params(v *strictyaml.Node, path string, target *[]Param) {
	d.Table(v, path, string(CodeDuplicateKey), func(name string, _, v *strictyaml.Node, path string) {
		d.Mark(v, path)
		if v.Kind == yaml.AliasNode {
			return
		}
		p := Param{Name: name}
		switch tag := v.ShortTag(); {
		case v.Kind == yaml.ScalarNode && (tag == "!!int" || tag == "!!float"):
			p.Kind = ParamNumber
			d.Number(&p.Number)(v, path)
		case v.Kind == yaml.ScalarNode && tag == "!!bool":
			p.Kind = ParamFlag
			d.Flag(&p.Flag)(v, path)
		case v.Kind == yaml.ScalarNode && tag == "!!str" && v.Style == 0 && numeric.MatchString(v.Value): // 1e309 is a text to the parser
			d.Fail(v, path, string(CodeOutOfRange), "%s is outside the range of numbers", strictyaml.Clip(v.Value))
			return
		case v.Kind == yaml.ScalarNode && tag == "!!str":
			p.Kind, p.Text = ParamText, v.Value
		default:
			d.Wrong(v, path, "a number, a text or a flag")
			return
		}
		*target = append(*target, p)
	})
}

// numeric is what is written as a number.
var numeric = regexp.MustCompile(`^[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?$`)

func (d *decoder) duration(target *time.Duration) strictyaml.Setter {
	return func(v *strictyaml.Node, path string) {
		if !d.Scalar(v, path, `a duration such as "10m"`, "!!str") {
			return
		}
		t, err := time.ParseDuration(v.Value)
		if err != nil {
			d.Fail(v, path, string(CodeBadDuration), "%q is no duration; write it as 90s, 10m or 1h30m", strictyaml.Clip(v.Value))
			return
		}
		*target = t
	}
}

package pipeline

import "gopkg.in/yaml.v3"

func (d *decoder) definition(v *yaml.Node, def *Definition) {
	d.object(v, "", map[string]setter{
		"pipeline":    text(d, &def.Pipeline),
		"description": text(d, &def.Description),
		"clerk":       text(d, &def.Clerk),
		"court":       func(v *yaml.Node, path string) { d.court(v, path, &def.Court) },
		"personas":    func(v *yaml.Node, path string) { d.personas(v, path, def) },
		"zones":       func(v *yaml.Node, path string) { d.zones(v, path, def) },
		"nodes":       func(v *yaml.Node, path string) { d.nodes(v, path, def) },
		"edges":       func(v *yaml.Node, path string) { d.edges(v, path, def) },
		"start":       text(d, &def.Start),
		"done":        text(d, &def.Done),
		"labels":      func(v *yaml.Node, path string) { d.labels(v, path, def) },
		"elements":    func(v *yaml.Node, path string) { d.kinds(v, path, def) },
	})
}

func (d *decoder) court(v *yaml.Node, path string, c *Court) {
	d.object(v, path, map[string]setter{
		"enabled":              d.flag(&c.Enabled),
		"ttl":                  d.duration(&c.TTL),
		"max_handoffs":         d.integer(&c.MaxHandoffs),
		"max_remands":          d.integer(&c.MaxRemands),
		"activation_threshold": d.number(&c.ActivationThreshold),
		"rejection_threshold":  d.number(&c.RejectionThreshold),
		"max_rounds":           d.integer(&c.MaxRounds),
	})
}

func (d *decoder) personas(v *yaml.Node, path string, def *Definition) {
	d.table(v, path, CodeDuplicateID, func(id string, v *yaml.Node, path string) {
		p, promptFile := Persona{ID: id}, ""
		d.object(v, path, map[string]setter{
			"name":      text(d, &p.Name),
			"colour":    text(d, &p.Colour),
			"element":   text(d, &p.Element),
			"role":      text(d, &p.Role),
			"alignment": text(d, &p.Alignment),
			"contests":  text(d, &p.Contests),
			"module":    text(d, &p.Module),
			"grants":    texts(d, &p.Grants),

			"models":      texts(d, &p.Models),
			"prompt":      text(d, &p.Prompt),
			"prompt_file": text(d, &promptFile),
			"fallback":    text(d, &p.Fallback),
		})
		def.Personas = append(def.Personas, p)
		if promptFile != "" {
			def.promptFiles[id] = promptFile
		}
	})
}

func (d *decoder) labels(v *yaml.Node, path string, def *Definition) {
	d.table(v, path, CodeDuplicateID, func(id string, v *yaml.Node, path string) {
		l := Label{ID: id}
		d.object(v, path, map[string]setter{
			"name":     text(d, &l.Name),
			"evidence": text(d, &l.Proof.Evidence),
			"action":   text(d, &l.Proof.Action),
		})
		def.Labels = append(def.Labels, l)
	})
}

func (d *decoder) kinds(v *yaml.Node, path string, def *Definition) {
	d.table(v, path, CodeDuplicateID, func(element string, v *yaml.Node, path string) {
		k := Kind{Element: Element(element)}
		d.object(v, path, map[string]setter{
			"evidence": text(d, &k.Proof.Evidence),
			"action":   text(d, &k.Proof.Action),
		})
		def.Kinds = append(def.Kinds, k)
	})
}

func (d *decoder) zones(v *yaml.Node, path string, def *Definition) {
	d.table(v, path, CodeDuplicateID, func(name string, v *yaml.Node, path string) {
		z := Zone{Name: name}
		d.object(v, path, map[string]setter{
			"nodes":      texts(d, &z.Nodes),
			"element":    text(d, &z.Element),
			"stickiness": d.integer(&z.Stickiness),
		})
		def.Zones = append(def.Zones, z)
	})
}

func (d *decoder) nodes(v *yaml.Node, path string, def *Definition) {
	d.list(v, path, "a list of nodes", func(n int) { def.Nodes = make([]Node, n) },
		func(i int, v *yaml.Node, path string) {
			n := &def.Nodes[i]
			d.object(v, path, map[string]setter{
				"name":     text(d, &n.Name),
				"element":  text(d, &n.Element),
				"family":   text(d, &n.Family),
				"persona":  d.nodePersonas(n),
				"parallel": d.nodeParallel(n),
				"masks":    texts(d, &n.Masks),
				"rounds":   d.integer(&n.Rounds),
				"with":     func(v *yaml.Node, path string) { d.params(v, path, &n.With) },
			})
		})
}

// nodePersonas takes one name or a list.
func (d *decoder) nodePersonas(n *Node) setter {
	return func(v *yaml.Node, path string) {
		if n.Parallel {
			d.fail(v, path, CodeDuplicateKey, "a node has either persona or parallel")
			return
		}
		if v.Kind == yaml.SequenceNode {
			d.filled(&n.Personas)(v, path)
			return
		}
		n.Personas = make([]string, 1)
		text(d, &n.Personas[0])(v, path)
	}
}

func (d *decoder) nodeParallel(n *Node) setter {
	return func(v *yaml.Node, path string) {
		if n.Personas != nil {
			d.fail(v, path, CodeDuplicateKey, "a node has either persona or parallel")
			return
		}
		n.Parallel = true
		d.filled(&n.Personas)(v, path)
	}
}

// filled takes a list of at least one text.
func (d *decoder) filled(target *[]string) setter {
	return func(v *yaml.Node, path string) {
		texts(d, target)(v, path)
		if v.Kind == yaml.SequenceNode && len(v.Content) == 0 {
			d.fail(v, path, CodeMissing, "names nobody; leave the key out for the family's own")
		}
	}
}

func (d *decoder) edges(v *yaml.Node, path string, def *Definition) {
	d.list(v, path, "a list of edges", func(n int) { def.Edges = make([]Edge, n) },
		func(i int, v *yaml.Node, path string) {
			e := &def.Edges[i]
			d.object(v, path, map[string]setter{
				"id":        text(d, &e.ID),
				"name":      text(d, &e.Name),
				"from":      text(d, &e.From),
				"to":        text(d, &e.To),
				"shortcut":  d.flag(&e.Shortcut),
				"loop":      d.flag(&e.Loop),
				"condition": text(d, &e.Condition),
				"evaluator": text(d, &e.Evaluator),
				"module":    text(d, &e.Module),
				"with":      func(v *yaml.Node, path string) { d.params(v, path, &e.With) },
			})
		})
}

func (d *decoder) params(v *yaml.Node, path string, target *[]Param) {
	d.table(v, path, CodeDuplicateKey, func(name string, v *yaml.Node, path string) {
		d.mark(v, path)
		if v.Kind == yaml.AliasNode {
			return
		}
		p := Param{Name: name}
		switch tag := v.ShortTag(); {
		case v.Kind == yaml.ScalarNode && (tag == "!!int" || tag == "!!float"):
			p.Kind = ParamNumber
			d.number(&p.Number)(v, path)
		case v.Kind == yaml.ScalarNode && tag == "!!bool":
			p.Kind = ParamFlag
			d.flag(&p.Flag)(v, path)
		case v.Kind == yaml.ScalarNode && tag == "!!str":
			p.Kind, p.Text = ParamText, v.Value
		default:
			d.fail(v, path, CodeWrongType, "want a number, a text or a flag, not %s", describe(v))
			return
		}
		*target = append(*target, p)
	})
}

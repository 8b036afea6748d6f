package audit

import (
	"strconv"

	"gopkg.in/yaml.v3"

	"github.com/shadowcourt/shadowcourt/host/pipeline"
)

// Marshal writes a rubric as a file that [Parse] reads to the same rubric,
// comments excepted, with all defaults written out. Equal rubrics give equal
// bytes.
func Marshal(r *Rubric) ([]byte, error) {
	root := mapping()
	root.put("rubric", text(r.Name))
	if r.Description != "" {
		root.put("description", text(r.Description))
	}
	if len(r.Weights) > 0 {
		weights := mapping()
		for _, w := range r.Weights {
			weights.put(w.Category, number(w.Weight))
		}
		root.put("weights", weights.node)
	}
	judges := mapping()
	for i := range r.Judges {
		judges.put(r.Judges[i].ID, r.Judges[i].node())
	}
	root.put("judges", judges.node)
	criteria := &yaml.Node{Kind: yaml.SequenceNode}
	for i := range r.Criteria {
		criteria.Content = append(criteria.Content, r.Criteria[i].node())
	}
	root.put("criteria", criteria)
	return yaml.Marshal(root.node)
}

func (j *Judge) node() *yaml.Node {
	m := mapping()
	m.put("module", text(j.Module))
	if len(j.Knows) > 0 {
		knows := mapping()
		for _, k := range j.Knows {
			knows.put(k.Criterion, text(k.As))
		}
		m.put("knows", knows.node)
	}
	if len(j.With) > 0 {
		with := mapping()
		for i := range j.With {
			with.put(j.With[i].Name, param(&j.With[i]))
		}
		m.put("with", with.node)
	}
	return m.node
}

func (c *Criterion) node() *yaml.Node {
	m := mapping()
	m.put("id", text(c.ID))
	m.put("category", text(c.Category))
	m.put("weight", number(c.Weight))
	if c.Description != "" {
		m.put("description", text(c.Description))
	}
	judges := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
	for _, id := range c.Judges {
		judges.Content = append(judges.Content, text(id))
	}
	m.put("judges", judges)
	if c.Lead != "" {
		m.put("lead", text(c.Lead))
	}
	return m.node
}

// object is a mapping that grows.
type object struct{ node *yaml.Node }

func mapping() object { return object{&yaml.Node{Kind: yaml.MappingNode}} }

func (o object) put(key string, value *yaml.Node) {
	o.node.Content = append(o.node.Content, text(key), value)
}

func text(s string) *yaml.Node {
	n := &yaml.Node{}
	n.SetString(s)
	return n
}

func number(f float64) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Value: strconv.FormatFloat(f, 'g', -1, 64)}
}

func param(p *pipeline.Param) *yaml.Node {
	switch p.Kind {
	case pipeline.ParamNumber:
		return number(p.Number)
	case pipeline.ParamFlag:
		return &yaml.Node{Kind: yaml.ScalarNode, Value: strconv.FormatBool(p.Flag)}
	case pipeline.ParamText:
		return text(p.Text)
	default:
		return text(p.Text)
	}
}

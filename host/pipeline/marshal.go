package pipeline

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strconv"

	"gopkg.in/yaml.v3"
)

// Marshal writes a Definition as YAML that means the same: parsing it gives the same Definition. The bytes are
// canonical: equal meaning gives equal bytes. Comments of the file it came from are lost.
func Marshal(d *Definition) ([]byte, error) {
	root := mapping()
	root.put("pipeline", str(d.Pipeline))
	root.put("description", strOrNothing(d.Description))
	root.put("clerk", strOrNothing(d.Clerk))
	root.put("court", courtNode(&d.Court))
	root.put("personas", personaNodes(d.Personas))
	root.put("zones", zoneNodes(d.Zones))
	nodes, edges := sequence(), sequence()
	for i := range d.Nodes {
		nodes.Content = append(nodes.Content, nodeNode(&d.Nodes[i]))
	}
	for i := range d.Edges {
		edges.Content = append(edges.Content, edgeNode(&d.Edges[i], d.Clerk))
	}
	root.put("nodes", nodes)
	root.put("edges", edges)
	root.put("start", str(d.Start))
	root.put("done", strOrNothing(d.Done))
	root.put("labels", labelNodes(d.Labels))
	root.put("elements", kindNodes(d.Kinds))

	var out bytes.Buffer
	enc := yaml.NewEncoder(&out)
	enc.SetIndent(2)
	if err := enc.Encode(root.Node); err != nil {
		return nil, fmt.Errorf("write pipeline %q as YAML: %w", d.Pipeline, err)
	}
	if err := enc.Close(); err != nil {
		return nil, fmt.Errorf("write pipeline %q as YAML: %w", d.Pipeline, err)
	}
	return out.Bytes(), nil
}

// Equal reports whether two completed Definitions mean the same. Positions and file names don't count.
func (d *Definition) Equal(other *Definition) bool {
	a, errA := Marshal(d)
	b, errB := Marshal(other)
	return errA == nil && errB == nil && bytes.Equal(a, b)
}

func courtNode(c *Court) *yaml.Node {
	m := mapping()
	m.put("enabled", boolean(c.Enabled))
	m.put("ttl", str(c.TTL.String()))
	m.put("max_handoffs", integer(c.MaxHandoffs))
	m.put("max_remands", integer(c.MaxRemands))
	m.put("activation_threshold", float(c.ActivationThreshold))
	m.put("rejection_threshold", float(c.RejectionThreshold))
	m.put("max_rounds", integer(c.MaxRounds))
	return m.Node
}

func personaNodes(personas []Persona) *yaml.Node {
	all := mapping()
	for i := range personas {
		p := &personas[i]
		m := mapping()
		m.put("name", strOrNothing(p.Name))
		m.put("colour", strOrNothing(p.Colour))
		m.put("element", strOrNothing(p.Element))
		m.put("role", strOrNothing(p.Role))
		m.put("alignment", strOrNothing(p.Alignment))
		m.put("contests", strOrNothing(p.Contests))
		m.put("module", strOrNothing(p.Module))
		if len(p.Grants) > 0 {
			m.put("grants", strs(p.Grants))
		}
		if len(p.Models) > 0 {
			m.put("models", strs(p.Models))
		}
		m.put("prompt", strOrNothing(p.Prompt))
		m.put("fallback", strOrNothing(p.Fallback))
		all.put(p.ID, m.Node)
	}
	return all.orNothing()
}

func labelNodes(labels []Label) *yaml.Node {
	all := mapping()
	for i := range labels {
		m := mapping()
		m.put("name", strOrNothing(labels[i].Name))
		m.putProof(labels[i].Proof)
		all.put(labels[i].ID, m.Node)
	}
	return all.orNothing()
}

func kindNodes(kinds []Kind) *yaml.Node {
	all := mapping()
	for i := range kinds {
		m := mapping()
		m.putProof(kinds[i].Proof)
		all.put(string(kinds[i].Element), m.Node)
	}
	return all.orNothing()
}

func zoneNodes(zones []Zone) *yaml.Node {
	all := mapping()
	for i := range zones {
		z := &zones[i]
		m := mapping()
		m.put("nodes", strs(z.Nodes))
		m.put("element", strOrNothing(z.Element))
		m.put("stickiness", integer(z.Stickiness))
		all.put(z.Name, m.Node)
	}
	return all.orNothing()
}

func nodeNode(n *Node) *yaml.Node {
	m := mapping()
	m.put("name", str(n.Name))
	m.put("element", strOrNothing(n.Element))
	m.put("family", str(n.Family))
	rule, _ := familyRule(n.Family)
	switch {
	case n.Parallel:
		m.put("parallel", strs(n.Personas))
	case slices.Equal(n.Personas, rule.Personas):
	case len(n.Personas) == 1:
		m.put("persona", str(n.Personas[0]))
	default:
		m.put("persona", strs(n.Personas))
	}
	if n.Masks != nil && !slices.Equal(n.Masks, rule.Masks) {
		m.put("masks", strs(n.Masks))
	}
	if n.Rounds != 0 {
		m.put("rounds", integer(n.Rounds))
	}
	m.put("with", paramNodes(n.With))
	return m.Node
}

func edgeNode(e *Edge, clerk string) *yaml.Node {
	m := mapping()
	m.put("id", str(e.ID))
	m.put("name", strOrNothing(e.Name))
	m.put("from", str(e.From))
	m.put("to", str(e.To))
	if e.Shortcut {
		m.put("shortcut", boolean(true))
	}
	if e.Loop {
		m.put("loop", boolean(true))
	}
	m.put("condition", strOrNothing(e.Condition))
	if e.Evaluator != e.ID {
		m.put("evaluator", strOrNothing(e.Evaluator))
	}
	if e.Module != clerk {
		m.put("module", strOrNothing(e.Module))
	}
	m.put("with", paramNodes(e.With))
	return m.Node
}

func paramNodes(with []Param) *yaml.Node {
	all := mapping()
	for _, p := range with {
		all.put(p.Name, paramNode(p))
	}
	return all.orNothing()
}

func paramNode(p Param) *yaml.Node {
	switch p.Kind {
	case ParamNumber:
		return float(p.Number)
	case ParamFlag:
		return boolean(p.Flag)
	case ParamText:
		return str(p.Text)
	default:
		return str(p.Text)
	}
}

// fields is a YAML mapping that is being written.
type fields struct{ *yaml.Node }

func mapping() fields { return fields{&yaml.Node{Kind: yaml.MappingNode}} }

func sequence() *yaml.Node { return &yaml.Node{Kind: yaml.SequenceNode} }

// put adds a field; nil adds nothing.
func (f fields) put(key string, value *yaml.Node) {
	if value != nil {
		f.Content = append(f.Content, str(key), value)
	}
}

func (f fields) putProof(p Proof) {
	f.put("evidence", strOrNothing(p.Evidence))
	f.put("action", strOrNothing(p.Action))
}

func (f fields) orNothing() *yaml.Node {
	if len(f.Content) == 0 {
		return nil
	}
	return f.Node
}

var plainText = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]*$`)

// str quotes all but plain words; the YAML library quotes words such as true by the tag.
func str[T ~string](s T) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: string(s)}
	if !plainText.MatchString(string(s)) {
		n.Style = yaml.DoubleQuotedStyle
	}
	return n
}

func strOrNothing[T ~string](s T) *yaml.Node {
	if s == "" {
		return nil
	}
	return str(s)
}

func strs[T ~string](all []T) *yaml.Node {
	n := sequence()
	n.Style = yaml.FlowStyle
	for _, s := range all {
		n.Content = append(n.Content, str(s))
	}
	return n
}

func integer(i int) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Value: strconv.Itoa(i)}
}

// float writes -0 as 0, which it equals.
func float(f float64) *yaml.Node {
	if f == 0 {
		f = 0
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Value: strconv.FormatFloat(f, 'g', -1, 64)}
}

func boolean(b bool) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Value: strconv.FormatBool(b)}
}

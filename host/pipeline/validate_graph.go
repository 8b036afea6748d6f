package pipeline

import (
	"strings"

	"github.com/shadowcourt/shadowcourt/internal/strictyaml"
)

// MaxEdgesOfNode is how many edges can leave a node, with those from [Any]: an answer for edges has no more.
const MaxEdgesOfNode = 1000

// isNode checks the name of a node.
func (v *validator) isNode(path, name string) {
	if name == "" {
		v.FailAt(path, CodeMissing, "is missing or empty")
		return
	}
	if _, ok := v.nodes[name]; ok || v.namesAreVague() {
		return
	}
	v.FailAt(path, CodeUnknownNode, "no node is called %q", strictyaml.Clip(name))
}

// namesAreVague reports whether some node's name is not known because of a fault of shape.
func (v *validator) namesAreVague() bool {
	if !v.vague {
		return false
	}
	if v.Broken("nodes") || v.AnyBroken() {
		return true
	}
	for i := range v.def.Nodes {
		if v.Broken(strictyaml.IndexPath("nodes", i) + ".name") {
			return true
		}
	}
	return false
}

func (v *validator) edges() {
	seen := make(map[string]int)
	leaving := make(map[string]int)
	anywhere := 0
	for i := range v.def.Edges {
		if from := v.def.Edges[i].From; from == Any {
			anywhere++
		} else {
			leaving[from]++
		}
	}
	for i := range v.def.Edges {
		e := &v.def.Edges[i]
		path := strictyaml.IndexPath("edges", i)
		v.Required(path+".id", e.ID)
		if e.Module != v.def.Clerk {
			v.reference(path+".module", e.Module)
		}
		if first, ok := seen[e.ID]; ok && e.ID != "" {
			v.FailAt(path+".id", CodeDuplicateID, "edges[%d] has the id %q too", first, strictyaml.Clip(e.ID))
		} else {
			seen[e.ID] = i
		}
		if n := leaving[e.From] + anywhere; n > MaxEdgesOfNode {
			v.FailAt(path+".from", CodeTooLarge, "%d edges leave the node %s, those of %s included; at most %d can", n, strictyaml.Clip(e.From), Any, MaxEdgesOfNode)
			leaving[e.From] = -anywhere // reported once
		}
		if e.From != Any {
			v.edgeEnd(path+".from", e.From, "a path can't leave the end %q")
		}
		switch {
		case IsEnd(e.To):
		case e.To == Any:
			v.FailAt(path+".to", CodeUnknownNode, "%s is a source only", Any)
		case strings.HasPrefix(e.To, "_"):
			v.FailAt(path+".to", CodeUnknownEnd, "unknown end %q; known are %s", strictyaml.Clip(e.To), join(Ends()))
		default:
			v.isNode(path+".to", e.To)
		}
		v.params(path, e.With)
	}
}

func (v *validator) edgeEnd(path, name, message string) {
	if IsEnd(name) {
		v.FailAt(path, CodeUnknownNode, message, name)
		return
	}
	v.isNode(path, name)
}

func (v *validator) params(path string, with []Param) {
	names := make(map[string]bool, len(with))
	for _, p := range with {
		at := strictyaml.KeyPath(path+".with", p.Name)
		v.unique(names, at, "parameter", "name", p.Name)
		switch p.Kind {
		case ParamNumber:
			if p.Number-p.Number != 0 { // NaN or infinite
				v.FailAt(at, CodeOutOfRange, "%v is no finite number", p.Number)
			}
		case ParamText, ParamFlag:
		default:
			v.FailAt(at, CodeWrongType, "unknown kind of parameter %q", strictyaml.Clip(string(p.Kind)))
		}
	}
}

func (v *validator) start() {
	if v.def.Start == "" {
		v.FailAt("start", CodeMissing, "is missing: where does the traversal begin?")
		return
	}
	v.isNode("start", v.def.Start)
}

// reach follows the edges from the start along everything that can fire, falling through included.
func (v *validator) reach() {
	start, ok := v.nodes[v.def.Start]
	if !ok || v.vague {
		return
	}
	r := reachable(v.def, v.nodes, start)
	for i := range v.def.Nodes {
		if first, ok := v.nodes[v.def.Nodes[i].Name]; ok && first == i && !r.nodes[i] {
			v.FailAt(strictyaml.IndexPath("nodes", i), CodeUnreachable, "no path from %q reaches the node %q",
				strictyaml.Clip(v.def.Start), strictyaml.Clip(v.def.Nodes[i].Name))
		}
	}
	if !r.end {
		v.FailAt("edges", CodeNoEnd, "no path from %q reaches an end", strictyaml.Clip(v.def.Start))
	}
}

// reached is what a traversal can get to: nodes by index, and whether an end.
type reached struct {
	nodes []bool
	end   bool
}

func reachable(def *Definition, index map[string]int, start int) reached {
	r := reached{nodes: make([]bool, len(def.Nodes))}
	exits := exitsOf(def)
	queue := []int{start}
	r.nodes[start] = true
	visit := func(i int) {
		if !r.nodes[i] {
			r.nodes[i] = true
			queue = append(queue, i)
		}
	}
	follow := func(to string) {
		if IsEnd(to) {
			r.end = true
		} else if i, ok := index[to]; ok {
			visit(i)
		}
	}
	for len(queue) > 0 {
		i := queue[0]
		queue = queue[1:]
		own := exits[def.Nodes[i].Name]
		everywhere := exits[Any]
		for _, to := range everywhere.to {
			follow(to)
		}
		for _, to := range own.to {
			if IsEnd(to) || !everywhere.always { // an edge of any node counts before a move to a node
				follow(to)
			}
		}
		if !own.always && !everywhere.always && i+1 < len(def.Nodes) {
			visit(i + 1)
		}
	}
	return r
}

// exits are the targets of a source's edges up to the first that always fires.
type exits struct {
	to     []string
	always bool
}

func exitsOf(def *Definition) map[string]exits {
	all := make(map[string]exits)
	for i := range def.Edges {
		e := &def.Edges[i]
		x := all[e.From]
		if !x.always {
			x.to = append(x.to, e.To)
			x.always = e.Unconditional()
			all[e.From] = x
		}
	}
	return all
}

package pipeline

// Graph is the index of a Definition for a traversal. It is read-only, and safe for concurrent use.
type Graph struct {
	def   *Definition
	nodes map[string]int
	edges map[string]*Edge
	own   map[string][]*Edge
	any   []*Edge
}

// NewGraph checks a completed Definition and indexes it. The Definition must not be changed afterwards. The error, if
// any, is an [Errors].
func NewGraph(d *Definition) (*Graph, error) {
	if err := d.Validate(); err != nil {
		return nil, err
	}
	g := &Graph{
		def: d, nodes: make(map[string]int, len(d.Nodes)),
		edges: make(map[string]*Edge, len(d.Edges)), own: make(map[string][]*Edge),
	}
	for i := range d.Nodes {
		g.nodes[d.Nodes[i].Name] = i
	}
	for i := range d.Edges {
		e := &d.Edges[i]
		g.edges[e.ID] = e
		if e.FromAny() {
			g.any = append(g.any, e)
		} else {
			g.own[e.From] = append(g.own[e.From], e)
		}
	}
	return g, nil
}

// Definition returns what the graph was made from.
func (g *Graph) Definition() *Definition { return g.def }

// Start returns the first node of a traversal.
func (g *Graph) Start() *Node { return &g.def.Nodes[g.nodes[g.def.Start]] }

// Node returns the node of that name.
func (g *Graph) Node(name string) (*Node, bool) {
	i, ok := g.nodes[name]
	if !ok {
		return nil, false
	}
	return &g.def.Nodes[i], true
}

// Next returns the node that follows in file order, where a traversal falls through to.
func (g *Graph) Next(name string) (*Node, bool) {
	i, ok := g.nodes[name]
	if !ok || i+1 >= len(g.def.Nodes) {
		return nil, false
	}
	return &g.def.Nodes[i+1], true
}

// Edge returns the edge with that ID.
func (g *Graph) Edge(id string) (*Edge, bool) {
	e, ok := g.edges[id]
	return e, ok
}

// EdgesFrom returns the node's own edges in file order. The caller must not change the slice.
func (g *Graph) EdgesFrom(name string) []*Edge { return g.own[name] }

// AnyEdges returns the edges that leave every node, in file order. The caller must not change the slice.
func (g *Graph) AnyEdges() []*Edge { return g.any }

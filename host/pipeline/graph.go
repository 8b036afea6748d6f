package pipeline

import (
	"fmt"
)

// Graph is the index of a Definition for a traversal. It is read-only, and safe for concurrent use.
type Graph struct {
	def   *Definition
	nodes map[string]int
	edges map[string]*Edge
	own   map[string][]*Edge
	any   []*Edge
}

// NewGraph checks a completed Definition and indexes it. The Definition must not be changed afterwards. The error, if any, is an [Errors].
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

// Move is one step of a path: over an edge, or by falling through if Edge is empty. A Move from a node to itself
// without an edge is a repeated visit.
type Move struct {
	From string
	Edge string
	To   string
}

// PathOf writes a path as its arrivals: a bare node name for the start and for falling through, "EDGE:target" for an
// edge. Repeated visits are left out.
func PathOf(start string, moves []Move) []string {
	path := make([]string, 0, len(moves)+1)
	path = append(path, start)
	for _, m := range moves {
		switch {
		case m.Edge != "":
			path = append(path, m.Edge+":"+m.To)
		case m.From != m.To:
			path = append(path, m.To)
		}
	}
	return path
}

// ParsePath reads what [PathOf] wrote, for a path through this graph. It rejects unknown nodes and edges, and moves that
// the graph does not have.
func (g *Graph) ParsePath(path []string) ([]Move, error) {
	if len(path) == 0 {
		return nil, nil
	}
	if path[0] != g.def.Start {
		return nil, fmt.Errorf("path[0]: %q is not the start %q", path[0], g.def.Start)
	}
	moves := make([]Move, 0, len(path)-1)
	at := g.def.Start
	for i, arrival := range path[1:] {
		m, ok := g.parseMove(at, arrival)
		if !ok {
			return nil, fmt.Errorf("path[%d]: no move %q from %q", i+1, arrival, at)
		}
		moves = append(moves, m)
		at = m.To
	}
	return moves, nil
}

// parseMove tries every split, since an id or a name may hold a colon itself.
func (g *Graph) parseMove(at, arrival string) (Move, bool) {
	if next, ok := g.Next(at); ok && next.Name == arrival {
		return Move{From: at, To: arrival}, true
	}
	for i := range len(arrival) {
		if arrival[i] != ':' {
			continue
		}
		e, ok := g.Edge(arrival[:i])
		if ok && e.To == arrival[i+1:] && (e.From == at || e.FromAny()) && !IsEnd(at) {
			return Move{From: at, Edge: e.ID, To: e.To}, true
		}
	}
	return Move{}, false
}

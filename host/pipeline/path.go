package pipeline

import "fmt"

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

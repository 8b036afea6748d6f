package pipeline

import "fmt"

// arcKind says how an arc runs.
type arcKind int

const (
	arcForward arcKind = iota // above the row to a later node
	arcBack                   // below the row to an earlier node or the same
	arcFan                    // from the last node straight to an end
	arcToEnd                  // above the row and round the ends, from another node
	arcAnyNode                // from the bracket of any node up to a node
	arcAnyEnd                 // from the bracket of any node to an end
)

// arc is all edges from one source to one target, drawn as one line.
type arc struct {
	edges    []*Edge
	kind     arcKind
	from, to int // indexes of boxes; to may be the index of an end box
	x1, x2   int // where it leaves and arrives
	level    int // from 0, upwards above the row and downwards below it or below the bracket
	lane     int // from 1, right of the ends; 0 for none

	path           string
	tipX, tipY     int
	tip            direction
	labelX, labelY int
	labelEnd       bool // labelX is the right end of the label, not its middle
}

func (a *arc) span() int {
	switch {
	case a.kind == arcToEnd:
		return 1 << 20 // outermost
	case a.to > a.from:
		return a.to - a.from
	default:
		return a.from - a.to
	}
}

// groupArcs gathers the edges that run from one source to one target and may share a line.
func groupArcs(l *layout) []arc {
	type ends struct {
		from, to string
		loop     bool
	}
	endIndex := make(map[string]int)
	for i, name := range l.g.usedEnds() {
		endIndex[name] = i
	}
	groups := make(map[ends]int)
	var arcs []arc
	for i := range l.g.def.Edges {
		e := &l.g.def.Edges[i]
		key := ends{e.From, e.To, e.Loop}
		if at, ok := groups[key]; ok {
			arcs[at].edges = append(arcs[at].edges, e)
			continue
		}
		groups[key] = len(arcs)
		a := arc{edges: []*Edge{e}, from: l.index[e.From]}
		if IsEnd(e.To) {
			a.to = endIndex[e.To]
		} else {
			a.to = l.index[e.To]
		}
		a.kind = l.kindOf(e, &a)
		arcs = append(arcs, a)
	}
	return arcs
}

func (l *layout) kindOf(e *Edge, a *arc) arcKind {
	switch {
	case e.FromAny() && IsEnd(e.To):
		return arcAnyEnd
	case e.FromAny():
		return arcAnyNode
	case IsEnd(e.To) && a.from == len(l.boxes)-1:
		return arcFan
	case IsEnd(e.To):
		return arcToEnd
	case a.to > a.from:
		return arcForward
	default:
		return arcBack
	}
}

// route draws the line of an arc and places its tip and label.
func (l *layout) route(a *arc) {
	switch a.kind {
	case arcForward:
		y := l.levelAbove(a.level)
		a.path = bracket(a.x1, a.x2, l.rowTop, y, -1)
		a.tipX, a.tipY, a.tip = a.x2, l.rowTop, down
		a.labelX, a.labelY = (a.x1+a.x2)/2, y-5
	case arcBack:
		base := l.rowTop + nodeHeight
		y := l.bandBottom + 12 + a.level*levelStep
		a.path = bracket(a.x1, a.x2, base, y, 1)
		a.tipX, a.tipY, a.tip = a.x2, base, up
		a.labelX, a.labelY = (a.x1+a.x2)/2, y+14
	case arcFan:
		l.routeFan(a)
	case arcToEnd:
		y, lane, end := l.levelAbove(a.level), l.laneX(a), l.endBoxes[a.to].y
		a.path = fmt.Sprintf("M%d %dV%dq0 -8 8 -8H%dq8 0 8 8V%dq0 8 -8 8H%d",
			a.x1, l.rowTop, y+8, lane-8, end-8, l.endX+endWidth+7)
		a.tipX, a.tipY, a.tip = l.endX+endWidth+1, end, toLeft
		a.labelX, a.labelY = (a.x1+a.x2)/2, y-5
	case arcAnyEnd:
		l.routeAnyEnd(a)
	case arcAnyNode:
		b := l.boxes[a.to]
		x, base := b.x+b.w/2, l.rowTop+nodeHeight
		a.path = fmt.Sprintf("M%d %dV%d", x, l.anyY, base+8)
		a.tipX, a.tipY, a.tip = x, base, up
		a.labelX, a.labelY = x, l.anyY+14
	}
}

func (l *layout) levelAbove(level int) int { return l.bandTop - 12 - level*levelStep }

func (l *layout) laneX(a *arc) int { return l.endX + endWidth + 14 + a.lane*laneStep }

// bracket leaves the row, runs along a level and comes back; sign is -1 above the row and 1 below.
func bracket(x1, x2, base, y, sign int) string {
	turn := 8
	if x2 < x1 {
		turn = -8
	}
	return fmt.Sprintf("M%d %dV%dq0 %d %d %dH%dq%d 0 %d %dV%d",
		x1, base, y-8*sign, 8*sign, turn, 8*sign, x2-turn, turn, turn, -8*sign, base+8*sign)
}

// routeFan draws the curve from the last node to an end; the curves leave the node side by side.
func (l *layout) routeFan(a *arc) {
	b := l.boxes[a.from]
	n := len(l.endBoxes)
	y1 := l.rowTop + nodeHeight*(a.to+1)/(n+1)
	y2 := l.endBoxes[a.to].y
	if n == 1 {
		y1 = y2
	}
	x1 := b.x + b.w
	bend := x1 + 62
	a.path = fmt.Sprintf("M%d %dC%d %d %d %d %d %dH%d", x1+1, y1, x1+36, y1, bend-36, y2, bend, y2, l.endX-8)
	a.tipX, a.tipY, a.tip = l.endX-1, y2, toRight
	a.labelX, a.labelY, a.labelEnd = l.endX-14, y2-6, true
}

// routeAnyEnd runs along the bracket's height: up into the lowest end, or round the ends into another.
func (l *layout) routeAnyEnd(a *arc) {
	last := l.boxes[len(l.boxes)-1]
	x, y, end := last.x+last.w-12-a.level*16, l.anyY+a.level*anyStep, l.endBoxes[a.to].y
	a.labelX, a.labelY, a.labelEnd = l.endX-14, y-6, true
	start := fmt.Sprintf("M%d %dV%d", x, l.anyY, y)
	if a.lane == 0 {
		x, base := l.endX+endWidth/2, end+endHeight/2
		a.path = start + fmt.Sprintf("H%dq8 0 8 -8V%d", x-8, base+8)
		a.tipX, a.tipY, a.tip = x, base, up
		return
	}
	lane := l.laneX(a)
	a.path = start + fmt.Sprintf("H%dq8 0 8 -8V%dq0 -8 -8 -8H%d", lane-8, end+8, l.endX+endWidth+7)
	a.tipX, a.tipY, a.tip = l.endX+endWidth+1, end, toLeft
}

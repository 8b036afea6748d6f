package pipeline

import (
	"cmp"
	"slices"
)

// Sizes in pixels.
const (
	margin     = 24
	nodeHeight = 58
	nodeGap    = 72
	endWidth   = 96
	endHeight  = 30
	endGap     = 22
	levelStep  = 26
	bandPad    = 14
	laneStep   = 10
	anyStep    = 20
)

type direction int

const (
	toRight direction = iota
	toLeft
	down
	up
)

// box is where a node is drawn.
type box struct {
	node *Node
	x, w int
}

// endBox is where an end is drawn; y is its middle.
type endBox struct {
	name string
	y    int
}

// band is the background of neighbouring nodes of one zone.
type band struct {
	zone *Zone
	x, w int
}

// layout places everything: nodes in a row, arcs that go forward on levels above it, arcs that go back on levels
// below it, then the bracket of the edges of any node, and the ends in a column on the right.
type layout struct {
	g                   *Graph
	boxes               []box
	index               map[string]int // of boxes by node name
	endBoxes            []endBox
	bands               []band
	arcs                []arc
	endX                int
	rowTop              int
	bandTop, bandBottom int
	anyY                int // of the bracket of any node
	anyTracks           int // lines below it
	lanes               int // lines right of the ends
	width, height       int
}

func newLayout(g *Graph) *layout {
	l := &layout{g: g, index: make(map[string]int)}
	x := margin + bandPad
	for i := range g.def.Nodes {
		n := &g.def.Nodes[i]
		w := max(textWidth(visible(n.Name), 14), textWidth(visible(personaNames(g.def, n)), 10)) + 28
		w = min(max(w, 108), 220)
		l.index[n.Name] = i
		l.boxes = append(l.boxes, box{node: n, x: x, w: w})
		x += w + nodeGap
	}
	l.arcs = groupArcs(l)
	above, below := l.assignPorts()
	l.assignLanes()

	fan := 0 // room for the labels of the edges from the last node to the ends
	for i := range l.arcs {
		if l.arcs[i].kind == arcFan {
			fan = max(fan, textWidth(arcLabel(&l.arcs[i]), 12))
		}
	}
	l.endX = x - nodeGap + fan + 100
	l.vertical(above, below)
	l.placeBands()
	for i := range l.arcs {
		l.route(&l.arcs[i])
	}
	return l
}

// vertical finds the heights, from the number of levels above and below the row.
func (l *layout) vertical(above, below int) {
	ends := l.g.usedEnds()
	column := len(ends)*(endHeight+endGap) - endGap
	l.bandTop = margin + above*levelStep + 10
	top := l.bandTop + bandPad + nodeHeight/2 - column/2
	if shift := margin - top; shift > 0 {
		l.bandTop += shift
		top = margin
	}
	for i := range l.arcs {
		if l.arcs[i].kind == arcToEnd { // runs over the ends, not through them
			top = max(top, l.levelAbove(l.arcs[i].level)+endGap)
		}
	}
	for i, name := range ends {
		l.endBoxes = append(l.endBoxes, endBox{name: name, y: top + endHeight/2 + i*(endHeight+endGap)})
	}
	l.rowTop = l.bandTop + bandPad
	l.bandBottom = l.rowTop + nodeHeight + bandPad + 14
	bottom := max(l.bandBottom+below*levelStep+10, top+column)
	if len(l.g.any) > 0 {
		l.anyY = bottom + 30
		bottom = l.anyY + 16 + l.anyTracks*anyStep
	}
	l.height = bottom + margin + 14
	l.width = max(l.endX+endWidth+margin, textWidth(legendText, 10)+2*margin)
	if l.lanes > 0 {
		l.width = max(l.width, l.endX+endWidth+14+l.lanes*laneStep+margin)
	}
}

// assignLanes gives the arcs that go round the ends their places right of them, inner lanes to lower levels, so that
// they don't cross; and the arcs from any node their heights below the bracket.
func (l *layout) assignLanes() {
	var over, under []*arc
	for i := range l.arcs {
		switch a := &l.arcs[i]; a.kind {
		case arcToEnd:
			over = append(over, a)
		case arcAnyEnd:
			under = append(under, a)
		default:
		}
	}
	slices.SortStableFunc(over, func(a, b *arc) int { return cmp.Compare(a.level, b.level) })
	for _, a := range over {
		l.lanes++
		a.lane = l.lanes
	}
	lowest := len(l.g.usedEnds()) - 1
	slices.SortStableFunc(under, func(a, b *arc) int { return cmp.Compare(b.to, a.to) })
	for i, a := range under {
		a.level = i
		if a.to != lowest {
			l.lanes++
			a.lane = l.lanes
		}
	}
	l.anyTracks = max(0, len(under)-1)
}

func (l *layout) placeBands() {
	for i := range l.boxes {
		zone, ok := l.g.def.Zone(l.boxes[i].node.Name)
		if !ok {
			continue
		}
		right := l.boxes[i].x + l.boxes[i].w + bandPad
		if last := len(l.bands) - 1; i > 0 && last >= 0 && l.bands[last].zone == zone {
			if previous, _ := l.g.def.Zone(l.boxes[i-1].node.Name); previous == zone {
				l.bands[last].w = right - l.bands[last].x
				continue
			}
		}
		x := l.boxes[i].x - bandPad
		l.bands = append(l.bands, band{zone: zone, x: x, w: right - x})
	}
}

// assignPorts gives every arc its places on the nodes and its level, and returns the number of levels above and below.
func (l *layout) assignPorts() (above, below int) {
	for _, k := range []arcKind{arcForward, arcBack} {
		var arcs []*arc
		for i := range l.arcs {
			if l.arcs[i].kind == k || k == arcForward && l.arcs[i].kind == arcToEnd {
				arcs = append(arcs, &l.arcs[i])
			}
		}
		l.spreadPorts(arcs, k == arcForward)
		n := stackLevels(arcs)
		if k == arcForward {
			above = n
		} else {
			below = n
		}
	}
	return above, below
}

// spreadPorts places arcs side by side: where they leave a node, the longest is on the inner side; where they arrive,
// on the outer, so that arcs of one node don't cross.
func (l *layout) spreadPorts(arcs []*arc, forward bool) {
	out, in := make(map[int][]*arc), make(map[int][]*arc)
	for _, a := range arcs {
		out[a.from] = append(out[a.from], a)
		if a.kind != arcToEnd {
			in[a.to] = append(in[a.to], a)
		}
	}
	longest := func(a, b *arc) int { return cmp.Compare(b.span(), a.span()) }
	for node, group := range out {
		slices.SortStableFunc(group, longest)
		for i, a := range group {
			a.x1 = l.port(node, i, len(group), forward)
		}
	}
	for node, group := range in {
		slices.SortStableFunc(group, longest)
		slices.Reverse(group)
		for i, a := range group {
			a.x2 = l.port(node, i, len(group), !forward)
		}
	}
	for _, a := range arcs {
		if a.kind == arcToEnd {
			last := l.boxes[len(l.boxes)-1]
			a.x2 = last.x + last.w + nodeGap
		}
	}
}

// port is place i of n on the right or the left half of a node, counted from the left, mirrored below the row.
func (l *layout) port(node, i, n int, right bool) int {
	b := l.boxes[node]
	half := b.w/2 - 12
	offset := half * (i + 1) / (n + 1)
	if right {
		return b.x + b.w/2 + offset
	}
	return b.x + 12 + offset
}

// stackLevels puts short arcs low and long ones above them, and returns the number of levels. Labels count as part of
// their arcs.
func stackLevels(arcs []*arc) int {
	slices.SortStableFunc(arcs, func(a, b *arc) int { return cmp.Compare(a.span(), b.span()) })
	var levels [][][2]int
	for _, a := range arcs {
		left, right := min(a.x1, a.x2), max(a.x1, a.x2)
		middle, half := (left+right)/2, textWidth(arcLabel(a), 12)/2+20
		left, right = min(left, middle-half)-4, max(right, middle+half)+4
		for a.level < len(levels) && slices.ContainsFunc(levels[a.level], func(t [2]int) bool {
			return left < t[1] && t[0] < right
		}) {
			a.level++
		}
		if a.level == len(levels) {
			levels = append(levels, nil)
		}
		levels[a.level] = append(levels[a.level], [2]int{left, right})
	}
	return len(levels)
}

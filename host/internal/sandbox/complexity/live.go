package complexity

import "sort"

// liveness bounds how many locals are live in each block, in one pass and
// without a control flow graph.
//
// A definition of a local at some level of nesting dominates what follows at
// that level and deeper, until the level ends or defines the local again. A use
// belongs to the innermost such definition, so that the local is live at most
// from that definition up to the use, or up to the end of the outermost loop
// that began after the definition and contains the use. Blocks are numbered in
// the order of the code.
type liveness struct {
	current []int32 // by local: its dominating definition
	defs    []definition
	unused  []int32 // free definitions
	scoped  []int32 // the definitions of the open levels
	levels  []int   // by open level: where its definitions begin in scoped
	loops   []openLoop
	changes []int32 // by block: how many locals become live there, less those that cease to be
}

// definition of a local. It is live in the blocks after first up to last.
type definition struct {
	local, outer int32 // outer is the definition that it hides
	first, last  int32
	level, loop  int32 // loop is the number of the last loop that it was noted for
}

type openLoop struct {
	level, number int32
	used          []int32 // definitions from before the loop that it uses
}

func (l *liveness) begin(locals int) {
	l.current = append(l.current[:0], make([]int32, locals)...)
	l.defs, l.unused, l.scoped, l.levels = l.defs[:0], l.unused[:0], l.scoped[:0], l.levels[:0]
	l.loops, l.changes = l.loops[:0], append(l.changes[:0], 0, 0)
	for i := range locals {
		l.current[i] = int32(i)
		l.defs = append(l.defs, definition{local: int32(i), outer: -1, loop: -1})
	}
}

// block begins a block.
func (l *liveness) block() { l.changes = append(l.changes, 0) }

func (l *liveness) now() int32 { return int32(len(l.changes) - 2) }

// open begins a level of nesting, which is a loop with that number, or none
// with a negative one.
func (l *liveness) open(loop int32) {
	l.levels = append(l.levels, len(l.scoped))
	if loop >= 0 {
		l.loops = append(l.loops, openLoop{level: int32(len(l.levels)), number: loop})
	}
}

// close ends the innermost level.
func (l *liveness) close(loop bool) {
	if loop {
		last := len(l.loops) - 1
		for _, d := range l.loops[last].used {
			l.defs[d].last = max(l.defs[d].last, l.now())
		}
		l.loops = l.loops[:last]
	}
	last := len(l.levels) - 1
	for _, d := range l.scoped[l.levels[last]:] {
		l.current[l.defs[d].local] = l.defs[d].outer
		l.flush(d)
		l.unused = append(l.unused, d)
	}
	l.scoped, l.levels = l.scoped[:l.levels[last]], l.levels[:last]
}

// flush counts the blocks in which a definition is live, and begins it again.
func (l *liveness) flush(d int32) {
	if def := &l.defs[d]; def.last > def.first {
		l.changes[def.first+1]++
		l.changes[def.last+1]--
	}
}

func (l *liveness) use(local uint32) {
	if int(local) >= len(l.current) {
		return // invalid
	}
	d := l.current[local]
	def := &l.defs[d]
	def.last = max(def.last, l.now())
	i := sort.Search(len(l.loops), func(i int) bool { return l.loops[i].level > def.level })
	if i < len(l.loops) && l.loops[i].number != def.loop {
		def.loop = l.loops[i].number
		l.loops[i].used = append(l.loops[i].used, d)
	}
}

func (l *liveness) define(local uint32) {
	if int(local) >= len(l.current) {
		return
	}
	level, d := int32(len(l.levels)), l.current[local]
	if l.defs[d].level == level {
		l.flush(d)
		outer := l.defs[d].outer
		l.defs[d] = definition{local: int32(local), outer: outer, first: l.now(), last: l.now(), level: level, loop: -1}
		return
	}
	next := int32(len(l.defs))
	if n := len(l.unused); n > 0 {
		next, l.unused = l.unused[n-1], l.unused[:n-1]
	} else {
		l.defs = append(l.defs, definition{})
	}
	l.defs[next] = definition{local: int32(local), outer: d, first: l.now(), last: l.now(), level: level, loop: -1}
	l.scoped = append(l.scoped, next)
	l.current[local] = next
}

// end gives the number of live locals by block.
func (l *liveness) end() []int32 {
	for d := range l.defs {
		if l.defs[d].outer < 0 {
			l.flush(int32(d))
		}
	}
	live := int32(0)
	for i, change := range l.changes {
		live += change
		l.changes[i] = live
	}
	return l.changes[:len(l.changes)-1]
}

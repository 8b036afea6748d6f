package pipeline

import (
	"fmt"
	"slices"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/internal/strictyaml"
)

// The warnings.
const (
	WarnShortcutBack  Code = "shortcut_goes_back"  // a shortcut that does not go forward
	WarnLoopForward   Code = "loop_goes_forward"   // a loop that goes neither back nor to _remand
	WarnUnmarkedLoop  Code = "unmarked_loop"       // goes back, or to _remand, and is not marked as a loop
	WarnNoZone        Code = "node_without_zone"   // in a pipeline that has zones
	WarnTwoZones      Code = "node_in_two_zones"   // the later zone is not drawn
	WarnNeverFires    Code = "never_fires"         // an earlier edge always fires
	WarnDeadEnd       Code = "dead_end"            // the last node has no edge: every traversal that gets there fails
	WarnOnlyAnyEnds   Code = "only_any_ends"       // no node has an own edge to an end
	WarnRoundsIgnored Code = "rounds_ignored"      // rounds at a node that is neither a hearing nor one of judges
	WarnWithIgnored   Code = "with_ignored"        // parameters of an edge that always fires
	WarnUnusedPersona Code = "unused_persona"      // a persona that acts at no node
	WarnShortTTL      Code = "short_ttl"           // hardly any trial ends in time
	WarnFewHandoffs   Code = "few_handoffs"        // no path to an end has so few
	WarnPartialClerk  Code = "clerk_plays_persona" // the module that evaluates edges acts for a side
	WarnUnpinned      Code = "unpinned"            // a reference to a module without a digest
)

// Lint finds what a checked Definition allows but hardly means. The result is sorted by line and column, and empty for a clean pipeline.
func Lint(d *Definition) Errors {
	l := &linter{def: d, order: make(map[string]int, len(d.Nodes))}
	for i := range d.Nodes {
		l.order[d.Nodes[i].Name] = i
	}
	l.directions()
	l.zones()
	l.firing()
	l.ends()
	l.leftovers()
	l.limits()
	return l.warnings.Sorted()
}

type linter struct {
	def      *Definition
	order    map[string]int // of nodes in the file
	warnings Errors
}

func (l *linter) warn(path string, code Code, format string, args ...any) {
	at := l.def.Position(path)
	l.warnings = append(l.warnings, &Error{
		File: l.def.file, Line: at.Line, Column: at.Column, Path: path, Code: code, Message: fmt.Sprintf(format, args...),
	})
}

// directions compares what an edge says of itself with where it goes.
func (l *linter) directions() {
	for i := range l.def.Edges {
		e := &l.def.Edges[i]
		if e.FromAny() {
			continue // has no direction
		}
		path := strictyaml.IndexPath("edges", i)
		back := e.To == EndRemand || !IsEnd(e.To) && l.order[e.To] <= l.order[e.From]
		if e.Shortcut && back {
			l.warn(path+".shortcut", WarnShortcutBack, "a shortcut goes forward; %q does not come after %q", e.To, e.From)
		}
		if e.Loop && !back {
			l.warn(path+".loop", WarnLoopForward, "a loop goes back or to %s; %q comes after %q", EndRemand, e.To, e.From)
		}
		if back && !e.Loop {
			l.warn(path+".to", WarnUnmarkedLoop, "goes back; mark it with loop: true if that is meant")
		}
	}
}

func (l *linter) zones() {
	if len(l.def.Zones) == 0 {
		return
	}
	zoneOf := make(map[string]string)
	for i := range l.def.Zones {
		z := &l.def.Zones[i]
		for j, name := range z.Nodes {
			if first, ok := zoneOf[name]; ok {
				l.warn(strictyaml.IndexPath(strictyaml.KeyPath("zones", z.Name)+".nodes", j), WarnTwoZones,
					"%q is in the zone %q already", strictyaml.Clip(name), strictyaml.Clip(first))
				continue
			}
			zoneOf[name] = z.Name
		}
	}
	for i := range l.def.Nodes {
		if name := l.def.Nodes[i].Name; zoneOf[name] == "" {
			l.warn(strictyaml.IndexPath("nodes", i)+".name", WarnNoZone, "%q is in no zone", strictyaml.Clip(name))
		}
	}
}

// firing finds edges behind one that always fires.
func (l *linter) firing() {
	always := make(map[string]*Edge) // by source
	for i := range l.def.Edges {
		e := &l.def.Edges[i]
		path := strictyaml.IndexPath("edges", i)
		if first := always[e.From]; first != nil {
			l.warn(path, WarnNeverFires, "%q never fires: %q before it always does", strictyaml.Clip(e.ID), strictyaml.Clip(first.ID))
		} else if e.Unconditional() {
			always[e.From] = e
		}
		if e.Unconditional() && len(e.With) > 0 {
			l.warn(path+".with", WarnWithIgnored, "nobody reads the parameters of an edge that always fires")
		}
	}
	first := always[Any]
	if first == nil {
		return
	}
	for i := range l.def.Edges {
		if e := &l.def.Edges[i]; !e.FromAny() && !IsEnd(e.To) {
			l.warn(strictyaml.IndexPath("edges", i), WarnNeverFires, "%q never fires: %q counts before it and always does",
				strictyaml.Clip(e.ID), strictyaml.Clip(first.ID))
		}
	}
}

func (l *linter) ends() {
	last := len(l.def.Nodes) - 1
	ownEnd, lastEdge := false, false
	for i := range l.def.Edges {
		e := &l.def.Edges[i]
		ownEnd = ownEnd || !e.FromAny() && IsEnd(e.To)
		lastEdge = lastEdge || e.FromAny() || last >= 0 && e.From == l.def.Nodes[last].Name
	}
	if last >= 0 && !lastEdge {
		l.warn(strictyaml.IndexPath("nodes", last), WarnDeadEnd, "the last node has no edge: a traversal that gets here fails")
	}
	if !ownEnd && len(l.def.Edges) > 0 {
		l.warn("edges", WarnOnlyAnyEnds, "only edges from %s lead to an end", Any)
	}
}

// shortTTL is less than a trial with modules that are compiled takes on a busy machine.
const shortTTL = time.Second

// limits finds those that every trial exceeds.
func (l *linter) limits() {
	if c := &l.def.Court; c.TTL < shortTTL {
		l.warn("court.ttl", WarnShortTTL, "%s is shorter than a trial may take: expect mistrials", c.TTL)
	}
	if least := l.fewestHandoffs(); l.def.Court.MaxHandoffs < least {
		l.warn("court.max_handoffs", WarnFewHandoffs, "every trial ends in a mistrial: no path to an end has fewer than %d handoffs", least)
	}
}

// fewestHandoffs is how often the persona changes on the shortest path to an end, by the edges of nodes; 0 where there is none.
func (l *linter) fewestHandoffs() int {
	at := l.order[l.def.Start]
	handoffs, seen := map[int]int{at: 0}, []int{at}
	exits := exitsOf(l.def)
	for k := 0; k < len(seen); k++ { // nodes by their number of handoffs: a step has one or none, which goes first
		i := seen[k]
		own := exits[l.def.Nodes[i].Name]
		var next []int
		for _, to := range own.to {
			if IsEnd(to) {
				return handoffs[i]
			}
			if j, ok := l.order[to]; ok {
				next = append(next, j)
			}
		}
		if !own.always && i+1 < len(l.def.Nodes) {
			next = append(next, i+1)
		}
		for _, j := range next {
			if _, known := handoffs[j]; known {
				continue
			}
			n := handoffs[i]
			if slices.Equal(l.def.Nodes[i].Personas, l.def.Nodes[j].Personas) {
				handoffs[j] = n
				seen = slices.Insert(seen, k+1, j)
				continue
			}
			handoffs[j] = n + 1
			seen = append(seen, j)
		}
	}
	return 0
}

func (l *linter) leftovers() {
	used := make(map[string]bool)
	for i := range l.def.Nodes {
		n := &l.def.Nodes[i]
		if n.Rounds != 0 && n.Family != abi.FamilyHearing && n.Family != abi.FamilyJudge {
			l.warn(strictyaml.IndexPath("nodes", i)+".rounds", WarnRoundsIgnored, "only hearings and judges have rounds")
		}
		for _, id := range n.Personas {
			used[id] = true
		}
	}
	var sides []string
	for i := range l.def.Personas {
		p := &l.def.Personas[i]
		l.unpinned(strictyaml.KeyPath("personas", p.ID)+".module", p.Module)
		l.unpinned(strictyaml.KeyPath("personas", p.ID)+".fallback", p.Fallback)
		if !used[p.ID] {
			l.warn(strictyaml.KeyPath("personas", p.ID), WarnUnusedPersona, "%q acts at no node", strictyaml.Clip(p.ID))
		} else if sideOf(p.Role) != "" {
			sides = append(sides, p.Module)
		}
	}
	l.unpinned("clerk", l.def.Clerk)
	for i := range l.def.Edges {
		if e := &l.def.Edges[i]; e.Module != l.def.Clerk {
			l.unpinned(strictyaml.IndexPath("edges", i)+".module", e.Module)
		}
		if e := &l.def.Edges[i]; e.Module != l.def.Clerk && slices.Contains(sides, e.Module) {
			l.warn(strictyaml.IndexPath("edges", i)+".module", WarnPartialClerk, "%q acts for a side of the court", strictyaml.Clip(e.Module))
		}
	}
	if slices.Contains(sides, l.def.Clerk) {
		l.warn("clerk", WarnPartialClerk, "%q acts for a side of the court", strictyaml.Clip(l.def.Clerk))
	}
}

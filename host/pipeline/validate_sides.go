package pipeline

import (
	"slices"

	"github.com/shadowcourt/shadowcourt/internal/strictyaml"
)

// side is one of the three parties that must not share a persona, an alignment or a module.
type side string

const (
	sideProsecution side = "prosecution"
	sideDefense     side = "defense"
	sideBench       side = "bench"
)

func sideOf(r Role) side {
	switch r {
	case RoleProsecution:
		return sideProsecution
	case RoleDefense:
		return sideDefense
	case RoleBench, RoleJudge:
		return sideBench
	case RoleLight:
		return ""
	default:
		return ""
	}
}

// seated is a persona on a seat.
type seated struct {
	path    string // of the node's persona
	side    side
	persona *Persona
}

// sides checks who sits where, and that no two sides are the same in anything.
func (v *validator) sides() {
	var court []seated
	for i := range v.def.Nodes {
		court = append(court, v.seats(i)...)
	}
	v.keepApart(court)
}

// seats checks the personas of a node and gives those who act for a side.
func (v *validator) seats(i int) []seated {
	n := &v.def.Nodes[i]
	rule, ok := familyRule(n.Family)
	if !ok {
		return nil
	}
	path := personasPath(v.def, i)
	if rule.Seats != nil && len(n.Personas) != len(rule.Seats) {
		v.FailAt(path, CodePersonaCount, "%d personas; the family %s has %d", len(n.Personas), n.Family, len(rule.Seats))
	}
	if rule.Seats != nil && n.Parallel {
		v.FailAt(path, CodePersonaCount, "the family %s speaks in turns, not in parallel", n.Family)
	}
	var taken []seated
	for j, id := range n.Personas {
		at := path
		if _, ok := v.def.places[strictyaml.IndexPath(path, j)]; ok || len(n.Personas) > 1 {
			at = strictyaml.IndexPath(path, j)
		}
		p, ok := v.def.Persona(id)
		if !ok {
			v.unknownPersona(at, id)
			continue
		}
		if j >= len(rule.Seats) {
			continue
		}
		want := sideOf(rule.Seats[j])
		// A missing or unknown role is a fault of its own.
		if got := sideOf(p.Role); slices.Contains(Roles(), p.Role) && got != want {
			v.FailAt(at, CodeWrongRole, "%q has the role %s, but sits for the %s", strictyaml.Clip(id), p.Role, want)
		}
		taken = append(taken, seated{path: at, side: want, persona: p})
	}
	return taken
}

func (v *validator) unknownPersona(path, id string) {
	if id == "" {
		v.FailAt(path, CodeMissing, "is missing or empty")
		return
	}
	v.FailAt(path, CodeUnknownPersona, "no persona is called %q", strictyaml.Clip(id))
}

// keepApart compares every persona with the first holder of its identity, alignment and module on another side.
func (v *validator) keepApart(court []seated) {
	personas := make(map[string]seated)
	alignments := make(map[string]seated)
	modules := make(map[string]seated)
	for _, s := range court {
		id := s.persona.ID
		if first, ok := claim(personas, id, s); !ok {
			v.FailAt(s.path, CodeSamePersona, "%q already sits for the %s; the %s needs an identity of its own",
				strictyaml.Clip(id), first.side, s.side)
			continue
		}
		at := strictyaml.KeyPath("personas", id)
		if first, ok := claim(alignments, s.persona.Alignment, s); !ok && s.persona.Alignment != "" {
			v.once(at+".alignment", CodeSameAlignment, "equal alignments: %q is the alignment of %q (%s) too, this is the %s",
				strictyaml.Clip(s.persona.Alignment), strictyaml.Clip(first.persona.ID), first.side, s.side)
		}
		if first, ok := claim(modules, s.persona.Module, s); !ok {
			v.once(at+".module", CodeSameModule, "equal modules: %q plays %q (%s) too, this is the %s",
				strictyaml.Clip(s.persona.Module), strictyaml.Clip(first.persona.ID), first.side, s.side)
		}
		if fallback := s.persona.Fallback; fallback != "" {
			if first, ok := claim(modules, fallback, s); !ok {
				v.once(at+".fallback", CodeSameModule, "equal modules: %q plays %q (%s) too, this is the %s",
					strictyaml.Clip(fallback), strictyaml.Clip(first.persona.ID), first.side, s.side)
			}
		}
	}
}

// once leaves out a fault whose path and code were reported before: a persona may sit at several nodes.
func (v *validator) once(path string, code Code, format string, args ...any) {
	for _, e := range v.Faults {
		if e.Path == path && e.Code == code {
			return
		}
	}
	v.FailAt(path, code, format, args...)
}

// claim takes a thing for a side, or says who of another side has it.
func claim(owners map[string]seated, thing string, s seated) (first seated, ok bool) {
	first, taken := owners[thing]
	if !taken {
		owners[thing] = s
		return s, true
	}
	return first, first.side == s.side
}

// personasPath is where a node names its personas: persona or parallel.
func personasPath(d *Definition, node int) string {
	key := ".persona"
	if d.Nodes[node].Parallel {
		key = ".parallel"
	}
	return strictyaml.IndexPath("nodes", node) + key
}

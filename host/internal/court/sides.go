package court

import (
	"fmt"

	"github.com/shadowcourt/shadowcourt/host/pipeline"
)

// SidesError says that two sides of the court are not different enough.
type SidesError struct {
	First, Second string // personas
	What          string // alignments, modules or code
}

// Error names both personas and what they share.
func (e *SidesError) Error() string {
	return fmt.Sprintf("%s and %s are different sides of the court and must not share their %s", e.First, e.Second, e.What)
}

// CheckSides rejects modules with which prosecution, defense and bench would
// not be different identities with different alignments and different code.
// The judge sits on the bench's side. codeDigest gives a module's digest
// without its custom sections.
func CheckSides(def *pipeline.Definition, codeDigest func(module string) string) error {
	sides := courtPersonas(def)
	for i, a := range sides {
		for _, b := range sides[:i] {
			switch {
			case side(a) == side(b):
				continue
			case a.Alignment == b.Alignment:
				return &SidesError{b.ID, a.ID, "alignment"}
			}
			for _, own := range played(a) {
				for _, other := range played(b) {
					switch {
					case own == other:
						return &SidesError{b.ID, a.ID, "module"}
					case codeDigest(own) == codeDigest(other):
						return &SidesError{b.ID, a.ID, "code"}
					}
				}
			}
		}
	}
	return nil
}

// played are the modules that may play a persona.
func played(p *pipeline.Persona) []string {
	if p.Fallback == "" {
		return []string{p.Module}
	}
	return []string{p.Module, p.Fallback}
}

func side(p *pipeline.Persona) pipeline.Role {
	if p.Role == pipeline.RoleJudge {
		return pipeline.RoleBench
	}
	return p.Role
}

// courtPersonas are those who act at a node, in the order of the definition,
// but for Light's.
func courtPersonas(def *pipeline.Definition) []*pipeline.Persona {
	acts := make(map[string]bool)
	for i := range def.Nodes {
		for _, id := range def.Nodes[i].Personas {
			acts[id] = true
		}
	}
	var list []*pipeline.Persona
	for i := range def.Personas {
		if p := &def.Personas[i]; acts[p.ID] && p.Role != pipeline.RoleLight {
			list = append(list, p)
		}
	}
	return list
}

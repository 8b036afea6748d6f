package host

import (
	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/internal/registry"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
)

// RefusedError holds every fault of modules that were not installed.
type RefusedError = registry.RefusedError

// needs lists what the pipeline wants of each module, in the order of its personas.
func needs(def *pipeline.Definition) []registry.Need {
	n := &needList{}
	for i := range def.Nodes {
		node := &def.Nodes[i]
		for _, id := range node.Personas {
			if p, ok := def.Persona(id); ok {
				need := n.of(p.Module)
				need.Add(abi.CallNode, abi.Family(node.Family), "")
				for _, grant := range p.Grants {
					need.Granted = append(need.Granted, abi.Capability(grant))
				}
			}
		}
		if abi.Family(node.Family) == abi.FamilyDefend {
			n.contest(def)
		}
	}
	for i := range def.Edges {
		if e := &def.Edges[i]; !e.Unconditional() {
			n.of(e.Module).Add(abi.CallEdges, "", e.Evaluator)
		}
	}
	return n.list
}

type needList struct{ list []registry.Need }

func (n *needList) of(module string) *registry.Need {
	for i := range n.list {
		if n.list[i].Module == module {
			return &n.list[i]
		}
	}
	n.list = append(n.list, registry.Need{Module: module})
	return &n.list[len(n.list)-1]
}

// contest: at the defense everybody contests whose element challenges
// another, but for the judge; the defense contests what nobody else does.
func (n *needList) contest(def *pipeline.Definition) {
	for i := range def.Personas {
		p := &def.Personas[i]
		switch p.Role {
		case pipeline.RoleDefense:
			n.of(p.Module).Add(abi.CallContest, "", "")
		case pipeline.RoleProsecution, pipeline.RoleBench:
			if p.Contests != "" {
				n.of(p.Module).Add(abi.CallContest, "", "")
			}
		case pipeline.RoleJudge, pipeline.RoleLight:
		}
	}
}

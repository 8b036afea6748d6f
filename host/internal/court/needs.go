package court

import (
	"fmt"
	"strconv"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/audit"
	"github.com/shadowcourt/shadowcourt/host/internal/court/registry"
	"github.com/shadowcourt/shadowcourt/host/pipeline"
)

// Needs lists what pipelines need of each module, in the order of their personas.
func Needs(defs ...*pipeline.Definition) []registry.Need {
	n := &needList{}
	for _, def := range defs {
		n.pipeline(def)
	}
	return n.list
}

// AuditNeeds lists what an audit needs of each module: the pipeline of collectors, and the rubric of judges. A nil def
// leaves the collectors out.
func AuditNeeds(def *pipeline.Definition, rubric *audit.Rubric) []registry.Need {
	n := &needList{}
	if def != nil {
		n.pipeline(def)
	}
	n.rubric(rubric)
	return n.list
}

type needList struct{ list []registry.Need }

func (n *needList) pipeline(def *pipeline.Definition) {
	for i := range def.Nodes {
		node := &def.Nodes[i]
		for _, id := range node.Personas {
			if p, ok := def.Persona(id); ok {
				need := n.of(p.Module)
				need.Add(abi.CallNode, abi.Family(node.Family), "")
				if need.GrantedBy == "" {
					need.Persona, need.GrantedBy = p.ID, grantedBy(def, p)
				}
				for _, capability := range p.Grants {
					need.Grant(abi.Capability(capability))
				}
				if p.Fallback != "" {
					n.of(p.Fallback).Add(abi.CallNode, abi.Family(node.Family), "")
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
}

// rubric adds what a rubric needs of its judges, in its order.
func (n *needList) rubric(r *audit.Rubric) {
	scored := r.Scored()
	type call struct{ module, criterion string }
	known := make(map[call]bool)
	for i := range r.Judges {
		judge := &r.Judges[i]
		for _, c := range scored[judge.ID] {
			one := call{judge.Module, judge.As(c.ID)}
			if !known[one] {
				known[one] = true
				n.of(one.module).Judge(one.criterion)
			}
		}
	}
}

// grantedBy names the place of a persona's grants; the persona's own line where it has none.
func grantedBy(def *pipeline.Definition, p *pipeline.Persona) string {
	where := "the persona " + p.ID
	file := def.File()
	if file == "" {
		return where + " of the pipeline " + def.Pipeline
	}
	if at := def.Position("personas[" + strconv.Quote(p.ID) + "].grants"); at.Line > 0 {
		return fmt.Sprintf("%s, %s:%d:%d,", where, file, at.Line, at.Column)
	}
	return where + ", " + file + ","
}

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

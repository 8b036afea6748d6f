package registry

import (
	"slices"

	"github.com/shadowcourt/shadowcourt/abi"
)

// Need is what a pipeline wants of one module.
type Need struct {
	// Module is the module's name, without ".wasm".
	Module string
	// Calls, Families and Edges that it must serve.
	Calls    []abi.Call
	Families []abi.Family
	Edges    []string
	// Criteria that it must be able to judge.
	Criteria []string
	// Granted are the capabilities that it may ask for.
	Granted []abi.Capability
	// Persona is the id of one that the module plays, and GrantedBy says where
	// the pipeline would grant it a capability, for messages. Both are empty for a
	// module that plays none.
	Persona, GrantedBy string
}

// Add puts what another place of the pipeline needs of the same module.
func (n *Need) Add(call abi.Call, family abi.Family, edge string) {
	if !slices.Contains(n.Calls, call) {
		n.Calls = append(n.Calls, call)
	}
	if family != "" && !slices.Contains(n.Families, family) {
		n.Families = append(n.Families, family)
	}
	if edge != "" && !slices.Contains(n.Edges, edge) {
		n.Edges = append(n.Edges, edge)
	}
}

// Judge adds a criterion that the module has to score.
func (n *Need) Judge(criterion string) {
	n.Add(abi.CallJudge, "", "")
	if !slices.Contains(n.Criteria, criterion) {
		n.Criteria = append(n.Criteria, criterion)
	}
}

// Grant adds a capability.
func (n *Need) Grant(capability abi.Capability) {
	if !slices.Contains(n.Granted, capability) {
		n.Granted = append(n.Granted, capability)
	}
}

// granted are the capabilities that a module gets: those that it asks for and
// that the pipeline grants.
func (n *Need) granted(m *abi.Manifest) []abi.Capability {
	var list []abi.Capability
	for _, capability := range m.Capabilities {
		if slices.Contains(n.Granted, capability) {
			list = append(list, capability)
		}
	}
	return list
}

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
	// Granted are the capabilities that it may ask for.
	Granted []abi.Capability
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

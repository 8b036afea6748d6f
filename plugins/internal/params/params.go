// Package params reads the parameters that a pipeline hands to a node or an edge.
package params

import "github.com/shadowcourt/shadowcourt/abi"

// Number returns the number of that name, or fallback where the list has none.
func Number(list []abi.Param, name string, fallback float64) float64 {
	for i := range list {
		if list[i].Name == name && list[i].Number != nil {
			return *list[i].Number
		}
	}
	return fallback
}

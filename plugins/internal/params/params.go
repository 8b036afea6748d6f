// Package params reads the parameters that a pipeline hands to a node or an edge.
package params

import (
	"slices"
	"strconv"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/guest"
)

// Check rejects a parameter that is none of the known ones, or no number: a
// pipeline that misspells one must not silently run with the default. where
// names what has the parameters.
func Check(where string, list []abi.Param, known ...string) *abi.Failure {
	for i := range list {
		p := &list[i]
		if !slices.Contains(known, p.Name) {
			return guest.Fail(guest.BadParameter, where+" has no parameter "+strconv.Quote(p.Name))
		}
		if p.Number == nil {
			return guest.Fail(guest.BadParameter, "parameter "+p.Name+" of "+where+" is no number")
		}
	}
	return nil
}

// Number returns the number of that name, or fallback where the list has none.
func Number(list []abi.Param, name string, fallback float64) float64 {
	for i := range list {
		if list[i].Name == name && list[i].Number != nil {
			return *list[i].Number
		}
	}
	return fallback
}

// Text returns the text of that name, or fallback where the list has none.
func Text(list []abi.Param, name, fallback string) string {
	for i := range list {
		if list[i].Name == name && list[i].Text != nil {
			return *list[i].Text
		}
	}
	return fallback
}

package registry

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/shadowcourt/shadowcourt/abi"
)

// ManifestFaults lists the faults of a manifest in itself: names that occur twice, families, edges or criteria without the call
// that serves them, promised calls without any of those, and families that only the host plays. Loading a module and
// `plugin check` both reject them.
func ManifestFaults(m *abi.Manifest) []string {
	return append(servesFaults(m), listFaults(m)...)
}

// servesFaults compares what a manifest serves with the calls that it promises.
func servesFaults(m *abi.Manifest) (faults []string) {
	for _, s := range []struct {
		call  abi.Call
		field string
		n     int
	}{
		{abi.CallNode, "families", len(m.Families)},
		{abi.CallEdges, "edges", len(m.Edges)},
		{abi.CallJudge, "criteria", len(m.Criteria)},
	} {
		promised := slices.Contains(m.Calls, s.call)
		if promised && s.n == 0 {
			faults = append(faults, fmt.Sprintf("it promises %s calls, and its `%s` are empty: nothing would ever ask it", s.call, s.field))
		}
		if !promised && s.n > 0 {
			faults = append(faults, fmt.Sprintf("its `%s` are not empty, and it promises no %s calls", s.field, s.call))
		}
	}
	return faults
}

// listFaults looks for what a manifest names twice, and for what no module is asked.
func listFaults(m *abi.Manifest) (faults []string) {
	for _, list := range []struct {
		field string
		names []string
	}{
		{"calls", sorted(m.Calls)},
		{"families", sorted(m.Families)},
		{"edges", sorted(m.Edges)},
		{"criteria", sorted(m.Criteria)},
		{"capabilities", sorted(m.Capabilities)},
	} {
		for i := 1; i < len(list.names); i++ {
			if list.names[i] == list.names[i-1] {
				faults = append(faults, fmt.Sprintf("its `%s` name %s twice", list.field, strconv.Quote(list.names[i])))
			}
		}
	}
	for _, f := range m.Families {
		if slices.Contains(HostFamilies(), f) {
			faults = append(faults, fmt.Sprintf("its `families` name %s: nodes of this family are the host's own, and no module is asked; a judge of a court serves verdict", f))
		}
	}
	return faults
}

// HostFamilies are the families of nodes that the host plays itself.
func HostFamilies() []abi.Family { return []abi.Family{abi.FamilyJudge, abi.FamilySynthesize} }

func sorted[T ~string](list []T) []string {
	out := make([]string, len(list))
	for i, name := range list {
		out[i] = string(name)
	}
	slices.Sort(out)
	return out
}

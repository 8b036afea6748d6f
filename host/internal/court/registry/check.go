package registry

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/abi/codec"
	"github.com/shadowcourt/shadowcourt/host/internal/sandbox"
)

// readManifest decodes the manifest of a module and checks its version against ours.
func readManifest(name string, info *sandbox.Info) (*abi.Manifest, []Fault) {
	fault := func(code FaultCode, detail string) []Fault {
		return []Fault{{Module: name, Code: code, Detail: detail}}
	}
	if info.ManifestBytes == nil {
		return nil, fault(FaultNoManifest, "has no manifest; write one with `shadowcourt plugin annotate`")
	}
	m, err := codec.DecodeManifest(info.ManifestBytes, len(info.ManifestBytes))
	if err != nil {
		return nil, fault(FaultManifest, "manifest: "+err.Error())
	}
	if detail := CheckVersion(m.ABI); detail != "" {
		return nil, fault(FaultABIVersion, detail)
	}
	return &m, nil
}

// checkManifest reads the manifest of a module and checks it against what is needed.
func checkManifest(need *Need, info *sandbox.Info) (*abi.Manifest, []Fault) {
	m, faults := readManifest(need.Module, info)
	if m != nil {
		for _, detail := range ManifestFaults(m) {
			faults = append(faults, Fault{Module: need.Module, Code: FaultManifest, Detail: detail})
		}
		faults = append(faults, checkNeed(need, m, info)...)
	}
	return m, faults
}

// Check checks what modules say of themselves against what is needed of them;
// nothing is compiled. The error is a *RejectedError with every fault.
func Check(files map[string]sandbox.File, needs []Need) error {
	var faults []Fault
	for i := range needs {
		name := needs[i].Module
		file, ok := files[name]
		if !ok {
			faults = append(faults, missing(name))
			continue
		}
		info, err := file.Inspect()
		if err != nil {
			faults = append(faults, loadFaults(name, err)...)
			continue
		}
		_, bad := checkManifest(&needs[i], &info)
		faults = append(faults, bad...)
	}
	if len(faults) > 0 {
		return &RejectedError{Faults: faults}
	}
	return nil
}

// CheckVersion says what is wrong with the version that a manifest states, empty if nothing: our major version is accepted, up to our minor
// version.
func CheckVersion(version string) string {
	major, minor, ok := strings.Cut(version, ".")
	mj, err1 := strconv.ParseUint(major, 10, 16)
	mn, err2 := strconv.ParseUint(minor, 10, 16)
	switch {
	case !ok || err1 != nil || err2 != nil:
		return fmt.Sprintf("states the ABI version %q, which is not major.minor", version)
	case mj != abi.VersionMajor || mn > abi.VersionMinor:
		return fmt.Sprintf("is built for ABI %s, this host speaks %d.0 to %s", version, abi.VersionMajor, abi.Version)
	}
	return ""
}

// checkNeed checks a manifest and the exports against what the pipeline needs. Of calls that are not served it names no nodes and edges.
func checkNeed(need *Need, m *abi.Manifest, info *sandbox.Info) []Fault {
	var faults []Fault
	add := func(code FaultCode, subject, format string, args ...any) {
		faults = append(faults, Fault{Module: need.Module, Code: code, Subject: subject, Detail: fmt.Sprintf(format, args...)})
	}
	for _, call := range m.Calls {
		if !slices.Contains(info.Calls, call) {
			add(FaultCall, string(call), "its manifest promises %s calls and there is no export %s%s", call, abi.ExportPrefix, call)
		}
	}
	for _, call := range need.Calls {
		if !slices.Contains(m.Calls, call) {
			add(FaultCall, string(call), "does not serve %s calls; the %s needs them", call, requirer(call))
		}
	}
	lacks := func(call abi.Call) bool { return slices.Contains(need.Calls, call) && !slices.Contains(m.Calls, call) }
	for _, family := range need.Families {
		if !lacks(abi.CallNode) && !slices.Contains(m.Families, family) {
			add(FaultFamily, string(family), "does not serve nodes of the family %s", family)
		}
	}
	for _, edge := range need.Edges {
		if !lacks(abi.CallEdges) && !slices.Contains(m.Edges, edge) {
			add(FaultEdge, edge, "does not serve the evaluator %s", edge)
		}
	}
	for _, criterion := range need.Criteria {
		if !slices.Contains(m.Criteria, criterion) {
			add(FaultCriterion, criterion, "does not judge the criterion %s", criterion)
		}
	}
	for _, capability := range m.Capabilities {
		if !slices.Contains(need.Granted, capability) {
			add(FaultCapability, string(capability), "asks for the capability %s, which it is not granted%s", capability, need.wouldGrant(capability))
		}
	}
	for _, capability := range imported(info) {
		if !slices.Contains(m.Capabilities, capability) {
			add(FaultImport, string(capability), "imports %s.%s and its manifest does not ask for the capability", abi.CapabilityModule, capability)
		}
	}
	return faults
}

// requirer is the file that needs modules to serve a call.
func requirer(call abi.Call) string {
	if call == abi.CallJudge {
		return "rubric"
	}
	return "pipeline"
}

// wouldGrant says what would have to stand where in the pipeline, or on the command line.
func (n *Need) wouldGrant(capability abi.Capability) string {
	if n.GrantedBy == "" {
		return "; only personas are granted any"
	}
	var grants strings.Builder
	for _, granted := range n.Granted {
		grants.WriteString(string(granted) + ", ")
	}
	return fmt.Sprintf("; `grants: [%s%s]` at %s would grant it, or `--grant %s=%s`", grants.String(), capability, n.GrantedBy, n.Persona, capability)
}

// imported are the names in the import modules of capabilities that a module asks for.
func imported(info *sandbox.Info) []abi.Capability {
	var list []abi.Capability
	for _, imp := range info.Imports {
		capability := abi.Capability(imp.Name)
		if (imp.Module == abi.CapabilityModule || imp.Module == abi.ExtismUser) && !slices.Contains(list, capability) {
			list = append(list, capability)
		}
	}
	return list
}

// checkLimits rejects a module that asks for more than every module gets.
func checkLimits(name string, m *abi.Manifest, limits sandbox.Limits) []Fault {
	if m.Limits == nil {
		return nil
	}
	var faults []Fault
	ask := func(what string, asked int, limit int64) {
		if int64(asked) > limit {
			faults = append(faults, Fault{Module: name, Code: FaultLimits, Detail: fmt.Sprintf("asks for %d of %s, the host gives %d", asked, what, limit)})
		}
	}
	ask("memory_bytes", m.Limits.MemoryBytes, limits.MemoryBytes)
	ask("output_bytes", m.Limits.OutputBytes, limits.OutputBytes)
	ask("wall_clock", m.Limits.WallClock, int64(limits.WallClock))
	return faults
}

// OverLimits says what a manifest asks for beyond the limits.
func OverLimits(m *abi.Manifest, limits sandbox.Limits) []string {
	var details []string
	for _, f := range checkLimits("", m, limits) {
		details = append(details, f.Detail)
	}
	return details
}

// ManifestFaults lists the faults of a manifest in itself: names that occur twice, families, edges or criteria without the call that serves
// them, promised calls without any of those, and families that only the host plays. Loading a module and `plugin check` both reject them.
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
	// Persona is the id of one that the module plays, and GrantedBy says where the pipeline would grant it a capability, for messages. Both
	// are empty for a module that plays none.
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

// granted are the capabilities that a module gets: those that it asks for and that the pipeline grants.
func (n *Need) granted(m *abi.Manifest) []abi.Capability {
	var list []abi.Capability
	for _, capability := range m.Capabilities {
		if slices.Contains(n.Granted, capability) {
			list = append(list, capability)
		}
	}
	return list
}

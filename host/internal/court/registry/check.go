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

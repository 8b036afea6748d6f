package pipeline

// Element is one of the elements of the destructive cycle.
type Element string

// The elements.
const (
	Fire      Element = "fire"
	Earth     Element = "earth"
	Water     Element = "water"
	Air       Element = "air"
	Diamond   Element = "diamond"
	Lightning Element = "lightning"
)

// Elements returns the known elements.
func Elements() []Element { return []Element{Fire, Earth, Water, Air, Diamond, Lightning} }

// Mask is a view that the host cuts for a persona.
type Mask string

// The masks.
const (
	MaskIndictment  Mask = "indictment"
	MaskDiscovery   Mask = "discovery"
	MaskRecall      Mask = "recall"
	MaskForge       Mask = "forge"
	MaskCorrelation Mask = "correlation"
	MaskJudgment    Mask = "judgment"
)

// Masks returns the known masks.
func Masks() []Mask {
	return []Mask{MaskIndictment, MaskDiscovery, MaskRecall, MaskForge, MaskCorrelation, MaskJudgment}
}

// Capability is a host function that a module may be granted.
type Capability string

// The capabilities.
const (
	CapabilityLog        Capability = "log"
	CapabilityRecall     Capability = "recall"
	CapabilityCorrelate  Capability = "correlate"
	CapabilitySource     Capability = "source"
	CapabilityExperiment Capability = "experiment"
	CapabilityComplete   Capability = "complete"
)

// Capabilities returns the known capabilities.
func Capabilities() []Capability {
	return []Capability{CapabilityLog, CapabilityRecall, CapabilityCorrelate, CapabilitySource, CapabilityExperiment, CapabilityComplete}
}

// Role says for whom a persona acts.
type Role string

// The roles. Bench and judge are one side of the court: the bench presides the hearing, the judge gives the verdict.
const (
	RoleProsecution Role = "prosecution"
	RoleDefense     Role = "defense"
	RoleBench       Role = "bench"
	RoleJudge       Role = "judge"
	RoleLight       Role = "light"
)

// Roles returns the known roles.
func Roles() []Role { return []Role{RoleProsecution, RoleDefense, RoleBench, RoleJudge, RoleLight} }

// Names with a meaning of their own in edges.
const (
	// Any as the source of an edge stands for every node.
	Any = "_any"
	// EndDone, EndRemand, EndGapBrief and EndMistrial are where a traversal ends.
	EndDone     = "_done"
	EndRemand   = "_remand"
	EndGapBrief = "_gap_brief"
	EndMistrial = "_mistrial"
	// Always is the evaluator of an edge that always fires; no module is asked.
	Always = "always"
)

// Ends returns the known ends.
func Ends() []string { return []string{EndDone, EndRemand, EndGapBrief, EndMistrial} }

// IsEnd reports whether a name is one of the ends.
func IsEnd(name string) bool {
	switch name {
	case EndDone, EndRemand, EndGapBrief, EndMistrial:
		return true
	default:
		return false
	}
}

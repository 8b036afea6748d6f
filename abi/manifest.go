package abi

// Manifest stands in the module's custom section `shadowcourt.manifest`, as canonical msgpack, and can be read without running the module.
type Manifest struct {
	Name string `abi:"name,nonempty"`
	// Version of the module, as its author counts.
	Version string `abi:"version,nonempty"`
	// ABI is "major.minor" of the contract that the module was built for.
	ABI string `abi:"abi,nonempty"`
	// Calls that the module serves; each needs its export.
	Calls []Call `abi:"calls,nonempty,max=16"`
	// Families of the nodes that it can play.
	Families []Family `abi:"families,max=64"`
	// Edges names the evaluators that it serves.
	Edges []string `abi:"edges,max=1000"`
	// Criteria names those that it can judge.
	Criteria []string `abi:"criteria,max=1000"`
	// Capabilities that it asks for.
	Capabilities []Capability `abi:"capabilities,max=64"`
	// Limits that it asks for beyond the defaults.
	Limits  *LimitRequest `abi:"limits"`
	Source  string        `abi:"source,opt"`
	Licence string        `abi:"licence,opt"`
}

// LimitRequest asks for other limits than the defaults; the host may reject. A field of 0 asks for the default.
type LimitRequest struct {
	MemoryBytes int `abi:"memory_bytes,min=0"`
	OutputBytes int `abi:"output_bytes,min=0"`
	// WallClock of one call, in nanoseconds.
	WallClock int `abi:"wall_clock,min=0"`
	Fuel      int `abi:"fuel,min=0"`
}

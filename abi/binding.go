package abi

// The version of this contract. Between minor versions there are additions
// only: the host encodes for the minor version that a module's manifest states.
const (
	VersionMajor = 1
	VersionMinor = 0
	Version      = "1.0"
)

// ManifestSection is the name of the custom section that holds the Manifest.
const ManifestSection = "shadowcourt.manifest"

// The exports of the direct binding. A call function takes (pointer, length) of the request and gives pointer<<32 | length of the response.
const (
	ExportMemory     = "memory"
	ExportAlloc      = "shadowcourt_alloc"
	ExportPrefix     = "shadowcourt_"
	ExportNode       = ExportPrefix + string(CallNode)
	ExportContest    = ExportPrefix + string(CallContest)
	ExportEdges      = ExportPrefix + string(CallEdges)
	ExportJudge      = ExportPrefix + string(CallJudge)
	ExportPrepare    = ExportPrefix + "prepare"
	ExportInitialize = "_initialize"
)

// CapabilityModule is the import module of granted host functions.
const CapabilityModule = "shadowcourt"

// The import modules of the Extism binding. A module that imports from one of them is bound through Extism: its call functions take nothing
// and give 0. Capabilities are functions of ExtismUser there.
const (
	ExtismEnv  = "extism:host/env"
	ExtismUser = "extism:host/user"
)

package abi

// The default limits. SPEC.md lists them.
const (
	// DefaultMemoryBytes is the most linear memory of an instance.
	DefaultMemoryBytes = 64 << 20
	// DefaultWallClockNanos is the most time of one call, the backstop behind fuel: so long that fuel ends first
	// what spins, on a busy machine too.
	DefaultWallClockNanos = 120 * 1_000_000_000
	// DefaultFuel is what one call may spend, in units of about one simple machine instruction.
	DefaultFuel = 10_000_000_000
	// DefaultStartFuel is what all that runs while a module is loaded may spend together: its start section, _initialize
	// and the calls that warm it up.
	DefaultStartFuel = 1_000_000_000
	// DefaultOutputBytes is the most that one call may return.
	DefaultOutputBytes = 1 << 20
	// DefaultInputBytes is the most that one request may hold.
	DefaultInputBytes = 32 << 20
	// DefaultDocumentBytes is the most of one document; longer ones are cut head and tail.
	DefaultDocumentBytes = 1 << 20
	// DefaultCaseDocumentBytes is the most of all documents of a case together.
	DefaultCaseDocumentBytes = 4 << 20
	// DefaultModuleBytes is the largest module file.
	DefaultModuleBytes = 64 << 20
	// DefaultTableEntries is the most entries that the tables of a module may declare or grow to together.
	DefaultTableEntries = 100_000
	// DefaultCompileNanos is the most time that loading a module spends on compiling it, ten minutes. DefaultCompileSteps ends costly
	// modules long before; this is for a machine that has no time.
	DefaultCompileNanos = 10 * 60 * 1_000_000_000
	// DefaultCompileSteps is the most that compiling a module may take, as estimated from its structure. A step is about a
	// nanosecond of one core.
	DefaultCompileSteps = 40_000_000_000
	// DefaultCompileBytes is the most memory that compiling a module may need, as estimated from its structure.
	DefaultCompileBytes = 384 << 20

	// MaxDepth is the deepest nesting of maps and lists in a message.
	MaxDepth = 32
	// MaxEvidence is the most elements of a list that follows the evidence of a case: the items of an indictment, the challenges of a brief.
	MaxEvidence = 4096
	// MaxProblems is how many problems of one message are listed; the rest is counted.
	MaxProblems = 100
)

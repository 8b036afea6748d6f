package sandbox

import (
	"fmt"
	"time"

	"github.com/shadowcourt/shadowcourt/abi"
	"github.com/shadowcourt/shadowcourt/host/internal/sandbox/instrument"
)

// Limits bound what a module may use. A zero field means its default.
//
// The stack of a call is bounded, too: beyond 4 MiB (on machines other than Linux between 50 and 100 MB) the call ends with the trap
// stack_overflow. That cannot be configured, and comes on top of MemoryBytes.
type Limits struct {
	// MemoryBytes is the most memory of an instance, a multiple of 64 KiB below 4 GiB; the default is 64 MiB. Linear memory counts, and
	// what an Extism guest has in blocks and variables. A module that declares more is not loaded; memory.grow beyond it gives -1.
	MemoryBytes int64
	// WallClock is the most time of one call, instantiation included; the default is abi.DefaultWallClockNanos, 120 seconds. It is the
	// backstop behind fuel.
	WallClock time.Duration
	// OutputBytes is the most that a call may return; the default is 1 MiB.
	OutputBytes int64
	// InputBytes is the most that a request may hold; the default is 32 MiB.
	InputBytes int64
	// ModuleBytes is the largest file that is loaded; the default is 64 MiB.
	ModuleBytes int64
	// TableEntries is the most entries that the tables of an instance may declare
	// and grow to together; the default is 100,000. An entry takes 8 bytes of the host's memory, beside MemoryBytes.
	TableEntries uint32
	// CompileTime is the most time that loading spends on compiling; the default
	// is ten minutes. It is the backstop behind CompileSteps, for slow machines.
	CompileTime time.Duration
	// CompileSteps and CompileBytes are the most that compiling may cost, by an estimate that is made from the module's structure before it
	// is compiled: a file of a few kilobytes can keep the compiler for hours. A step is about a nanosecond of one core. The defaults are
	// 40,000 million and 384 MiB.
	CompileSteps, CompileBytes int64
	// Fuel is what a call may spend, in the units of package instrument; the default is abi.DefaultFuel, 10 billion, which is 2 to 20
	// seconds of most code.
	Fuel uint64
	// StartFuel is what all that runs while a module is loaded may spend together: its start section, _initialize and the calls that warm
	// it up. The default is abi.DefaultStartFuel, 1 billion; it is never more than Fuel. A module that has to be made from nothing for each
	// call has as much again each time.
	StartFuel uint64
}

const (
	pageBytes      = 64 << 10
	maxMemoryBytes = 1<<32 - pageBytes
	maxFuel        = 1 << 60
)

func (l Limits) withDefaults() Limits {
	setDefault(&l.MemoryBytes, abi.DefaultMemoryBytes)
	setDefault(&l.WallClock, abi.DefaultWallClockNanos*time.Nanosecond)
	setDefault(&l.OutputBytes, abi.DefaultOutputBytes)
	setDefault(&l.InputBytes, abi.DefaultInputBytes)
	setDefault(&l.ModuleBytes, abi.DefaultModuleBytes)
	setDefault(&l.TableEntries, abi.DefaultTableEntries)
	setDefault(&l.CompileTime, abi.DefaultCompileNanos*time.Nanosecond)
	setDefault(&l.CompileSteps, abi.DefaultCompileSteps)
	setDefault(&l.CompileBytes, abi.DefaultCompileBytes)
	setDefault(&l.Fuel, abi.DefaultFuel)
	setDefault(&l.StartFuel, abi.DefaultStartFuel)
	l.StartFuel = min(l.StartFuel, l.Fuel)
	return l
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

func (l Limits) validate() error {
	switch {
	case l.MemoryBytes < 0 || l.MemoryBytes > maxMemoryBytes || l.MemoryBytes%pageBytes != 0:
		return fmt.Errorf("sandbox: a memory limit of %d bytes is not a multiple of 64 KiB below 4 GiB", l.MemoryBytes)
	case l.WallClock < 0, l.CompileTime < 0:
		return fmt.Errorf("sandbox: a limit is negative: wall clock %s, compile time %s", l.WallClock, l.CompileTime)
	case l.OutputBytes < 0, l.InputBytes < 0, l.ModuleBytes < 0:
		return fmt.Errorf("sandbox: a limit is negative: output %d, input %d, module %d bytes", l.OutputBytes, l.InputBytes, l.ModuleBytes)
	case l.CompileSteps < 0, l.CompileBytes < 0:
		return fmt.Errorf("sandbox: a limit is negative: compiling %d steps, %d bytes", l.CompileSteps, l.CompileBytes)
	case l.Fuel > maxFuel, l.StartFuel > maxFuel:
		return fmt.Errorf("sandbox: a fuel limit is more than %d: %d for a call, %d for the start", uint64(maxFuel), l.Fuel, l.StartFuel)
	}
	return nil
}

// The price list of host functions, so that it is fuel, and not the clock, that ends a guest which spends its time in them. A unit is a
// nanosecond or less of what the host needs for it, measured by `make attacks`; docs/limits.md has the figures.
const (
	systemCallFuel   = 256 // a function of preview1
	randomByteFuel   = 2   // a byte of random_get
	vectorFuel       = 32  // a vector of fd_write
	subscriptionFuel = 64  // a subscription of poll_oneoff

	kernelCallFuel = 128 // a function of Extism's environment
	kernelByteFuel = 1   // a byte of a block or a variable, made of zeros or of another's bytes

	queryFuel   = 100_000 // a question through a capability; a search takes the host some milliseconds at most
	logLineFuel = 1_000   // a line of the log
	queryByte   = 8       // a byte of a request or of an answer
)

// Instrumentation is the version of the rewriting that meters fuel: with another one the same call may cost otherwise.
const Instrumentation = instrument.Version

package sandbox

import "github.com/shadowcourt/shadowcourt/host/internal/sandbox/instrument"

// Instrumentation is the version of the rewriting that meters fuel: with
// another one the same call may cost otherwise.
const Instrumentation = instrument.Version

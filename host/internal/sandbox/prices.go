package sandbox

// The price list of host functions, so that it is fuel, and not the clock, that
// ends a guest which spends its time in them. A unit is a nanosecond or less of what the
// host needs for it, measured by `make attacks`; docs/limits.md has the figures.
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

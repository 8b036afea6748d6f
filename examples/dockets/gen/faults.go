package main

// The causes, in ReportPortal's terms.
const (
	productBug    = "pb001"
	automationBug = "ab001"
	systemIssue   = "si001"
	noDefect      = "nd001"
)

// The names through which the generator speaks with itself as the launcher of test binaries (go test -exec).
const (
	launchArg = "-launch"
	faultEnv  = "GEN_FAULT"
	noteEnv   = "GEN_CANNOT" // the file in which the launcher says what it can't do
	gorootEnv = "GEN_GOROOT"
	tempEnv   = "TMPDIR"
)

// environmentFaults are what can be wrong with a machine, by the name the launcher knows them by. The module and the
// command line stay as they are.
func environmentFaults() []string {
	return []string{
		"no network",
		"port taken",
		"read-only file system",
		"unprivileged user",
		"disk full",
		"few open files",
		"file size limit",
		"binaries missing",
		"wrong time zone",
		"no time zones",
		"wrong locale",
		"no home",
		"memory limit",
		"no hosts file",
		"temporary folder missing",
		"no users file",
	}
}

// starved is the fault in which a test binary gets a small share of the processor in bursts.
const starved = "starved"

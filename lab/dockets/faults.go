package main

// The causes, in ReportPortal's terms.
const (
	productBug    = "pb001"
	automationBug = "ab001"
	systemIssue   = "si001"
	noDefect      = "nd001"
)

func causes() []string { return []string{systemIssue, productBug, automationBug, noDefect} }

// The names through which the generator speaks with itself as the launcher of test binaries.
const (
	launchArg = "-launch"
	probeArg  = "-probe"
	noteEnv   = "GEN_CANNOT" // the file in which the launcher says what it can't do
	gorootEnv = "GEN_GOROOT"
	tempEnv   = "TMPDIR"
)

// environmentFaults are what can be wrong with a machine, as the launcher knows them: a kind, and how bad it is where
// that can differ. The module and the command line stay as they are.
func environmentFaults() []string {
	return []string{
		"no network", "loopback down for IPv6", "port taken", "no hosts file", "no users file",
		"read-only temporary folder", "read-only source", "unprivileged user", "temporary folder missing",
		"no execution in temporary folder", "foreign file mask:077", "foreign file mask:0777",
		"disk full:0", "disk full:8", "disk full:64", "source disk full",
		"file size limit:0", "file size limit:100", "file size limit:5000",
		"few open files:5", "few open files:7", "few open files:9", "few open files:12",
		"few processes", "memory limit:16",
		"binaries missing", "wrong time zone:Asia/Kathmandu", "wrong time zone:America/St_Johns", "no time zones",
		"wrong locale:tr_TR.UTF-8", "wrong locale:ja_JP.SJIS", "no home", "no proc", "no devices",
	}
}

// starved is the fault in which a test binary gets a small share of the processor in bursts.
const starved = "starved"

// Package launch runs programs in environments that are broken in known ways.
package launch

// Arg is the first argument of a program that is to be a launcher, before a fault and the program that it launches; see [Run].
const Arg = "-launch"

// The variables through which a launcher is told what it needs to know. The program does not see them.
const (
	NoteEnv   = "GEN_CANNOT" // the file in which the launcher says what it can't do
	GorootEnv = "GEN_GOROOT"
	NestedEnv = "GEN_NESTED" // set where the launcher has started itself again, in namespaces of its own
	TempEnv   = "TMPDIR"
)

// Faults are what can be wrong with a machine, as the launcher knows them: a kind, and how bad it is where that can differ. The module
// and the command line stay as they are.
func Faults() []string {
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

// Starved is the fault in which a program gets a small share of the processor in bursts.
const Starved = "starved"

// Lasting are the faults that [Break] makes.
func Lasting() []string {
	return []string{
		"wrong time zone:Asia/Kathmandu", "wrong time zone:America/St_Johns", "wrong locale:tr_TR.UTF-8",
		"binaries missing", "no shell", "no git", "few open files:24", "foreign file mask:0777", "no hosts file", "no users file", "no time zones",
		"variable left over:GODEBUG=fips140=only", "variable left over:GODEBUG=http2client=0,http2server=0", "variable left over:GOMAXPROCS=1",
		"variable left over:GODEBUG=multipartmaxheaders=1,multipartmaxparts=1", "variable left over:GODEBUG=panicnil=1,asynctimerchan=1,httpmuxgo121=1",
	}
}

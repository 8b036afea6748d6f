// Package isolate runs a program that is not trusted to clean up after itself, such as a project's own tests: within limits of
// time, memory, processes, disk and output, without inherited descriptors, and so that nothing of it goes on running afterwards.
//
// On Linux with user namespaces the program also has no network but loopback, can write to one folder only, and sees nothing of the
// user's files but what is shown to it. Without them it has the user's rights, but for the files that Landlock hides, and on macOS
// only its processes are contained.
//
// The package runs the current program again as the supervisor of the isolated one. Its init function handles that: a program
// that imports the package needs no code for it. When the program is killed, the supervisor kills everything it started.
package isolate

import (
	"context"
	"errors"
	"path/filepath"
	"strconv"
	"time"
)

// ErrUnsupported is returned on systems where nothing can be isolated, such as Windows.
var ErrUnsupported = errors.New("programs cannot be isolated on this system")

// Level says how a program was isolated.
type Level string

// The levels, strongest first.
const (
	// Namespaces: no network but loopback, nothing writable but the scratch folder, nothing of the user's visible but what is shown, no
	// process outlives the supervisor.
	Namespaces Level = "namespaces"
	// Reaper: the user's rights, but for files that Landlock hides; every process is found and killed, daemons included, though a fork bomb that root runs slows down
	// the machine for a while. Linux without user namespaces.
	Reaper Level = "reaper"
	// Native: as Reaper, with all that the user has and no limits of resources; views and overlays as with Namespaces. See [Command].
	Native Level = "native"
	// Group: the user's rights; the process group is killed. A daemon with a session of its own survives. Other Unix systems.
	Group Level = "process group"
)

// Limits of one run. Zero means the default.
type Limits struct {
	Time      time.Duration `json:"time"`      // wall clock; default one minute
	Memory    int64         `json:"memory"`    // bytes resident in all processes together; default 2 GiB
	Disk      int64         `json:"disk"`      // bytes in the scratch folder; default 1 GiB
	Output    int64         `json:"output"`    // bytes of standard output and standard error together; default 16 MiB
	Processes int           `json:"processes"` // at the same time; default 256
}

// The defaults of Limits.
const (
	DefaultTime      = time.Minute
	DefaultMemory    = 2 << 30
	DefaultDisk      = 1 << 30
	DefaultOutput    = 16 << 20
	DefaultProcesses = 256
)

func (l Limits) orDefaults() Limits {
	set(&l.Time, DefaultTime)
	set(&l.Memory, DefaultMemory)
	set(&l.Disk, DefaultDisk)
	set(&l.Output, DefaultOutput)
	set(&l.Processes, DefaultProcesses)
	return l
}

func set[T int | int64 | time.Duration](limit *T, value T) {
	if *limit <= 0 {
		*limit = value
	}
}

// Command is a program to run.
type Command struct {
	// Args are the program's path, absolute or found in the PATH of Env, and its arguments.
	Args []string `json:"args"`
	// Dir is the folder to run in; with Namespaces it can be written to only within Scratch.
	Dir string `json:"dir"`
	// Env is the whole environment, as NAME=VALUE. HOME and TMPDIR are set to the folders home and tmp in Scratch, but for a HOME of a
	// command that has its Home, and with Namespaces /tmp is the latter, too.
	Env []string `json:"env"`
	// Scratch is the folder that the program may write to. It must exist, and gets the folders home and tmp.
	Scratch string `json:"scratch"`
	// Overlays are folders, such as caches, that the program may seem to write to: what it writes lands in Scratch. Where the system
	// can't do that they are read-only with Namespaces, and writable otherwise.
	Overlays []string `json:"overlays"`
	// Views are seen in the place of other folders. Only where [CanView].
	Views []View `json:"views"`
	// Show are folders and files that the program reads beside those of the system and of its PATH, such as its toolchain and what is
	// installed for it. It sees nothing else outside of Scratch, Overlays and Views: no home, no other disk, nothing of /run and /var.
	// A home itself, and a folder around one, is not shown. Hide are further folders that it does not see. See [HidesFiles].
	Show []string `json:"show"`
	Hide []string `json:"hide"`
	// Home leaves everything visible that the user can read, and the HOME of Env as it is.
	Home bool `json:"home"`
	// Original has HOME and TMPDIR set only where Env has them. Where TMPDIR names a folder, the program sees one of its own there with Namespaces, which it
	// may write to if the user may; what is no folder stays so.
	Original bool `json:"original"`
	// Native leaves the program what the user has: Env as it is, files, folders for temporary files, the network. It has no terminal and no standard input,
	// its time ends and so do its processes, and where the system can do that, overlays and views are as without it.
	Native bool `json:"native"`
	// Network leaves the program on the network.
	Network bool `json:"network"`
	// Trace has the result tell what the program asked the system for, where the kernel can tell that, see [Result]. It takes longer then.
	Trace bool `json:"trace"`
	// Starve runs the program on one processor together with busy loops, which shows many flaky tests.
	Starve bool   `json:"starve"`
	Limits Limits `json:"limits"`
}

// View is a folder that a program sees in the place of another one, so that what it knows by its path, such as an installation of
// a package under development, leads there.
type View struct {
	At   string `json:"at"`
	From string `json:"from"`
	// Keep are slash-separated paths below At that the program still sees as they are.
	Keep []string `json:"keep"`
	// Write has what is written to the view land in From, which lies in Scratch. Otherwise it lands in the folder of [Written], where
	// the system can do that, and the view is read-only where it can't and From is not in Scratch.
	Write bool `json:"write"`
}

// HidesFiles says whether the system can hide files from a program: Linux with user namespaces, or with Landlock.
func HidesFiles() bool { return hides() }

// CanView says whether the system can show folders in the place of others.
func CanView() bool { return canView() }

// Written is the folder with what a program has written to a view, by the view's index.
func Written(scratch string, view int) string {
	return filepath.Join(viewFolder(scratch, view), "upper")
}

func viewFolder(scratch string, view int) string {
	return filepath.Join(scratch, "view", strconv.Itoa(view))
}

// Ending says what ended a program.
type Ending string

// What ends a program.
const (
	Exited        Ending = "exit"   // by itself: ExitCode is its code
	Signaled      Ending = "signal" // by a signal of its own making: ExitCode is 128 plus the signal
	OverTime      Ending = "time"
	OverMemory    Ending = "memory"
	OverDisk      Ending = "disk"
	OverProcesses Ending = "processes"
	OverOutput    Ending = "output"
)

// Result is what came of a program.
type Result struct {
	Ending   Ending
	ExitCode int           // -1 unless it exited or was signaled
	Output   []byte        // standard output and standard error together, in the order of arrival
	Wall     time.Duration // from start to end
	CPU      time.Duration // of all its processes that were waited for
	Level    Level
	// Unreached: without the network, something tried to connect to what is not there. It is known with Namespaces only.
	Unreached bool
	// Asked are the files, programs and sockets that a traced program asked for, by their absolute paths, but for those of the system. Nil where it was not
	// traced: it is known with Namespaces only, and in no other filter that tells.
	Asked map[string]Look
}

// Look is what a traced program saw of a file when it first asked for it.
type Look int8

// What it may see.
const (
	Missing Look = iota // nothing
	Made                // nothing, and made it afterwards
	Read                // what it opened or ran
	Listed              // a folder, which it opened
	Opened              // nothing, and made it to read it, too
	Moved               // what it wanted to move there from another mount
	Sized               // not the size that it wanted; the path is how many bytes a file may have
	Sealed              // not what it wanted to write there, since it is read-only
	Claimed             // a right that no program has; the path is its name
)

// Run runs a program to its end. Whatever the result, no process of it is left, but for the exception of [Group]. The error is
// that of the context, or says that the program could not be started. Safe for concurrent use.
func Run(ctx context.Context, c Command) (*Result, error) {
	c.Limits = c.Limits.orDefaults()
	return run(ctx, &c)
}

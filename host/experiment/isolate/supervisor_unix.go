//go:build linux || darwin

package isolate

import (
	"bufio"
	"encoding/json"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// supervisorName is the only argument of a supervisor, by which the init function knows that the program is one.
const supervisorName = "shadowcourt-isolate"

// The supervisor's descriptors besides the standard ones. The order stays open as long as the program that gave it lives.
const (
	orderFile  = 3
	reportFile = 4
)

// order is what the supervisor is told.
type order struct {
	Command Command `json:"command"`
	Level   Level   `json:"level"`
	Privacy privacy `json:"privacy"`
	Probe   bool    `json:"probe"` // run no program, only get ready to
}

// report is what the supervisor tells in the end.
type report struct {
	Ending   Ending        `json:"ending"`
	ExitCode int           `json:"exit_code"`
	CPU      time.Duration `json:"cpu"`
	Error    string        `json:"error"` // the program could not be started
	// These are as in a Result.
	Unreached bool            `json:"unreached"`
	Asked     map[string]Look `json:"asked"`
}

func init() {
	if len(os.Args) == 1 && os.Args[0] == supervisorName {
		os.Exit(supervise())
	}
}

// supervise runs one program. Its exit code is 0 when it could report.
func supervise() int {
	runtime.LockOSThread() // capabilities are a thread's, and the program is started from this one
	if dropDescriptors() != nil {
		return 2
	}
	orders, reports := bufio.NewReader(os.NewFile(orderFile, "order")), os.NewFile(reportFile, "report")
	line, err := orders.ReadBytes('\n')
	if err != nil {
		return 2
	}
	var o order
	if err := json.Unmarshal(line, &o); err != nil {
		return 2
	}
	go func() { // until whoever gave the order ends, or wants this to end
		_, _ = io.Copy(io.Discard, orders)
		killAll(o.Level)
		os.Exit(1)
	}()
	if err := json.NewEncoder(reports).Encode(execute(&o)); err != nil {
		return 1
	}
	return 0
}

// dropDescriptors leaves the program no open files but the standard ones. Whoever started this program may have passed others on, such as that of
// a locked file, and what is open is reached from any namespace.
func dropDescriptors() error {
	folder, err := os.ReadDir("/dev/fd")
	if err != nil {
		return err
	}
	for _, entry := range folder {
		if fd, err := strconv.Atoi(entry.Name()); err == nil && fd > 2 {
			syscall.CloseOnExec(fd)
		}
	}
	return nil
}

// execute runs the program, and kills what is left of it.
func execute(o *order) report {
	if err := confine(o); err != nil {
		return report{Error: err.Error()}
	}
	if o.Probe {
		return report{Ending: Exited}
	}
	env := o.Command.Env
	if !o.Command.Native {
		env = ownFolders(o)
	}
	path, err := lookPath(o.Command.Args[0], env)
	if err != nil {
		return report{Error: err.Error()}
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		return report{Error: err.Error()}
	}
	started, asked := trace(o)
	pid, err := syscall.ForkExec(path, o.Command.Args, &syscall.ProcAttr{ //nolint:gosec // running a program is what this is for
		Dir: o.Command.Dir, Env: env, Files: []uintptr{null.Fd(), 1, 2}, Sys: &syscall.SysProcAttr{Setpgid: true},
	})
	started()
	if err != nil {
		return report{Error: err.Error()}
	}
	group.Store(int64(pid))
	over := watch(o)
	r := wait(pid)
	ending := over()
	killAll(o.Level)
	r.Asked = asked()
	r.Unreached = o.Level == Namespaces && !o.Command.Network && unreached()
	if ending != "" {
		r.Ending, r.ExitCode = ending, -1
	}
	return r
}

// ownFolders are the variables of a program with a home and a folder for temporary files of its own.
func ownFolders(o *order) []string {
	c := &o.Command
	isHome := func(v string) bool { return strings.HasPrefix(v, "HOME=") }
	isTemp := func(v string) bool { return strings.HasPrefix(v, "TMPDIR=") }
	isFolder := func(v string) bool {
		_, name, _ := strings.Cut(v, "=")
		info, err := os.Stat(name)
		return err == nil && info.IsDir()
	}
	var env []string
	for _, v := range c.Env {
		switch {
		case isHome(v) && !c.Home:
			v = "HOME=" + filepath.Join(c.Scratch, "home")
		case isTemp(v) && (!c.Original || o.Level != Namespaces && isFolder(v)):
			v = "TMPDIR=" + filepath.Join(c.Scratch, "tmp")
		}
		env = append(env, v)
	}
	if !c.Original && !slices.ContainsFunc(env, isHome) {
		env = append(env, "HOME="+filepath.Join(c.Scratch, "home"))
	}
	if (!c.Original || o.Level != Namespaces) && !slices.ContainsFunc(env, isTemp) {
		env = append(env, "TMPDIR="+filepath.Join(c.Scratch, "tmp"))
	}
	return env
}

// wait waits for the program, and for what it left to this process.
func wait(pid int) report {
	for {
		var status syscall.WaitStatus
		got, err := syscall.Wait4(-1, &status, 0, nil)
		if err == syscall.EINTR {
			continue
		}
		if err != nil {
			return report{Error: "wait: " + err.Error()}
		}
		if got != pid {
			continue
		}
		r := report{Ending: Exited, ExitCode: status.ExitStatus()}
		if status.Signaled() {
			r.Ending, r.ExitCode = Signaled, 128+int(status.Signal())
		}
		var usage syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_CHILDREN, &usage); err == nil {
			r.CPU = time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
		}
		return r
	}
}

// lookPath finds a program in the PATH of its own environment.
func lookPath(name string, env []string) (string, error) {
	if strings.Contains(name, "/") {
		return name, nil
	}
	for _, v := range env {
		for _, dir := range filepath.SplitList(strings.TrimPrefix(v, "PATH=")) {
			if strings.HasPrefix(v, "PATH=") && dir != "" {
				if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
					return path, nil
				}
			}
		}
	}
	return "", &exec.Error{Name: name, Err: exec.ErrNotFound}
}

// group is the process group of the program.
var group atomic.Int64

// killGroup kills the program's process group.
func killGroup() {
	if pid := group.Load(); pid != 0 {
		_ = syscall.Kill(-int(pid), syscall.SIGKILL)
	}
}

// watchPause is between two looks at the processes.
const watchPause = 20 * time.Millisecond

// watch kills everything when a limit is exceeded. The function that it returns looks again,
// before what is left of the program is killed, and names the limit, if one was.
func watch(o *order) func() Ending {
	var exceeded atomic.Value
	end := func(ending Ending) {
		exceeded.CompareAndSwap(nil, ending)
		killAll(o.Level)
	}
	before := len(processes())
	go func() {
		for {
			resident, count := usage(o.Level, before, o.Command.Limits.Processes)
			switch {
			case count > o.Command.Limits.Processes:
				end(OverProcesses)
			case resident > o.Command.Limits.Memory:
				end(OverMemory)
			}
			time.Sleep(watchPause)
		}
	}()
	written := diskUsage(o.Command.Scratch)
	go func() {
		for {
			start := time.Now() //nolint:forbidigo // programs run in real time
			if diskUsage(o.Command.Scratch)-written > o.Command.Limits.Disk {
				end(OverDisk)
			}
			time.Sleep(max(5*watchPause, 10*time.Since(start))) // a tenth of the time at most
		}
	}()
	return func() Ending {
		// A program that starts many at once may come to the kernel's limit, and end by that, between two looks.
		if _, count := usage(o.Level, before, o.Command.Limits.Processes); count > o.Command.Limits.Processes {
			exceeded.CompareAndSwap(nil, OverProcesses)
		}
		ending, _ := exceeded.Load().(Ending)
		return ending
	}
}

// diskUsage is what the files below a folder take, in bytes.
func diskUsage(dir string) int64 {
	var sum int64
	_ = filepath.WalkDir(dir, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // it went away meanwhile
		}
		if info, err := entry.Info(); err == nil {
			if stat, ok := info.Sys().(*syscall.Stat_t); ok {
				sum += stat.Blocks * 512
			}
		}
		return nil
	})
	return sum
}

package isolate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/shadowcourt/shadowcourt/internal/disk"
)

// executable is this program, even if its file was replaced meanwhile.
func executable() (string, error) { return "/proc/self/exe", nil }

// strongest finds out once what this system allows: whether a supervisor can confine itself in namespaces.
var strongest = sync.OnceValue(func() Level {
	dir, err := disk.TempDir("shadowcourt-isolate")
	if err != nil {
		return Reaper
	}
	defer func() { _ = dir.Remove() }()
	probe := Command{Dir: "/", Scratch: dir.Path, Limits: Limits{}.orDefaults()}
	if r, err := start(context.Background(), &order{Command: probe, Level: Namespaces, Probe: true}); err != nil || r.Ending != Exited {
		return Reaper
	}
	return Namespaces
})

// attributes give the supervisor its namespaces. Users keep their ids: who may read what does not change.
func attributes(level Level, network bool) *syscall.SysProcAttr {
	if level != Namespaces {
		return &syscall.SysProcAttr{Setsid: true} // without the user's terminal
	}
	a := &syscall.SysProcAttr{
		Setsid:     true,
		Cloneflags: syscall.CLONE_NEWUSER | syscall.CLONE_NEWPID | syscall.CLONE_NEWNS | syscall.CLONE_NEWIPC,
		// Until it starts the program. Overlays need the last one, for a folder that the kernel makes for itself alone.
		AmbientCaps: []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_NET_ADMIN, unix.CAP_SETPCAP, unix.CAP_KILL, unix.CAP_DAC_OVERRIDE},
	}
	if !network {
		a.Cloneflags |= syscall.CLONE_NEWNET
	}
	if os.Getuid() == 0 {
		all := []syscall.SysProcIDMap{{Size: 1 << 16}}
		a.UidMappings, a.GidMappings, a.GidMappingsEnableSetgroups = all, all, true
		a.AmbientCaps = nil // root has them anyway
		return a
	}
	a.UidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}}
	a.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getgid(), HostID: os.Getgid(), Size: 1}}
	return a
}

// threadsEach is how many threads each of the processes may have on average.
const threadsEach = 16

// confine takes from this process, and so from the program, what it shall not have.
func confine(o *order) error {
	if o.Command.Starve {
		starve()
	}
	// These stop what is too fast for watch. The kernel counts threads, root's not at all, and with namespaces only those in them.
	threads := uint64(threadsEach * o.Command.Limits.Processes)
	limits := map[int]uint64{unix.RLIMIT_CORE: 0, unix.RLIMIT_FSIZE: uint64(o.Command.Limits.Disk), unix.RLIMIT_NPROC: threads}
	if o.Level != Namespaces {
		limits[unix.RLIMIT_NPROC] += userThreads()
	}
	for resource, limit := range limits {
		if err := unix.Setrlimit(resource, &unix.Rlimit{Cur: limit, Max: limit}); err != nil {
			return fmt.Errorf("limit %d: %w", resource, err)
		}
	}
	if o.Level != Namespaces {
		if err := restrict(&o.Privacy); err != nil {
			return fmt.Errorf("landlock: %w", err)
		}
		if err := restrictCalls(); err != nil {
			return fmt.Errorf("sockets: %w", err)
		}
		return unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
	}
	if err := mounts(&o.Command, &o.Privacy); err != nil {
		return fmt.Errorf("mount: %w", err)
	}
	if !o.Command.Network {
		if err := loopback(); err != nil {
			return fmt.Errorf("loopback: %w", err)
		}
	}
	// Root's threads are limited by the ids that its namespace has, of which 300 are reserved. Before Linux 6.14 that would be the system's.
	if kernelSince(6, 14) {
		_ = os.WriteFile("/proc/sys/kernel/pid_max", strconv.AppendUint(nil, 300+threads, 10), 0o600)
	}
	if err := sealProc(); err != nil {
		return err
	}
	if err := restrictCalls(); err != nil {
		return fmt.Errorf("sockets: %w", err)
	}
	// Without the right to mount, what is read-only stays so, and without that to trace, the rights of this process are its own.
	for _, right := range []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_NET_ADMIN, unix.CAP_SYS_PTRACE} {
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, right, 0, 0, 0); err != nil {
			return fmt.Errorf("capabilities: %w", err)
		}
	}
	return unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
}

// mounts makes everything read-only but the scratch folder, which also stands for the folders of temporary files, and hides what the
// program has no business with.
func mounts(c *Command, p *privacy) error {
	scratch := c.Scratch
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return err
	}
	if err := unix.Mount(scratch, scratch, "", unix.MS_BIND, ""); err != nil {
		return err
	}
	if err := setReadOnly("/", true, true); err != nil {
		return err
	}
	if err := setReadOnly(scratch, false, false); err != nil {
		return err
	}
	seen := append([]string{scratch}, c.Overlays...)
	for i, dir := range c.Overlays {
		_ = overlay(dir, dir, filepath.Join(scratch, "overlay", strconv.Itoa(i)))
	}
	for i := range c.Views {
		if err := view(&c.Views[i], viewFolder(scratch, i)); err != nil {
			return err
		}
		seen = append(seen, c.Views[i].At)
	}
	for _, dir := range p.Shown {
		if info, err := os.Stat(dir); err == nil && info.IsDir() && !slices.Contains(tempFolders, dir) {
			seen = append(seen, dir)
		}
	}
	if err := coverTemp(scratch, seen); err != nil {
		return err
	}
	if err := hide(p); err != nil {
		return err
	}
	if err := unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return err
	}
	return mountDevices()
}

// tempFolders are the system's folders for temporary files.
var tempFolders = []string{"/tmp", "/var/tmp"}

// coverTemp puts the scratch folder's own one in the place of the folders for temporary files, in which those that are seen stay.
func coverTemp(scratch string, seen []string) error {
	folders := map[string]*os.File{}
	var places, links []string
	for _, dir := range seen {
		f, err := os.Open(dir)
		if err != nil {
			continue
		}
		defer f.Close()
		target, err := filepath.EvalSymlinks(dir)
		if err != nil {
			target = dir
		}
		folders[dir], folders[target] = f, f
		if target != dir {
			links = append(links, dir)
		}
		places = append(places, target)
	}
	slices.Sort(places) // a folder before those in it
	places = slices.Compact(places)
	for _, tmp := range tempFolders {
		if err := unix.Mount(fdPath(folders[scratch])+"/tmp", tmp, "", unix.MS_BIND, ""); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		// Links last: where what they lead to and what they stand in are seen, they are there.
		for i, dir := range slices.Concat(places, links) {
			if below, err := filepath.Rel(tmp, dir); err != nil || !filepath.IsLocal(below) {
				continue
			}
			if _, err := os.Stat(dir); err == nil && i >= len(places) {
				continue
			}
			if err := os.MkdirAll(dir, 0o700); err != nil {
				return err
			}
			if err := unix.Mount(fdPath(folders[dir]), dir, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
				return err
			}
		}
	}
	return nil
}

// overlay shows a folder at a place, and has what is written there land below another one. Some file systems can't.
func overlay(from, at, to string) error {
	upper, work := filepath.Join(to, "upper"), filepath.Join(to, "work")
	if err := errors.Join(os.MkdirAll(upper, 0o700), os.MkdirAll(work, 0o700)); err != nil {
		return err
	}
	return unix.Mount("overlay", at, "overlay", 0, "lowerdir="+escape(from)+",upperdir="+escape(upper)+",workdir="+escape(work)+",userxattr")
}

// view shows a folder in the place of another one, of which what is kept is seen again.
func view(v *View, to string) error {
	kept := make([]*os.File, len(v.Keep))
	for i, path := range v.Keep {
		if f, err := os.Open(filepath.Join(v.At, filepath.FromSlash(path))); err == nil {
			defer f.Close()
			kept[i] = f
		}
	}
	if v.Write || overlay(v.From, v.At, to) != nil {
		if err := unix.Mount(v.From, v.At, "", unix.MS_BIND, ""); err != nil {
			return err
		}
	}
	root, err := os.OpenRoot(v.At) // a link in the tree leads nowhere else
	if err != nil {
		return err
	}
	defer root.Close()
	for i, f := range kept {
		if f != nil {
			if err := keep(root, f, filepath.FromSlash(v.Keep[i]), filepath.Join(to, "keep", strconv.Itoa(i))); err != nil {
				return err
			}
		}
	}
	return nil
}

// keep shows an open file or folder at a path again. Folders seem to be writable, where the system can do that.
func keep(root *os.Root, f *os.File, path, to string) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if err := root.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil // the tree has something else there
	}
	if !info.IsDir() {
		file, err := root.OpenFile(path, os.O_RDONLY|os.O_CREATE, 0o644)
		if err != nil {
			return nil // the tree has something else there
		}
		defer file.Close()
		return unix.Mount(fdPath(f), fdPath(file), "", unix.MS_BIND, "")
	}
	if err := root.MkdirAll(path, 0o755); err != nil {
		return nil // the tree has something else there
	}
	folder, err := root.Open(path)
	if err != nil {
		return err
	}
	defer folder.Close()
	if err := unix.Mount(fdPath(f), fdPath(folder), "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return err
	}
	at := filepath.Join(root.Name(), path)
	_ = overlay(at, at, to)
	return nil
}

// escape protects what separates options and lower folders.
func escape(path string) string {
	return strings.NewReplacer(`\`, `\\`, ",", `\,`, ":", `\:`).Replace(path)
}

func fdPath(f *os.File) string { return "/proc/self/fd/" + strconv.Itoa(int(f.Fd())) }

// setReadOnly sets or clears it for a mount, or for all below it, too.
func setReadOnly(path string, readOnly, below bool) error {
	attr, flags := unix.MountAttr{Attr_clr: unix.MOUNT_ATTR_RDONLY}, uint(0)
	if readOnly {
		attr = unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}
	}
	if below {
		flags = unix.AT_RECURSIVE
	}
	return unix.MountSetattr(unix.AT_FDCWD, path, flags, &attr)
}

// loopback brings the loopback interface up, which a new network namespace has down.
func loopback() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	request, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	request.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, request)
}

// starve has this process, and so the program, run on one processor beside two busy loops.
func starve() {
	var one unix.CPUSet
	if err := unix.SchedGetaffinity(0, &one); err != nil {
		return
	}
	for cpu := range len(one) * 64 {
		if one.IsSet(cpu) {
			one.Zero()
			one.Set(cpu)
			break
		}
	}
	_ = unix.SchedSetaffinity(0, &one)
	runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + 2) // the busy loops take nothing from watch
	for range 2 {
		go func() {
			runtime.LockOSThread()
			_ = unix.SchedSetaffinity(0, &one)
			for spin := 0; ; spin++ { //nolint:revive // busy on purpose
			}
		}()
	}
}

// usage is what the program's processes take together: resident bytes, and how many there are. With more processes than most
// it does not look at any of them, because they would be faster. Before is how many the system had when the program began.
func usage(level Level, before, most int) (resident int64, processes int) {
	pids := below(level, before, most)
	if len(pids) > most {
		return 0, len(pids)
	}
	for _, pid := range pids {
		statm, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/statm")
		if err != nil {
			continue // ended meanwhile
		}
		if fields := strings.Fields(string(statm)); len(fields) > 1 {
			pages, _ := strconv.ParseInt(fields[1], 10, 64)
			resident += pages * int64(os.Getpagesize())
		}
	}
	return resident, len(pids)
}

// below are the processes below this one: with namespaces all but this one. Without them it is all of the system if that has got
// many more than most since it had before: there is no time to look at the parent of each.
func below(level Level, before, most int) []int {
	all := processes()
	if level == Namespaces || (len(all)-before)/4 > most {
		return all
	}
	parents := make(map[int]int, len(all))
	for _, pid := range all {
		if parent, ended := parentOf(pid); !ended {
			parents[pid] = parent
		}
	}
	var found []int
	self := os.Getpid()
	for pid := range parents {
		for p, steps := pid, 0; p > 1 && steps < len(all); p, steps = parents[p], steps+1 {
			if parents[p] == self {
				found = append(found, pid)
				break
			}
		}
	}
	return found
}

// processes are the ids of all processes but this one.
func processes() []int {
	proc, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer proc.Close()
	names, _ := proc.Readdirnames(-1)
	var pids []int
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil && pid != os.Getpid() {
			pids = append(pids, pid)
		}
	}
	return pids
}

// parentOf reads a process's parent, and whether it has ended.
func parentOf(pid int) (parent int, ended bool) {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0, true
	}
	// The name, in parentheses, may hold anything.
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) < 2 {
		return 0, true
	}
	parent, _ = strconv.Atoi(fields[1])
	return parent, fields[0] == "Z" || fields[0] == "X"
}

// killAll kills all of the program's processes, those that it starts meanwhile, too.
func killAll(level Level) {
	if level == Namespaces {
		_ = syscall.Kill(-1, syscall.SIGKILL)
		return
	}
	killGroup() // at once, whatever it starts meanwhile
	for range 200 {
		all := below(level, 0, math.MaxInt)
		if len(all) == 0 {
			return
		}
		for _, signal := range []syscall.Signal{syscall.SIGSTOP, syscall.SIGKILL} { // who is stopped starts nothing
			for _, pid := range all {
				_ = syscall.Kill(pid, signal)
			}
		}
		time.Sleep(time.Millisecond)
	}
}

// userThreads counts the threads that the user runs already, which the limit includes.
func userThreads() uint64 {
	entries, _ := os.ReadDir("/proc")
	var sum uint64
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil {
			continue
		}
		if stat, ok := info.Sys().(*syscall.Stat_t); ok && stat.Uid == uint32(os.Getuid()) {
			tasks, _ := os.ReadDir("/proc/" + entry.Name() + "/task")
			sum += uint64(len(tasks))
		}
	}
	return sum
}

package isolate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"

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
	switch {
	case level == Reaper:
		return &syscall.SysProcAttr{Setsid: true} // without the user's terminal
	case level == Native && mayMount():
		return &syscall.SysProcAttr{Setsid: true, Cloneflags: syscall.CLONE_NEWNS}
	}
	a := &syscall.SysProcAttr{
		Setsid:     true,
		Cloneflags: syscall.CLONE_NEWUSER | syscall.CLONE_NEWPID | syscall.CLONE_NEWNS | syscall.CLONE_NEWIPC,
		// Until it starts the program. Overlays need the last one, for a folder that the kernel makes for itself alone.
		AmbientCaps: []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_NET_ADMIN, unix.CAP_NET_RAW, unix.CAP_SETPCAP, unix.CAP_KILL, unix.CAP_DAC_OVERRIDE},
	}
	switch {
	case level == Native:
		a.Cloneflags = syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS
	case !network:
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

// mayMount says whether this process may mount by itself: a namespace of users would take rights from it.
func mayMount() bool {
	var rights [2]unix.CapUserData
	err := unix.Capget(&unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, &rights[0])
	return err == nil && rights[0].Effective&(1<<unix.CAP_SYS_ADMIN) != 0
}

// threadsEach is how many threads each of the processes may have on average.
const threadsEach = 16

// confine takes from this process, and so from the program, what it shall not have.
func confine(o *order) error {
	if o.Command.Starve {
		starve()
	}
	if o.Command.Native {
		var err error
		if o.Level == Native {
			err = errors.Join(unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""), o.Command.showTrees())
		}
		return errors.Join(err, unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0), unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0))
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
		watchRefusals()
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

// showTrees mounts overlays and views.
func (c *Command) showTrees() error {
	for i, dir := range c.Overlays {
		_ = overlay(dir, dir, filepath.Join(c.Scratch, "overlay", strconv.Itoa(i)))
	}
	for i := range c.Views {
		if err := view(&c.Views[i], viewFolder(c.Scratch, i)); err != nil {
			return err
		}
	}
	return nil
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
	if err := c.showTrees(); err != nil {
		return err
	}
	for i := range c.Views {
		seen = append(seen, c.Views[i].At)
	}
	for _, dir := range p.Shown {
		if info, err := os.Stat(dir); err == nil && info.IsDir() && !slices.Contains(tempFolders, dir) {
			seen = append(seen, dir)
		}
	}
	if err := coverTemp(scratch, seen, p); err != nil {
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
func coverTemp(scratch string, seen []string, p *privacy) error {
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
	for _, tmp := range append(slices.Clone(tempFolders), p.Temp) { // an empty name is nothing that exists
		from := fdPath(folders[scratch]) + "/tmp"
		if tmp == p.Temp && p.Sealed {
			from = filepath.Join(filepath.Dir(from), "sealed")
			if err := os.Mkdir(filepath.Join(scratch, "sealed"), 0o500); err != nil && !errors.Is(err, os.ErrExist) {
				return err
			}
		}
		if err := unix.Mount(from, tmp, "", unix.MS_BIND, ""); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
		// Links last: where what they lead to and what they stand in are seen, they are there.
		for i, dir := range slices.Concat(places, links) {
			if below, err := filepath.Rel(tmp, dir); err != nil || !filepath.IsLocal(below) || below == "." && tmp == p.Temp {
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
	info, err := os.Stat(from)
	if err = errors.Join(err, os.MkdirAll(upper, 0o700), os.MkdirAll(work, 0o700)); err != nil {
		return err
	}
	_ = os.Chmod(upper, info.Mode().Perm()|0o700) // what is seen at the place has the permissions of this one
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

// unreached says whether something in this process's network namespace tried to connect to what is not there: by the kernel's counters of
// failed connections to ports that are not its own, of packets without a route, and of datagrams to ports without a listener.
func unreached() bool {
	data, err := os.ReadFile("/proc/self/net/snmp")
	if err != nil {
		return false
	}
	var heads []string
	for line := range strings.Lines(string(data)) {
		fields := strings.Fields(line)
		if len(heads) == 0 || len(fields) != len(heads) || fields[0] != heads[0] {
			heads = fields
			continue
		}
		for i, name := range heads {
			switch name {
			case "OutNoRoutes", "NoPorts":
				if fields[i] != "0" {
					return true
				}
			case "AttemptFails":
				if fields[i] != "0" && refused() {
					return true
				}
			}
		}
		heads = nil
	}
	return false
}

// The ports that the kernel gives to programs without a network, where they ask for any. Outside, it gives others, and few services have one of these: where
// nobody listens there, the program asked for what it had itself.
const firstPort, lastPort = 61700, 64700

// refusals are sockets that get what refuses a connection to other ports; nil where there are none.
var refusals []int

// watchRefusals begins to watch connections to which nobody listens. Kernels and users that can't do without: then each one counts.
func watchRefusals() {
	if os.WriteFile("/proc/sys/net/ipv4/ip_local_port_range", fmt.Appendf(nil, "%d %d", firstPort, lastPort), 0o600) != nil {
		return
	}
	for family, header := range map[int]unix.SockFilter{ // where the header of TCP begins: raw sockets of IPv6 get no other
		unix.AF_INET: {Code: unix.BPF_LDX | unix.BPF_B | unix.BPF_MSH}, unix.AF_INET6: {Code: unix.BPF_LDX | unix.BPF_W | unix.BPF_IMM},
	} {
		const reset = 4
		program := []unix.SockFilter{
			header,
			{Code: unix.BPF_LD | unix.BPF_B | unix.BPF_IND, K: 13},
			{Code: unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K, K: reset, Jf: 3},
			{Code: unix.BPF_LD | unix.BPF_H | unix.BPF_IND},
			{Code: unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K, K: firstPort, Jf: 2},
			{Code: unix.BPF_JMP | unix.BPF_JGT | unix.BPF_K, K: lastPort, Jt: 1},
			{Code: unix.BPF_RET | unix.BPF_K},
			{Code: unix.BPF_RET | unix.BPF_K, K: 1},
		}
		fd, err := unix.Socket(family, unix.SOCK_RAW|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, unix.IPPROTO_TCP)
		if err == nil {
			err = unix.SetsockoptSockFprog(fd, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, &unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]})
		}
		if err != nil && (family != unix.AF_INET6 || !errors.Is(err, unix.EAFNOSUPPORT)) {
			refusals = nil
			return
		}
		refusals = append(refusals, fd)
	}
}

// refused says whether a port that is not the program's own refused a connection, as far as that is known.
func refused() bool {
	for _, fd := range refusals {
		if _, _, err := unix.Recvfrom(fd, make([]byte, 1), 0); err == nil {
			return true
		}
	}
	return refusals == nil
}

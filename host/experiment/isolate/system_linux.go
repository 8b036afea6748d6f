package isolate

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// devices are the files of /dev that programs have: they reach no hardware.
var devices = []string{"null", "zero", "full", "random", "urandom", "tty"}

// deviceLinks are the names in /dev that lead elsewhere.
var deviceLinks = map[string]string{
	"fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2", "ptmx": "pts/ptmx",
}

// mountDevices puts a folder with these devices, shared memory and pseudo-terminals of its own in the place of /dev: root may use all
// devices that have names, such as disks.
func mountDevices() error {
	files := map[string]*os.File{}
	for _, name := range devices {
		f, err := os.OpenFile("/dev/"+name, unix.O_PATH|unix.O_CLOEXEC, 0)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		defer f.Close()
		files[name] = f
	}
	if err := unix.Mount("dev", "/dev", "tmpfs", unix.MS_NOSUID|unix.MS_NOEXEC, "size=1m,mode=0755"); err != nil {
		return err
	}
	for name, f := range files {
		path := "/dev/" + name
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			return err
		}
		if err := unix.Mount(fdPath(f), path, "", unix.MS_BIND, ""); err != nil {
			return err
		}
	}
	for name, target := range deviceLinks {
		if err := os.Symlink(target, "/dev/"+name); err != nil {
			return err
		}
	}
	if err := errors.Join(os.Mkdir("/dev/shm", 0o755), os.Mkdir("/dev/pts", 0o755)); err != nil {
		return err
	}
	if err := unix.Mount("shm", "/dev/shm", "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "size=64m"); err != nil {
		return err
	}
	// Without pseudo-terminals few tests fail.
	_ = unix.Mount("pts", "/dev/pts", "devpts", unix.MS_NOSUID|unix.MS_NOEXEC, "newinstance,ptmxmode=0666,mode=0620")
	return setReadOnly("/dev", true, false)
}

// sealProc makes read-only what belongs to the system in /proc, not to a process: root could change settings of the kernel, of which some name
// programs that the kernel starts outside of all namespaces.
func sealProc() error {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return err
	}
	for _, e := range entries {
		if _, notProcess := strconv.Atoi(e.Name()); notProcess == nil || e.Type()&fs.ModeSymlink != 0 {
			continue
		}
		if info, err := e.Info(); err != nil || !e.IsDir() && info.Mode().Perm()&0o222 == 0 {
			continue // each mount takes time, and the kernel takes nothing that is written there
		}
		path := filepath.Join("/proc", e.Name())
		if err := unix.Mount(path, path, "", unix.MS_BIND, ""); err != nil {
			return &fs.PathError{Op: "mount", Path: path, Err: err}
		}
		if err := setReadOnly(path, true, false); err != nil {
			return &fs.PathError{Op: "seal", Path: path, Err: err}
		}
	}
	return nil
}

// kernelSince says whether the kernel is of this version or a later one.
func kernelSince(major, minor int) bool {
	var name unix.Utsname
	if err := unix.Uname(&name); err != nil {
		return false
	}
	var has [2]int
	if _, err := fmt.Sscanf(unix.ByteSliceToString(name.Release[:]), "%d.%d", &has[0], &has[1]); err != nil {
		return false
	}
	return has[0] > major || has[0] == major && has[1] >= minor
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

// ownAddress is what programs find for an address of their machine. It is one for examples that hardly any test takes for one out of reach.
var ownAddress = []byte{203, 0, 113, 197}

// loopback starts the loopback interface, which a new network namespace has down, and gives it a second address, to which nothing is routed.
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
	if err := unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, request); err != nil {
		return err
	}
	second, err := unix.NewIfreq("lo:1")
	if err != nil {
		return err
	}
	_ = errors.Join(second.SetInet4Addr(ownAddress), unix.IoctlIfreq(fd, unix.SIOCSIFADDR, second)) // few tests need it
	_ = errors.Join(second.SetInet4Addr([]byte{255, 255, 255, 255}), unix.IoctlIfreq(fd, unix.SIOCSIFNETMASK, second))
	return nil
}

// families are the types of sockets that programs can make. Those that are missing here reach what no network namespace contains, such as
// the host of a virtual machine.
var families = []uint32{unix.AF_UNIX, unix.AF_INET, unix.AF_INET6, unix.AF_NETLINK}

// abi is a way to call the kernel, with the numbers of the calls that make sockets or use keys.
type abi struct {
	arch, socket, socketpair uint32
	// socketcall stands for both with arguments that no filter sees; 0 where there is none.
	socketcall uint32
	keys       [3]uint32 // calls that reach the user's keyrings, which no namespace separates
}

// abis are those of the processor's own programs, and of the 32-bit programs that it runs, too.
var abis = map[string][]abi{
	"amd64": {{unix.AUDIT_ARCH_X86_64, 41, 53, 0, [3]uint32{248, 249, 250}}, {unix.AUDIT_ARCH_I386, 359, 360, 102, [3]uint32{286, 287, 288}}},
	"arm64": {{unix.AUDIT_ARCH_AARCH64, 198, 199, 0, [3]uint32{217, 218, 219}}, {unix.AUDIT_ARCH_ARM, 281, 288, 0, [3]uint32{309, 310, 311}}},
}

const (
	ioUringSetup = 425        // of every architecture
	x32          = 0x40000000 // set in the numbers of calls of x32 programs

	// Offsets in struct seccomp_data.
	dataNumber, dataArch, dataFamily = 0, 4, 16
)

// filter builds the program that the kernel runs for each call. Numbers of all architectures but amd64 are below x32.
func filter(of []abi) []unix.SockFilter {
	statement := func(code uint16, k uint32) unix.SockFilter { return unix.SockFilter{Code: code, K: k} }
	load := func(offset uint32) unix.SockFilter { return statement(unix.BPF_LD|unix.BPF_W|unix.BPF_ABS, offset) }
	// unless skips as many statements if what was loaded is not k.
	unless := func(k uint32, skip uint8) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: k, Jf: skip}
	}
	number := []unix.SockFilter{load(dataNumber), statement(unix.BPF_ALU|unix.BPF_AND|unix.BPF_K, ^uint32(x32))}
	fails := func(errno unix.Errno) unix.SockFilter {
		return statement(unix.BPF_RET|unix.BPF_K, unix.SECCOMP_RET_ERRNO|uint32(errno))
	}
	passes := statement(unix.BPF_RET|unix.BPF_K, unix.SECCOMP_RET_ALLOW)

	family := []unix.SockFilter{load(dataFamily)}
	for _, f := range families {
		family = append(family, unless(f, 1), passes)
	}
	family = append(family, fails(unix.EAFNOSUPPORT))

	var program []unix.SockFilter
	for _, a := range of {
		rules := append([]unix.SockFilter{}, number...)
		for _, n := range []uint32{a.socket, a.socketpair} {
			rules = append(append(rules, unless(n, uint8(len(family)))), family...)
		}
		// A ring makes sockets without these calls.
		rules = append(rules, unless(ioUringSetup, 1), fails(unix.ENOSYS))
		for _, n := range a.keys {
			rules = append(rules, unless(n, 1), fails(unix.ENOSYS))
		}
		if a.socketcall != 0 {
			rules = append(rules, unless(a.socketcall, 1), fails(unix.ENOSYS))
		}
		program = append(program, load(dataArch), unless(a.arch, uint8(len(rules)+1)))
		program = append(append(program, rules...), passes)
	}
	return append(program, passes)
}

// restrictCalls has this thread and what it starts make no sockets but those of families, and use no keys of the kernel. Kernels without filters, processes that may
// not set any and other processors do without.
func restrictCalls() error {
	of := abis[runtime.GOARCH]
	if of == nil {
		return nil
	}
	program := filter(of)
	prog := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	_, _, errno := unix.Syscall(unix.SYS_PRCTL, unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&prog))) //nolint:gosec // the kernel's interface
	if errno != 0 && !errors.Is(errno, unix.EINVAL) && !errors.Is(errno, unix.EACCES) {
		return errno
	}
	return nil
}

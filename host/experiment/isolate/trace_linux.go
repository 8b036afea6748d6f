package isolate

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// ask is a call that asks for a file: where its arguments have the descriptor of a folder, the path, and the flags of opening; none where they don't.
type ask struct {
	folder, path, flags int
	does                verb
}

// verb is what a call wants of the file: to look at it, to open or run it, to make a folder, to move or link another one to it, or to give it a size. What
// claims a right names no file.
type verb int8

const (
	none = -1

	looking verb = iota
	opening
	making
	moving
	sizing
	claiming
)

var (
	looks, looksIn, opens, opensIn = ask{none, 0, none, looking}, ask{0, 1, none, looking}, ask{none, 0, 1, opening}, ask{0, 1, 2, opening}
	runs, runsIn, connects         = ask{none, 0, none, opening}, ask{0, 1, none, opening}, ask{none, 1, none, opening}
	sizes, allocates               = ask{none, none, 1, sizing}, ask{none, none, 3, sizing}
	claims, nodes, nodesIn         = ask{none, none, none, claiming}, ask{none, none, 1, claiming}, ask{none, none, 2, claiming}
	makes, makesIn, moves, movesIn = ask{none, 0, none, making}, ask{0, 1, none, making}, ask{none, 1, none, moving}, ask{2, 3, none, moving}
)

// asks are the calls of each processor that is traced, by their numbers.
var asks = map[string]map[uint32]ask{
	"amd64": { // open, openat, openat2, stat, lstat, newfstatat, statx, access, faccessat, faccessat2, readlink, readlinkat, execve, execveat, connect, chdir, mkdir, mkdirat,
		// rename, link, renameat, linkat, renameat2, truncate, ftruncate, fallocate, mknod, mknodat, mlockall, mount, sethostname, setdomainname
		2: opens, 257: opensIn, 437: runsIn, 4: looks, 6: looks, 262: looksIn, 332: looksIn, 21: looks, 269: looksIn, 439: looksIn, 89: looks, 267: looksIn,
		59: runs, 322: runsIn, 42: connects, 80: looks, 83: makes, 258: makesIn,
		82: moves, 86: moves, 264: movesIn, 265: movesIn, 316: movesIn, 76: sizes, 77: sizes, 285: allocates, 133: nodes, 259: nodesIn, 151: claims, 165: claims, 170: claims, 171: claims,
	},
	"arm64": {56: opensIn, 437: runsIn, 79: looksIn, 291: looksIn, 48: looksIn, 439: looksIn, 78: looksIn, 221: runs, 281: runsIn, 203: connects, 49: looks, 34: makesIn, 38: movesIn, 37: movesIn, 276: movesIn, 45: sizes, 46: sizes, 47: allocates, 33: nodesIn, 230: claims, 40: claims, 161: claims, 162: claims},
}

// rights are what calls claim that the laboratory does not have.
var rights = map[string]map[uint32]string{
	"amd64": {133: "mknod", 259: "mknod", 151: "mlockall", 165: "mount", 170: "sethostname", 171: "setdomainname"},
	"arm64": {33: "mknod", 230: "mlockall", 40: "mount", 161: "sethostname", 162: "setdomainname"},
}

// notice is struct seccomp_notif, and answer struct seccomp_notif_resp.
type (
	notice struct {
		id                       uint64
		pid, flags, number, arch uint32
		at                       uint64
		args                     [6]uint64
	}
	answer struct {
		id           uint64
		value        int64
		fault, flags uint32
	}
)

// tracer notes what a program asks for.
type tracer struct {
	views []View
	most  uint64 // bytes of a file
	mu    sync.Mutex
	told  int // bytes
	asked map[string]Look
}

// trace has the kernel tell what this thread and what it starts from now on ask for. It only looks on: each call continues as it would. Call started when
// the program has, and asked when it has ended; that is nil where nothing can be traced, such as in a filter that tells somebody else.
func trace(o *order) (started func(), asked func() map[string]Look) {
	started, asked = func() {}, func() map[string]Look { return nil }
	if !o.Command.Trace || o.Level != Namespaces || asks[runtime.GOARCH] == nil {
		return started, asked
	}
	t := &tracer{views: o.Command.Views, most: uint64(o.Command.Limits.Disk), asked: map[string]Look{}}
	// Until the program has started, this thread waits for it in a call that the scheduler knows nothing of: the thread that answers must neither need
	// its processor nor wait for a collection of garbage. It is there before the filter, so that its own calls are not told.
	runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + 1)
	collect := debug.SetGCPercent(-1)
	listener := make(chan int)
	go func() {
		runtime.LockOSThread()
		listener <- 0
		if fd := <-listener; fd > 0 {
			t.listen(fd)
		}
	}()
	<-listener
	fd := tell(asks[runtime.GOARCH], abis[runtime.GOARCH][0].arch)
	if listener <- fd; fd > 0 {
		asked = t.end
	}
	return func() { debug.SetGCPercent(collect) }, asked
}

// tell has the kernel tell of calls, in the descriptor that it gives; 0 where it can't.
func tell(calls map[uint32]ask, arch uint32) int {
	statement := func(code uint16, k uint32, yes, no int) unix.SockFilter {
		return unix.SockFilter{Code: code, K: k, Jt: uint8(yes), Jf: uint8(no)}
	}
	const load, equal, end = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, unix.BPF_RET | unix.BPF_K
	program := []unix.SockFilter{statement(load, dataArch, 0, 0), statement(equal, arch, 0, len(calls)+1), statement(load, dataNumber, 0, 0)}
	left := len(calls)
	for number := range calls {
		program = append(program, statement(equal, number, left, 0))
		left--
	}
	program = append(program, statement(end, unix.SECCOMP_RET_ALLOW, 0, 0), statement(end, unix.SECCOMP_RET_USER_NOTIF, 0, 0))
	prog := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	// Without the second flag, which older kernels lack, signals have calls begin again.
	for _, flags := range []uintptr{unix.SECCOMP_FILTER_FLAG_NEW_LISTENER | unix.SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, unix.SECCOMP_FILTER_FLAG_NEW_LISTENER} {
		fd, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags, uintptr(unsafe.Pointer(&prog))) //nolint:gosec // the kernel's interface
		if errno == 0 {
			return int(fd)
		}
	}
	return 0
}

// listen answers the kernel as long as there is something to tell.
func (t *tracer) listen(fd int) {
	_ = unix.IoctlSetInt(fd, unix.SECCOMP_IOCTL_NOTIF_SET_FLAGS, unix.SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP) // faster, where the kernel can
	for {
		n := &notice{}
		_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.SECCOMP_IOCTL_NOTIF_RECV, uintptr(unsafe.Pointer(n))) //nolint:gosec // the kernel's interface
		switch {
		case errors.Is(errno, unix.EINTR) || errors.Is(errno, unix.ENOENT): // its caller has ended
			continue
		case errno != 0:
			_ = unix.Close(fd) // nobody waits for an answer in vain
			return
		case int(n.pid) != os.Getpid():
			t.note(n)
		}
		a := &answer{id: n.id, flags: unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE}
		_, _, _ = unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.SECCOMP_IOCTL_NOTIF_SEND, uintptr(unsafe.Pointer(a))) //nolint:gosec // the kernel's interface
	}
}

// name is the absolute path that a call asks for; empty for none.
func (n *notice) name(call *ask) string {
	text, most := read(n.pid, n.args[call.path]), unix.PathMax
	if *call == connects {
		const family = 2 // bytes
		if len(text) < family || text[0] != unix.AF_UNIX && text[1] != unix.AF_UNIX {
			return ""
		}
		text, most = text[family:], int(min(max(n.args[2], family), unix.SizeofSockaddrUnix))-family
	}
	text, _, _ = bytes.Cut(text[:min(len(text), most)], []byte{0})
	name := string(text)
	if name == "" {
		return ""
	}
	if !filepath.IsAbs(name) {
		at := "/proc/" + strconv.Itoa(int(n.pid)) + "/cwd"
		if call.folder != none && int32(n.args[call.folder]) != unix.AT_FDCWD {
			at = filepath.Join(filepath.Dir(at), "fd", strconv.Itoa(int(int32(n.args[call.folder]))))
		}
		folder, _ := os.Readlink(at)
		name = filepath.Join(folder, name)
	}
	return filepath.Clean(name)
}

// oneMount says whether a file can be moved from one path to another one.
func oneMount(from, to string) bool {
	var a, b unix.Statx_t
	const what = unix.STATX_MNT_ID
	return unix.Statx(unix.AT_FDCWD, filepath.Dir(from), 0, what, &a) != nil || unix.Statx(unix.AT_FDCWD, filepath.Dir(to), 0, what, &b) != nil || a.Mnt_id == b.Mnt_id
}

// note notes a call, unless it asks for a file of the system, which all programs see.
func (t *tracer) note(n *notice) {
	call := asks[runtime.GOARCH][n.number]
	switch kind := n.args[max(call.flags, 0)] & unix.S_IFMT; {
	case call.does == sizing && n.args[call.flags] > t.most:
		t.add(strconv.FormatUint(t.most, 10), Sized)
	case call.does == claiming && (call.flags == none || kind == unix.S_IFCHR || kind == unix.S_IFBLK):
		t.add(rights[runtime.GOARCH][n.number], Claimed)
	}
	if call.path == none {
		return
	}
	name, from := n.name(&call), ""
	if call.does == moving {
		from = n.name(&ask{max(call.folder-2, none), call.path / 2, none, looking}) // the path before
	}
	top, _, _ := strings.Cut(strings.TrimPrefix(name, "/"), "/")
	ofView := slices.ContainsFunc(t.views, func(v View) bool { return within(v.At, name) })
	var flags uint64
	if call.flags != none {
		flags = n.args[call.flags]
	}
	makesFolder := call.does == making && unix.Access(name, unix.F_OK) != nil // mkdir -p asks for those that there are, too
	if filepath.IsAbs(name) && (makesFolder || call.does == moving || flags&(unix.O_CREAT|unix.O_WRONLY|unix.O_RDWR) != 0) && errors.Is(writable(name), unix.EROFS) {
		t.add(name, Sealed)
		return
	}
	if !filepath.IsAbs(name) || slices.Contains(systemFolders, top) && top != "tmp" && top != "dev" && !ofView {
		return
	}
	var stat unix.Stat_t
	there, makes := unix.Stat(name, &stat) == nil, call.does >= making || flags&unix.O_CREAT != 0
	keeps := flags&(unix.O_CREAT|unix.O_EXCL|unix.O_TRUNC) == unix.O_CREAT && flags&unix.O_ACCMODE != unix.O_WRONLY
	if folder := filepath.Dir(name); !there && makes && unix.Stat(folder, &stat) != nil { // what it makes needs that
		name, makes, keeps, from = folder, false, false, ""
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	look, known := t.asked[name]
	const each = 8 // of JSON
	switch {
	case !known && t.told+len(name)+each > mostAsked/2:
		return
	case from != "" && !oneMount(from, name):
		look = Moved
	case !there && keeps && (!known || look == Missing):
		look = Opened
	case look == Missing && known && (there || makes), look == Moved && makes: // what can't be moved is copied
		look = Made
	case known || !there && makes || there && call.does != opening:
		return
	case there && stat.Mode&unix.S_IFMT == unix.S_IFDIR:
		look = Listed
	case there && stat.Mode&unix.S_IFMT != unix.S_IFREG:
		return
	case there:
		look = Read
	}
	if t.asked[name] = look; !known {
		t.told += len(name) + each
	}
}

// add notes what is no file that is looked for.
func (t *tracer) add(name string, look Look) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, known := t.asked[name]; known || t.told+len(name) <= mostAsked/2 {
		t.asked[name] = look
		t.told += len(name)
	}
}

// end gives what was asked for.
func (t *tracer) end() map[string]Look {
	t.mu.Lock()
	defer t.mu.Unlock()
	for name, look := range t.asked {
		if _, err := os.Stat(name); err == nil && look == Missing {
			t.asked[name] = Made
		}
	}
	return t.asked
}

// read reads a path from the memory of a process, and what is behind it, in calls that stay within a page.
func read(pid uint32, at uint64) []byte {
	buffer := make([]byte, unix.PathMax)
	page := uint64(os.Getpagesize())
	for done := uint64(0); ; {
		size := min(unix.PathMax-done, page-(at+done)%page)
		if size == 0 {
			return buffer
		}
		local := unix.Iovec{Base: &buffer[done]}
		local.SetLen(int(size))
		n, err := unix.ProcessVMReadv(int(pid), []unix.Iovec{local}, []unix.RemoteIovec{{Base: uintptr(at + done), Len: int(size)}}, 0)
		if done += uint64(max(n, 0)); err != nil || uint64(n) < size || done > 2 && bytes.IndexByte(buffer[2:done], 0) >= 0 { // the first are those of an address
			return buffer[:done]
		}
	}
}

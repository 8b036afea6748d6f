package isolate

import (
	"errors"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

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

package launch

import (
	"syscall"
	"unsafe"
)

// interfaceUp sets a network interface's flags to up and running.
func interfaceUp(fd int, name string) error {
	var request struct {
		name  [syscall.IFNAMSIZ]byte
		flags uint16
		_     [22]byte
	}
	copy(request.name[:], name)
	request.flags = syscall.IFF_UP | syscall.IFF_RUNNING
	_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, uintptr(fd), syscall.SIOCSIFFLAGS,
		uintptr(unsafe.Pointer(&request))) //nolint:gosec // the kernel's ifreq
	if errno != 0 {
		return errno
	}
	return nil
}

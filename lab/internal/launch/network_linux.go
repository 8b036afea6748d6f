package launch

import (
	"net"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// breakNetwork goes on in a network of its own, of which not even the loopback is up, or no port is free, or that knows
// IPv6 only by name.
func breakNetwork(kind string) error {
	if err := syscall.Unshare(syscall.CLONE_NEWNET); err != nil || kind == "no network" {
		return err
	}
	if kind == "loopback down for IPv6" {
		if err := os.WriteFile("/proc/sys/net/ipv6/conf/all/disable_ipv6", []byte("1"), 0o600); err != nil {
			return err
		}
	}
	// "ip link set lo up", without the ip command.
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_DGRAM, 0)
	if err != nil {
		return err
	}
	defer syscall.Close(fd)
	request, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	request.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	if err := unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, request); err != nil || kind != "port taken" {
		return err
	}
	return takePorts()
}

// takePorts leaves two ports to bind to, and takes them.
func takePorts() error {
	if err := os.WriteFile("/proc/sys/net/ipv4/ip_local_port_range", []byte("40000 40001"), 0o600); err != nil {
		return err
	}
	for _, port := range []int{40000, 40001} {
		l, err := net.Listen("tcp", ":"+strconv.Itoa(port)) //nolint:noctx // ends with the process
		if err != nil {
			return err
		}
		file, err := l.(*net.TCPListener).File() //nolint:forcetypeassert // net.Listen("tcp") gives one
		if err != nil {
			return err
		}
		// Keep it over exec.
		if _, err := syscall.Dup(int(file.Fd())); err != nil {
			return err
		}
	}
	return nil
}

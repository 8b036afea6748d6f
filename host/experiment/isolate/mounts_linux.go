package isolate

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

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

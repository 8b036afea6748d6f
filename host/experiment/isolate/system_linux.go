package isolate

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

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
